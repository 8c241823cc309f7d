import type { FastifyReply, FastifyRequest } from 'fastify';
import { say } from '../problem/doors.ts';
import type { Authenticate } from './authenticate.ts';
import type { Authentication } from './authentication.ts';
import { INSUFFICIENT_SCOPE } from './challenge.ts';
import type { Identity } from './identity.ts';
import { canWriteTodos } from './policy.ts';

/** Who may call a route. Every route states it; the method alone never decides (specification, Endpoints, rule 4). */
export type Access = 'open' | 'authenticated' | 'CanWriteTodos';

declare module 'fastify' {
  interface FastifyContextConfig {
    access: Access;
  }
  interface FastifyRequest {
    /** Null before `admit`, and on open routes. */
    identity: Identity | null;
  }
}

/** The caller of a route that is not open. */
export function identityOf(request: FastifyRequest): Identity {
  if (request.identity === null) throw new Error('Cannot name the caller: this route is open');
  return request.identity;
}

/**
 * An `onRequest` hook that lets a caller in: identified, else 401 or 503; allowed, else 403 (contract, Order
 * of checks 3).
 */
export function admit(access: Exclude<Access, 'open'>, authenticate: Authenticate) {
  return (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    const decide = (result: Authentication): void => {
      if (result.outcome === 'refused') {
        reply.header('WWW-Authenticate', result.challenge);
        say(reply, { status: 401 });
      } else if (result.outcome === 'unavailable') {
        reply.header('Retry-After', String(result.retryAfter));
        say(reply, { status: 503 });
      } else if (access === 'CanWriteTodos' && !canWriteTodos(result.identity)) {
        reply.header('WWW-Authenticate', INSUFFICIENT_SCOPE);
        say(reply, { status: 403 });
      } else {
        request.identity = result.identity;
        done();
      }
    };
    const result = authenticate(request.headers.authorization);
    if (result instanceof Promise) result.then(decide).catch(done);
    else decide(result);
  };
}
