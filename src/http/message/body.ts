import type { IncomingMessage, ServerResponse } from 'node:http';
import { MAX_FIELD_LINES } from '../transport/framing.ts';

/** Largest request body, in bytes: 64 KiB. Nothing legal is larger (contract B5). */
const BODY_MAX_BYTES = 64 * 1024;

/** How a body ended: whole, or with the status that refuses it: too large, or too many trailers. */
export type BodyEnd = 'complete' | 413 | 431;

/**
 * The body that a request announces. It is read to its end before anything is answered: an answer that overtakes
 * it lets Node.js add a second one when the body turns out malformed. Two exceptions: one over the limit, and one
 * that the client holds back until it gets a 100.
 *
 * It is read when somebody wants it: while a token is being verified, it is not parsed (contract D10). No promise
 * settles when the client goes away or the framing is bad: the socket's error is the answer then.
 */
export class IncomingBody {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  /**
   * Undefined when nobody wants the bytes. One buffer for pieces of any size: a list of them would hold the memory of the
   * packets they came in, 80 times as much for chunks of one byte.
   */
  #kept: Buffer | undefined;
  #length = 0;
  #state: 'unread' | 'awaits-100' | 'arriving' | BodyEnd = 'unread';
  readonly #ended = Promise.withResolvers<BodyEnd>();

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
    if (Number(request.headers['content-length']) > BODY_MAX_BYTES) this.#end(413);
    else if (expectsContinue(request)) this.#state = 'awaits-100';
  }

  /** The bytes, for an endpoint that parses them. A client that waits for a 100 gets it. */
  async bytes(): Promise<Buffer | 413 | 431> {
    this.#kept = Buffer.alloc(0);
    const end = await this.end();
    return end === 'complete' ? this.#kept.subarray(0, this.#length) : end;
  }

  /** The end, for an endpoint that ignores the bytes (contract B1). A client that waits for a 100 gets it. */
  end(): Promise<BodyEnd> {
    if (this.#state === 'awaits-100') this.#response.writeContinue();
    if (this.#state === 'awaits-100' || this.#state === 'unread') this.#read();
    return this.#ended.promise;
  }

  /** The end, for an answer that is there already: the bytes are thrown away, and nobody is asked for any. */
  rest(): BodyEnd | 'awaits-100' | Promise<BodyEnd> {
    this.#kept = undefined;
    return this.#state === 'unread' || this.#state === 'arriving' ? this.end() : this.#state;
  }

  #read(): void {
    this.#state = 'arriving';
    const request = this.#request;
    const onData = (chunk: Buffer) => {
      const length = this.#length + chunk.length;
      if (length > BODY_MAX_BYTES) {
        request.off('data', onData).pause();
        this.#end(413);
        return;
      }
      this.#keep(chunk, length);
      this.#length = length;
    };
    request.on('data', onData);
    request.once('end', () => {
      this.#end(request.rawTrailers.length > 2 * MAX_FIELD_LINES ? 431 : 'complete');
    });
    request.on('error', () => {});
  }

  #keep(chunk: Buffer, length: number): void {
    const kept = this.#kept;
    if (kept === undefined) return;
    if (length > kept.length) {
      this.#kept = Buffer.allocUnsafeSlow(Math.min(BODY_MAX_BYTES, Math.max(length, 2 * kept.length)));
      kept.copy(this.#kept, 0, 0, this.#length);
    }
    chunk.copy(this.#kept ?? kept, this.#length);
  }

  #end(end: BodyEnd): void {
    this.#state = end;
    this.#ended.resolve(end);
  }
}

/**
 * Whether the client sends its body only after a 100 (RFC 9110 §10.1.1). The server has refused every other
 * expectation, and one in HTTP/1.0 is to be ignored.
 */
function expectsContinue({ headers, httpVersionMinor }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersionMinor === 1;
}
