import { reasonPhrase } from '../../problem/problem.ts';
import { endLast } from '../transport/refuse.ts';
import { type Answer, type Body, piecesOf } from './answer.ts';
import type { Call } from './call.ts';

/**
 * Bytes of a long body that the socket gets at a time. Whether a client reads is seen when the kernel has taken them
 * (contract D10).
 */
const WINDOW_BYTES = 64 * 1024;

/**
 * Writes an answer: the one place that touches the socket of a request that was routed. Every answer has what contract
 * D8 asks for.
 *
 * @param last Whether the connection closes after it.
 */
export function write(call: Call, answer: Answer, last: boolean): void {
  const { response, method } = call;
  const { status, headers = {}, body } = answer;
  const head: string[] = [];
  for (const name in headers) head.push(name, headers[name] ?? '');
  head.push('x-content-type-options', 'nosniff');
  if (last) head.push('connection', 'close');
  const length = lengthOf(body);
  if (!('content-length' in headers) && hasLength(status, method, body)) {
    head.push('content-length', String(length));
  }
  response.writeHead(status, reasonPhrase(status) ?? '', head);
  const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
  if (body === undefined || method === 'HEAD') end(call, last, undefined);
  else if (isWhole && length <= WINDOW_BYTES) end(call, last, body);
  else writeWindows(call, windowsOf(body), last);
}

function end({ response, connection }: Call, last: boolean, rest: string | Buffer | undefined): void {
  if (last || !response.shouldKeepAlive) endLast(response, connection, rest);
  else response.end(rest);
}

/** Hands over a window whenever the one before it has been taken. */
function writeWindows(call: Call, windows: Iterator<readonly Uint8Array[]>, last: boolean): void {
  const { response } = call;
  for (;;) {
    const { done, value: window } = windows.next();
    if (done) {
      end(call, last, undefined);
      return;
    }
    response.cork();
    let taken = true;
    for (const piece of window) taken = response.write(piece);
    response.uncork();
    if (!taken) {
      response.once('drain', () => writeWindows(call, windows, last));
      return;
    }
  }
}

/** A long body in groups of pieces; nothing is copied. */
function* windowsOf(body: Body): Generator<readonly Uint8Array[]> {
  let window: Uint8Array[] = [];
  let size = 0;
  for (const whole of piecesOf(body)) {
    for (let from = 0; from < whole.length; from += WINDOW_BYTES) {
      const piece = whole.subarray(from, from + WINDOW_BYTES);
      window.push(piece);
      size += piece.length;
      if (size < WINDOW_BYTES) continue;
      yield window;
      window = [];
      size = 0;
    }
  }
  if (window.length > 0) yield window;
}

/** RFC 9110 §8.6. */
function hasLength(status: number, method: string, body: Body | undefined): boolean {
  return body !== undefined || (status !== 204 && status !== 304 && method !== 'HEAD');
}

function lengthOf(body: Body | undefined): number {
  if (typeof body === 'string') return Buffer.byteLength(body);
  if (body === undefined) return 0;
  return Buffer.isBuffer(body) ? body.length : body.reduce((sum, { length }) => sum + length, 0);
}
