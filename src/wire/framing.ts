import type { IncomingMessage } from 'node:http';

/** Header lines of one request, and as many trailer lines; the number of ASP.NET Core's server (contract Order 1). */
export const MAX_FIELD_LINES = 100;

type Bytes = Buffer<ArrayBuffer>;

const LF = 10;
const EMPTY_LINE = '\r\n\r\n';

/** Characters of an empty line that may end a slice without completing it. */
const TAIL_BYTES = 3;

/** Length of `HTTP/1.1` and the CR behind it. */
const PROTOCOL_BYTES = 9;

/**
 * The boundaries of the messages of one connection (RFC 9112 §2.1 and §6.3). Slices end behind each empty line and at the
 * end of a body of known length, so that every message begins a slice, and one call of the parser makes at most one
 * request. The end of a slice never changes the result of the parser, only its time.
 */
export class Framing {
  /** The message whose body is still to come. */
  #message: IncomingMessage | undefined;
  /** Whether a body follows the last head (RFC 9112 §6.3). */
  hasBody = false;
  /** Bytes of the body that are still to come, when its head told the length. */
  #bodyLeft = 0;
  /** The end of the last slice: an empty line may have begun there. */
  #tail = '';
  /** The end of the request line, as far as it has come. */
  #line = '';
  #isHttp: boolean | undefined;

  /** Whether every message that has begun is parsed to its end. */
  get isBetweenMessages(): boolean {
    if (this.#message !== undefined) return this.#message.complete;
    return this.#isHttp === undefined && /^\r*$/.test(this.#line);
  }

  /** The slice at the beginning of `bytes`: it holds the end of at most one head and of at most one body. */
  sliceOf(bytes: Bytes): Bytes {
    if (this.#message?.complete) this.#next();
    const length = this.#bodyLeft > 0 ? this.#bodyLeft : this.#endOfLines(bytes);
    const slice = length < bytes.length ? bytes.subarray(0, length) : bytes;
    if (this.#bodyLeft > 0) this.#bodyLeft -= slice.length;
    else if (this.#message === undefined && this.#isHttp === undefined) this.#readRequestLine(slice);
    return slice;
  }

  /**
   * Called when the parser has found a head at the end of the slice that it was given.
   *
   * @returns whether its request line names HTTP. The parser of Node.js also takes RTSP and ICE, and does not tell them
   * apart (contract Order 1).
   */
  received(message: IncomingMessage): boolean {
    this.#message = message;
    const { 'content-length': length, 'transfer-encoding': coding } = message.headers;
    this.#bodyLeft = coding === undefined ? Number(length ?? 0) : 0;
    this.hasBody = coding !== undefined || this.#bodyLeft > 0;
    return this.#isHttp === true;
  }

  #next(): void {
    this.#message = undefined;
    this.#isHttp = undefined;
  }

  /** The number of bytes up to the end of an empty line; all of them when there is none. */
  #endOfLines(bytes: Buffer): number {
    const before = this.#tail;
    const seam = before === '' ? -1 : (before + bytes.toString('latin1', 0, TAIL_BYTES)).indexOf(EMPTY_LINE);
    const from = seam === -1 ? bytes.indexOf(EMPTY_LINE) : seam - before.length;
    const found = seam !== -1 || from !== -1;
    this.#tail = found ? '' : (before + bytes.subarray(-TAIL_BYTES).toString('latin1')).slice(-TAIL_BYTES);
    return found ? from + EMPTY_LINE.length : bytes.length;
  }

  /** Keeps the end of the request line. Empty lines before it do not count (RFC 9112 §2.2). */
  #readRequestLine(slice: Buffer): void {
    for (let from = 0; from < slice.length; ) {
      const end = slice.indexOf(LF, from);
      const until = end === -1 ? slice.length : end;
      const line = this.#line + slice.toString('latin1', Math.max(from, until - PROTOCOL_BYTES), until);
      this.#line = end === -1 ? line.slice(-PROTOCOL_BYTES) : '';
      if (end === -1) return;
      from = end + 1;
      if (/^\r*$/.test(line)) continue;
      this.#isHttp = line.slice(-PROTOCOL_BYTES).startsWith('HTTP/');
      return;
    }
  }
}
