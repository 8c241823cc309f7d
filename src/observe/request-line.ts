import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { traceIdOf } from './request-trace.ts';

/** What the line of a request says. Never a token, a body, a query or an unmatched path. */
export interface RequestLine {
  readonly method: string;
  /** The pattern, not the path. */
  readonly route: string;
  readonly status: number;
  /** From the head of the request to the answer. */
  readonly milliseconds: number;
  readonly traceId: string;
}

export type WriteRequestLine = (line: RequestLine) => void;

/** Writes a line per request at level debug; undefined when nobody reads that level. */
export function requestLines(log: Logger): WriteRequestLine | undefined {
  if (!log.isLevelEnabled('debug')) return undefined;
  return ({ method, route, status, milliseconds, traceId }) => {
    const rounded = Math.round(milliseconds * 1000) / 1000;
    log.debug({ event: 'request', method, route, status, milliseconds: rounded, traceId }, 'request');
  };
}

/** An `onResponse` hook. */
export function logRequest(write: WriteRequestLine) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    write({
      method: request.method,
      route: request.routeOptions.url ?? '(no route)',
      status: reply.statusCode,
      milliseconds: reply.elapsedTime,
      traceId: traceIdOf(request),
    });
    done();
  };
}
