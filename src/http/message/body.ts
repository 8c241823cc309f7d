import type { IncomingMessage } from 'node:http';

/** Largest request body, in bytes: 64 KiB. Nothing legal is larger (contract B5). */
export const BODY_MAX_BYTES = 64 * 1024;

/** A refused body is read on for at most so long and so far, that the answer arrives (RFC 9112 §9.6; contract B5). */
const LINGER_MILLISECONDS = 1_000;
const LINGER_BYTES = 1024 * 1024;

/** A request's body as it stands before routing. */
export type Body = Buffer | 'too-large';

export const NO_BODY: Buffer = Buffer.alloc(0);

/** Whether a body follows the head (RFC 9112 §6.3). */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}

/**
 * Whether the client sends its body only after a 100 (RFC 9110 §10.1.1). The server has refused every other
 * expectation, and one in HTTP/1.0 is to be ignored.
 */
export function expectsContinue({ headers, httpVersionMinor }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersionMinor === 1;
}

/**
 * Reads a body to its end before anything is answered: an answer that overtakes its request's body lets
 * Node.js add a second one when that body turns out malformed. Stops early at a body over the limit. Never
 * settles when the client goes away or the framing is bad: the socket's error is the answer then.
 */
export function readBody(request: IncomingMessage): Promise<Body> {
  if (Number(request.headers['content-length']) > BODY_MAX_BYTES) return Promise.resolve('too-large');
  const { promise, resolve } = Promise.withResolvers<Body>();
  const body = new GrowingBuffer();
  const onData = (chunk: Buffer) => {
    if (body.append(chunk)) return;
    request.off('data', onData).pause();
    resolve('too-large');
  };
  request.on('data', onData);
  request.once('end', () => resolve(body.bytes));
  request.on('error', () => {});
  return promise;
}

/**
 * One buffer of at most 64 KiB for bytes that come in pieces of any size. A list of the pieces would hold the
 * memory of the packets they came in: 80 times as much for chunks of one byte.
 */
class GrowingBuffer {
  #buffer = NO_BODY;
  #length = 0;

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** False when there is no room for `chunk`. */
  append(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (length > BODY_MAX_BYTES) return false;
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.min(BODY_MAX_BYTES, Math.max(length, 2 * this.#buffer.length)),
      );
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
    return true;
  }
}

/**
 * Goes on reading what the client still sends of a body that was refused, up to 1 s or 1 MiB, and throws it
 * away: a connection that is closed on unread bytes is reset, and the reset destroys the answer.
 */
export function lingerOn(request: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LINGER_MILLISECONDS);
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > LINGER_BYTES) resolve();
  });
  request.once('close', resolve);
  request.resume();
  return promise.finally(() => clearTimeout(timer));
}
