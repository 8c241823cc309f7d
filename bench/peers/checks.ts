import { randomUUID } from 'node:crypto';

/** The rules of the bodies, for the peers whose framework brings no validation of its own. */
export interface TodoBody {
  title: string;
  done?: boolean;
  categoryId: number;
}

export function isTodoBody(body: unknown): body is TodoBody {
  if (typeof body !== 'object' || body === null) return false;
  const { title, done, categoryId } = body as Record<string, unknown>;
  return (
    typeof title === 'string' &&
    title.length >= 1 &&
    title.length <= 100 &&
    (done === undefined || typeof done === 'boolean') &&
    Number.isInteger(categoryId) &&
    Number(categoryId) >= 1 &&
    Number(categoryId) <= 2_147_483_647
  );
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
};

/** A Problem Details body (RFC 9457) with a trace id of its own. */
export function problem(status: number) {
  return { type: 'about:blank', title: TITLES[status] ?? 'Error', status, traceId: randomUUID() };
}

export const PROBLEM_JSON = 'application/problem+json';

export function mayWrite(claims: unknown): boolean {
  return typeof claims === 'object' && claims !== null && 'role' in claims && claims.role === 'editor';
}
