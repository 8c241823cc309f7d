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

/** A coding with its weight, RFC 9110 §12.5.3. */
const CODING = /^([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * Whether `Accept-Encoding` admits gzip (RFC 9110 §12.5.3): named, or covered by `*`, with a weight above 0.
 * What cannot be parsed is passed over; a missing header asks for nothing.
 */
export function admitsGzip(acceptEncoding: string | string[] | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  const weights = new Map<string, number>();
  for (const member of String(acceptEncoding).split(',')) {
    const [, coding, weight = '1'] = CODING.exec(member.trim()) ?? [];
    if (coding !== undefined) weights.set(coding.toLowerCase(), Number(weight));
  }
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}
