import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { traceIdOf } from './request-trace.ts';

/** An `onResponse` hook: a line per request at level debug. Never a token, a body, a query or an unmatched path. */
export function logRequest(log: Logger) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    log.debug(
      {
        event: 'request',
        method: request.method,
        route: request.routeOptions.url ?? '(no route)',
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 1000) / 1000,
        traceId: traceIdOf(request),
      },
      'request',
    );
    done();
  };
}
