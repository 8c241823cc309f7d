import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { announcesBody, type Body, lingerOn, NO_BODY, readBody } from './body.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null when the request announced no body. */
    received: Body | null;
  }
}

/** The bytes of a request's body: none, up to 64 KiB, or the fact that it was larger. */
export function bodyOf(request: FastifyRequest): Body {
  return request.received ?? NO_BODY;
}

/** The first `onRequest` hook: nothing is decided, and nothing answered, before the body has been read. */
export function receive(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (!announcesBody(request.raw)) {
    done();
    return;
  }
  readBody(request.raw).then((body) => {
    request.received = body;
    done();
  });
}

/**
 * The last `onSend` hook: when the body was too large to be read, the connection closes after this answer,
 * whatever it is, and what the client is still sending is read on for a while (contract B5).
 */
export function closeUnread(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload?: unknown) => void,
): void {
  if (request.received !== 'too-large') {
    done(null, payload);
    return;
  }
  const bytes = Buffer.isBuffer(payload) ? payload : NO_BODY;
  reply.header('Connection', 'close').header('Content-Length', String(bytes.length));
  done(null, Readable.from(answerThenLinger(bytes, request)));
}

async function* answerThenLinger(bytes: Buffer, request: FastifyRequest): AsyncGenerator<Buffer> {
  yield bytes;
  await lingerOn(request.raw);
}
