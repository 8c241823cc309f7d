import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { traceIdOf } from '../observe/request-trace.ts';
import { reasonPhrase } from './catalogue.ts';
import { admitsProblem } from './negotiation.ts';
import { PROBLEM_JSON, type Problem, problemBody } from './problem.ts';

/**
 * The first door: an endpoint or a step before it says what is wrong. Headers that carry meaning
 * (`WWW-Authenticate`, `Allow`, `Retry-After`) are set on the reply before.
 */
export function say(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  reply.code(problem.status);
  return reply.send(write(request, reply, problem));
}

/**
 * The second door, an `onSend` hook: an empty 4xx or 5xx gets its problem or its line of text. A body, a
 * content type or a content length that an endpoint has set is never rewritten (specification, Errors, rule 2).
 */
export function dress(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload?: unknown) => void,
): void {
  const status = reply.statusCode;
  if (status < 400 || status > 599) {
    done(null, payload);
    return;
  }
  if (!reply.hasHeader('vary')) reply.header('Vary', 'Accept');
  if (!reply.hasHeader('cache-control')) reply.header('Cache-Control', 'no-store');
  const answered = hasBody(payload) || reply.hasHeader('content-type') || reply.hasHeader('content-length');
  done(null, answered ? payload : write(request, reply, { status }));
}

/**
 * The third door, the error handler: an exception becomes the 500. The log has it once, with the `traceId`;
 * the response never has any part of it, in any environment (specification, Errors, rule 3).
 */
export function crashDoor(log: Logger) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { method, routeOptions } = request;
    log.error(
      { event: 'crash', traceId: traceIdOf(request), method, route: routeOptions.url, err: error },
      'unhandled exception',
    );
    for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
    reply.header('Cache-Control', 'no-cache,no-store').header('Pragma', 'no-cache').header('Expires', '-1');
    return say(request, reply, { status: 500 });
  };
}

/** The body that the request's `Accept` admits (contract N1 to N3), with its content type set on the reply. */
function write(request: FastifyRequest, reply: FastifyReply, problem: Problem): Buffer | undefined {
  const phrase = reasonPhrase(problem.status);
  reply.raw.statusMessage = phrase ?? '';
  if (admitsProblem(request.headers.accept)) {
    reply.header('Content-Type', PROBLEM_JSON);
    return problemBody(problem, traceIdOf(request));
  }
  if (problem.status === 500) {
    reply.header('Content-Length', '0');
    return undefined;
  }
  reply.header('Content-Type', 'text/plain');
  return Buffer.from(`Status Code: ${problem.status}${phrase === undefined ? '' : `; ${phrase}`}`);
}

function hasBody(payload: unknown): boolean {
  return payload !== undefined && payload !== null && payload !== '';
}
