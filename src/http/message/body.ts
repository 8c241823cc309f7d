import type { IncomingMessage, ServerResponse } from 'node:http';
import { faultIn, isJsonObject, type JsonFault, parseJson } from '../../parse-json.ts';
import { jsonTypeFault } from '../../problem/media-type.ts';
import { MAX_FIELD_LINES } from '../transport/framing.ts';
import type { Answer } from './answer.ts';
import type { Call, Route } from './routes.ts';

/** Largest request body, in bytes: 64 KiB. Nothing legal is larger (contract B5). */
const BODY_MAX_BYTES = 64 * 1024;

/** Deepest nesting of arrays and objects in a request body (contract B5). */
const MAX_DEPTH = 64;

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
   * Whether the client sends it only after a 100 (RFC 9110 §10.1.1). The server has refused every other expectation, and
   * one in HTTP/1.0 is to be ignored.
   */
  readonly #awaits100: boolean;
  /**
   * Undefined when nobody wants the bytes. One buffer for pieces of any size: a list of them would hold the memory of the
   * packets they came in, 80 times as much for chunks of one byte.
   */
  #kept: Buffer | undefined;
  #length = 0;
  /** Undefined until somebody wants the body. */
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
    // The request, and with it this body, is kept for as long as its connection is idle.
    this.#kept = undefined;
    return end === 'complete' ? bytes : end;
  }

  /** The end, for an endpoint that ignores the bytes (contract B1). A client that waits for a 100 gets it. */
  end(): Promise<BodyEnd> {
    this.#ended ??= this.#read();
    return this.#ended;
  }

  /** The end, for an answer that is there already: the bytes are thrown away, and nobody is asked for any. */
  rest(): 'awaits-100' | Promise<BodyEnd> {
    return this.#ended === undefined && this.#awaits100 ? 'awaits-100' : this.end();
  }

  #read(): Promise<BodyEnd> {
    const request = this.#request;
    if (Number(request.headers['content-length']) > BODY_MAX_BYTES) return Promise.resolve(413);
    if (this.#awaits100) this.#response.writeContinue();
    const { promise, resolve } = Promise.withResolvers<BodyEnd>();
    const onData = (chunk: Buffer) => {
      if (this.#length + chunk.length > BODY_MAX_BYTES) {
        request.off('data', onData).pause();
        resolve(413);
      } else this.#keep(chunk);
    };
    request.on('data', onData);
    request.once('end', () => {
      resolve(request.rawTrailers.length > 2 * MAX_FIELD_LINES ? 431 : 'complete');
    });
    request.on('error', () => {});
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

/** What a parser makes of a JSON object: a value of its type, or sentences by member name. */
export type Parsed<T> =
  | { readonly value: T }
  | { readonly errors: Readonly<Record<string, readonly string[]>> };

/**
 * The 415s (contract B2), each with what would be taken: the type (RFC 9110 §15.5.16), or that nothing may be encoded.
 */
export const UNSUPPORTED: Readonly<Record<'missing' | 'type' | 'charset' | 'coding', Answer>> = {
  missing: {
    status: 415,
    headers: { accept: 'application/json' },
    detail: 'The request has no Content-Type: send application/json.',
  },
  type: {
    status: 415,
    headers: { accept: 'application/json' },
    detail: 'The Content-Type must be application/json or application/<something>+json.',
  },
  charset: {
    status: 415,
    headers: { accept: 'application/json' },
    detail: 'The charset of the Content-Type must be UTF-8.',
  },
  coding: {
    status: 415,
    headers: { 'accept-encoding': 'identity' },
    detail: 'The body must not be encoded: send it without Content-Encoding.',
  },
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * A route whose handler gets what its parser made of the body (contract, Order of checks 4). Media type → 415, size →
 * 413, trailers → 431, not UTF-8 or not a JSON object → 400, a broken rule → 400 with `errors`.
 */
export function withBody<Value>(
  route: Pick<Route, 'method' | 'path' | 'access'>,
  parse: (body: object) => Parsed<Value>,
  handle: (call: Call, value: Value) => Answer | Promise<Answer>,
): Route {
  async function readAndHandle(call: Call): Promise<Answer> {
    const bytes = (await call.body?.bytes()) ?? Buffer.alloc(0);
    if (typeof bytes === 'number') return { status: bytes };
    const text = decode(bytes);
    if (text === undefined) return { status: 400, detail: 'The body is not valid UTF-8.' };
    const read = readJsonObject(text);
    if ('fault' in read) {
      const { line, column, problem } = read.fault;
      const detail = `The body is not acceptable JSON. Line ${line}, column ${column}: ${problem}`;
      return { status: 400, detail };
    }
    const parsed = parse(read.object);
    if ('value' in parsed) return handle(call, parsed.value);
    return { status: 400, title: 'One or more validation errors occurred.', errors: parsed.errors };
  }
  return {
    ...route,
    readsBody: true,
    handle(call) {
      const { 'content-type': type, 'content-encoding': coding } = call.headers;
      const fault = jsonTypeFault(type) ?? (isEncoded(coding) ? 'coding' : undefined);
      return fault === undefined ? readAndHandle(call) : UNSUPPORTED[fault];
    },
  };
}

/** By any coding but `identity`, which is none (RFC 9110 §8.4, §12.5.3). */
function isEncoded(coding: string | undefined): boolean {
  return coding !== undefined && coding.toLowerCase() !== 'identity';
}

/** The object that a body must be (contract B4), or why and where the text is none. */
export function readJsonObject(text: string): { readonly object: object } | { readonly fault: JsonFault } {
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH });
  if ('fault' in parsed) return parsed;
  const { value } = parsed;
  if (isJsonObject(value)) return { object: value };
  return { fault: faultIn(text, text.search(/[^ \t\n\r]/), 'An object is expected.') };
}

/** The text of a body, a leading byte order mark skipped; undefined when it is not UTF-8 (contract B3). */
function decode(bytes: Buffer): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
