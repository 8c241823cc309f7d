import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { traceIdOf } from '../observe/request-trace.ts';
import { reasonPhrase } from './catalogue.ts';
import { admitsProblem } from './negotiation.ts';
import { PROBLEM_JSON, type Problem, problemBody } from './problem.ts';

declare module 'fastify' {
  interface FastifyReply {
    /** What `say` was told, for `dress` to write. */
    problem: Problem | null;
  }
}

/**
 * The first door: an endpoint or a step before it says what is wrong. Headers that carry meaning
 * (`WWW-Authenticate`, `Allow`, `Retry-After`) are set on the reply before.
 */
export function say(reply: FastifyReply, problem: Problem): FastifyReply {
  reply.problem = problem;
  return reply.code(problem.status).send();
}

/**
 * The second door, an `onSend` hook: an empty 4xx or 5xx gets its problem or its line of text. A body, a
 * content type or a content length that an endpoint has set is never rewritten (specification, Errors, rule 2).
 * A string that comes from a hook is sent with the content type as it is; one that an endpoint sends gets a charset.
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
  done(null, answered ? payload : write(request, reply, reply.problem ?? { status }));
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
    return say(reply, { status: 500 });
  };
}

/** The body that the request's `Accept` admits (contract N1 to N3), with its content type set on the reply. */
function write(request: FastifyRequest, reply: FastifyReply, problem: Problem): string | undefined {
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
  return `Status Code: ${problem.status}${phrase === undefined ? '' : `; ${phrase}`}`;
}

function hasBody(payload: unknown): boolean {
  return payload !== undefined && payload !== null && payload !== '';
}
