import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  announcesBody,
  BODY_MAX_BYTES,
  type Body,
  expectsContinue,
  lingerOn,
  NO_BODY,
  readBody,
} from './body.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null when the request announced no body; `awaited` while the client waits for a 100 before it sends one. */
    received: Body | 'awaited' | null;
  }
}

/**
 * The bytes of a request's body: none, up to 64 KiB, or the fact that it was larger. A client that waits for a
 * 100 gets it here, because here the headers alone have turned out acceptable (RFC 9110 §10.1.1).
 */
export function bodyOf(request: FastifyRequest, reply: FastifyReply): Body | Promise<Body> {
  const { received, raw } = request;
  if (received === null) return NO_BODY;
  if (received !== 'awaited') return received;
  if (Number(raw.headers['content-length']) > BODY_MAX_BYTES) return 'too-large';
  reply.raw.writeContinue();
  return readBody(raw).then((body) => {
    request.received = body;
    return body;
  });
}

/**
 * The first `onRequest` hook: nothing is decided, and nothing answered, before the body has been read, unless
 * the client holds it back until it gets a 100.
 */
export function receive(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (!announcesBody(request.raw)) {
    done();
    return;
  }
  if (expectsContinue(request.raw)) {
    request.received = 'awaited';
    done();
    return;
  }
  readBody(request.raw).then((body) => {
    request.received = body;
    done();
  });
}

/**
 * The last `onSend` hook: when the body was not read, being too large or never asked for, the connection closes
 * after this answer, whatever it is, and what the client is still sending is read on for a while (contract B5).
 */
export function closeUnread(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload?: unknown) => void,
): void {
  if (request.received !== 'too-large' && request.received !== 'awaited') {
    done(null, payload);
    return;
  }
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : NO_BODY;
  reply.header('Connection', 'close').header('Content-Length', String(bytes.length));
  done(null, Readable.from(answerThenLinger(bytes, request)));
}

async function* answerThenLinger(bytes: Buffer, request: FastifyRequest): AsyncGenerator<Buffer> {
  yield bytes;
  await lingerOn(request.raw);
}
