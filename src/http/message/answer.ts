import type { Problem } from '../../problem/problem.ts';

/** What a request gets. A problem is one as it is: a 4xx or 5xx without a body gets its body in `toProblem`. */
export interface Answer extends Problem {
  /** Names in lower case. */
  readonly headers?: Headers;
  readonly body?: Body;
}

/**
 * What is sent behind a head: a text, which leaves with the head in one write and is the cheapest when it is short;
 * bytes; or pieces, at least one, which other answers may have too.
 */
export type Body = string | Buffer | readonly Uint8Array[];

/** The bytes of a body; nothing but a text is copied. */
export function piecesOf(body: Body): readonly Uint8Array[] {
  if (typeof body === 'string') return [Buffer.from(body)];
  return Buffer.isBuffer(body) ? [body] : body;
}

export type Headers = Readonly<Record<string, string>>;

/** The media type of every success that has a body (contract D4). */
export const JSON_UTF_8 = 'application/json; charset=utf-8';

/** A success with a JSON body. `Accept` never changes it (contract N5). */
export function json(value: object): Answer {
  return { status: 200, headers: { 'content-type': JSON_UTF_8 }, body: JSON.stringify(value) };
}
