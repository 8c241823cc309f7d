import type { IncomingMessage, ServerResponse } from 'node:http';
import { MAX_FIELD_LINES } from '../wire/framing.ts';

/** Largest request body, in bytes: 64 KiB. A larger body is refused (contract B5). */
const BODY_MAX_BYTES = 64 * 1024;

/** The end of a body: `complete`, or the status of its refusal: too large, or too many trailers. */
export type BodyEnd = 'complete' | 413 | 431;

/**
 * The body that a request announces. It is read to its end before anything is answered: an answer that overtakes it lets
 * Node.js add a second one when the body turns out malformed. Two exceptions: a body over the limit, and a body that the
 * client holds back until it gets a 100. `test/http/bodies.test.ts` holds it.
 *
 * The body is read once it is wanted: while a token is being verified, it is not parsed (contract D10). No promise
 * settles when the client goes away or the framing is bad: the socket's error is the answer then.
 */
export class IncomingBody {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  /** Whether the client waits for a 100 (RFC 9110 §10.1.1). HTTP/1.0 has no expectations, and others were refused. */
  readonly #awaits100: boolean;
  /**
   * Undefined when the bytes are not wanted. One buffer for pieces of any size: a list of pieces would hold the memory of
   * the packets they came in, 80 times as much for chunks of one byte.
   */
  #kept: Buffer | undefined;
  #length = 0;
  /** Undefined until the body is wanted. */
  #ended: Promise<BodyEnd> | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
    this.#awaits100 = request.headers.expect !== undefined && request.httpVersionMinor === 1;
  }

  /** The bytes, for an endpoint that parses them. A client that waits for a 100 gets it. */
  async bytes(): Promise<Buffer | 413 | 431> {
    this.#kept = Buffer.alloc(0);
    const end = await this.end();
    const bytes = this.#kept.subarray(0, this.#length);
    // A connection keeps its last request, and with it this body, for as long as it is idle.
    this.#kept = undefined;
    return end === 'complete' ? bytes : end;
  }

  /** The end, for an endpoint that ignores the bytes (contract B1). A client that waits for a 100 gets it. */
  end(): Promise<BodyEnd> {
    this.#ended ??= this.#read();
    return this.#ended;
  }

  /** The end, for an answer that is known already: the bytes are thrown away, and no 100 is sent. */
  rest(): 'awaits-100' | Promise<BodyEnd> {
    return this.#ended === undefined && this.#awaits100 ? 'awaits-100' : this.end();
  }

  #read(): Promise<BodyEnd> {
    const request = this.#request;
    if (Number(request.headers['content-length']) > BODY_MAX_BYTES) return Promise.resolve(413);
    if (this.#awaits100) this.#response.writeContinue();
    const { promise, resolve } = Promise.withResolvers<BodyEnd>();
    request.on('data', (chunk: Buffer) => {
      if (this.#length + chunk.length > BODY_MAX_BYTES) resolve(413);
      else this.#keep(chunk);
    });
    request.once('end', () => {
      resolve(request.rawTrailers.length > 2 * MAX_FIELD_LINES ? 431 : 'complete');
    });
    return promise;
  }

  #keep(chunk: Buffer): void {
    const from = this.#length;
    this.#length += chunk.length;
    let kept = this.#kept;
    if (kept === undefined) return;
    if (this.#length > kept.length) {
      this.#kept = Buffer.allocUnsafeSlow(Math.min(BODY_MAX_BYTES, Math.max(this.#length, 2 * kept.length)));
      kept.copy(this.#kept, 0, 0, from);
      kept = this.#kept;
    }
    chunk.copy(kept, from);
  }
}
