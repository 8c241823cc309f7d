import { titleOf, typeOf } from './catalogue.ts';

/** What an endpoint says of an error. Members left out are filled from the status (RFC 9457 §3.1). */
export interface Problem {
  /** 400 to 599. */
  readonly status: number;
  /** Identical for the same kind of error; default: the catalogue's. */
  readonly title?: string;
  /** Specific to this occurrence. Never the message of an exception. */
  readonly detail?: string;
  /** Validation failures: member name → sentences for people (contract B12). */
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

/** The media type, exactly and without charset (contract P1). */
export const PROBLEM_JSON = 'application/problem+json';

/** A Problem Details body, members in the order of contract P2. */
export function problemBody(problem: Problem, traceId: string): string {
  const { status, title = titleOf(status), detail, errors } = problem;
  return JSON.stringify({ type: typeOf(status), title, status, detail, errors, traceId });
}
