import { type Body, buffersOf, lengthOf } from '../lib/answer-body.ts';
import { STATUS_CODES } from '../lib/node-http.ts';
import type { Call } from './call.ts';

/** The answer to a request. An error without a body gets its problem from `toProblem`, which also fills what is missing. */
export interface Answer {
  readonly status: number;
  /** Names in lower case; `content-length` only without a body. */
  readonly headers?: Headers;
  readonly body?: Body;
  /** Of an error: identical for the same kind; by default the phrase of the status (RFC 9457 §3.1). */
  readonly title?: string;
  /** Of an error: specific to this occurrence. Never the message of an exception. */
  readonly detail?: string;
  /** Validation failures: member name → sentences for people (contract B12). */
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

export type Headers = Readonly<Record<string, string>>;

/** The media type of every success that has a body (contract D4). */
export const JSON_UTF_8 = 'application/json; charset=utf-8';

/** Caching of a success: `private` for one caller alone, `no-cache` for a check before each use (contract P8). */
export type CacheControl = 'private, no-cache' | 'no-cache' | 'no-store';

/** A success with a JSON body. `Accept` never changes it (contract N5). */
export function json(value: object, cacheControl: CacheControl): Answer {
  const headers = { 'cache-control': cacheControl, 'content-type': JSON_UTF_8 };
  return { status: 200, headers, body: JSON.stringify(value) };
}

/** A coding with its weight, RFC 9110 §12.5.3. */
const CODING = /^([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * Whether `Accept-Encoding` admits gzip (RFC 9110 §12.5.3): named, or covered by `*`, with a weight above 0. Items that
 * cannot be parsed are passed over; a missing header asks for nothing.
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

/** Bytes of a long body for the socket at a time. The kernel's taking shows whether a client reads (contract D10). */
const WINDOW_BYTES = 1024 * 1024;

/** Writes an answer, with the headers of contract D8. @param last Whether the connection closes after it. */
export function write(call: Call, answer: Answer, last: boolean): void {
  const { response, method } = call;
  const { status, headers = {}, body } = answer;
  const head: string[] = [];
  for (const name in headers) head.push(name, headers[name] ?? '');
  head.push('x-content-type-options', 'nosniff');
  if (last) head.push('connection', 'close');
  const length = body === undefined ? 0 : lengthOf(body);
  // RFC 9110 §8.6: a 204 and a 304 have none.
  if (body !== undefined) head.push('content-length', String(length));
  response.writeHead(status, reasonPhrase(status) ?? '', head);
  if (body === undefined || method === 'HEAD') end(call, last, undefined);
  else if (typeof body === 'string' || (Buffer.isBuffer(body) && length <= WINDOW_BYTES))
    end(call, last, body);
  else writePieces(call, slicesOf(body), last);
}

function end({ response, connection }: Call, last: boolean, rest: string | Buffer | undefined): void {
  if (last || !response.shouldKeepAlive) connection.endLast(response, rest);
  else response.end(rest);
}

/** Writes some pieces, and the next ones when the kernel has taken them. The last ones are not waited for. */
function writePieces(call: Call, pieces: Iterator<Uint8Array, undefined>, last: boolean): void {
  const { response } = call;
  response.cork();
  for (let size = 0; size < WINDOW_BYTES; ) {
    const { value: piece } = pieces.next();
    if (piece === undefined) {
      end(call, last, undefined);
      return;
    }
    response.write(piece);
    size += piece.length;
  }
  response.uncork();
  response.once('drain', () => writePieces(call, pieces, last));
}

/** The pieces of a long body, in slices of a window at most; nothing is copied. */
function* slicesOf(body: Exclude<Body, string>): Generator<Uint8Array, undefined> {
  for (const piece of buffersOf(body))
    for (let from = 0; from < piece.length; from += WINDOW_BYTES)
      yield piece.subarray(from, from + WINDOW_BYTES);
}

/** Phrases of Node.js that are still those of an RFC that RFC 9110 obsoleted. */
const RENAMED: ReadonlyMap<number, string> = new Map([
  [413, 'Content Too Large'],
  [422, 'Unprocessable Content'],
]);

/** The reason phrase of a status code, or undefined for an unknown one. */
export function reasonPhrase(status: number): string | undefined {
  return RENAMED.get(status) ?? STATUS_CODES[status];
}
