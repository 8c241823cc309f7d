import type { Problem } from '../../problem/problem.ts';

/** What a request gets. A problem is one as it is: a 4xx or 5xx without a body gets its body in `dress`. */
export interface Answer extends Problem {
  /** Names in lower case. */
  readonly headers?: Headers;
  /** In pieces, at least one, when it is long; other answers may have some of them too. */
  readonly body?: string | Buffer | readonly Buffer[];
}

export type Headers = Readonly<Record<string, string>>;

/** The media type of every success that has a body (contract D4). */
export const JSON_UTF_8 = 'application/json; charset=utf-8';

/** A success with a JSON body. `Accept` never changes it (contract N5). */
export function json(value: object): Answer {
  return { status: 200, headers: { 'content-type': JSON_UTF_8 }, body: JSON.stringify(value) };
}
