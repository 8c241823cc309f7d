import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Request headers that a browser may send: those that the endpoints read beyond the ones that are always allowed. */
const REQUEST_HEADERS = 'Authorization, Content-Type, If-Match, If-None-Match, traceparent';

/** Response headers that a script may read. */
const EXPOSED_HEADERS = 'Location, ETag, WWW-Authenticate, Retry-After';

/** Seconds that a browser may remember a preflight. Chromium's own limit is two hours. */
const PREFLIGHT_SECONDS = '7200';

/** Lets browser applications of some origins in (the CORS protocol of https://fetch.spec.whatwg.org/). */
export interface Cors {
  /** Adds the hook that tells a browser which answers its application may read. After `dress`: a 500 has no other headers. */
  register(app: FastifyInstance): void;
  /** Answers a preflight of an allowed origin for a path with these methods. False when it is no such thing. */
  preflight(request: FastifyRequest, reply: FastifyReply, allow: string): boolean;
}

/** @param origins exact, such as `https://app.example`; no other origin learns anything, and no credentials are allowed. */
export function openCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins);
  return {
    register(app) {
      app.addHook('onSend', ({ headers: { origin } }, reply, payload, done) => {
        reply.header('Vary', reply.hasHeader('vary') ? `${reply.getHeader('vary')}, Origin` : 'Origin');
        if (origin !== undefined && allowed.has(origin)) {
          reply.header('Access-Control-Allow-Origin', origin);
          reply.header('Access-Control-Expose-Headers', EXPOSED_HEADERS);
        }
        done(null, payload);
      });
    },
    preflight({ method, headers }, reply, allow) {
      const { origin, 'access-control-request-method': wanted } = headers;
      if (method !== 'OPTIONS' || wanted === undefined) return false;
      if (origin === undefined || !allowed.has(origin)) return false;
      reply
        .code(204)
        .header('Access-Control-Allow-Methods', allow)
        .header('Access-Control-Allow-Headers', REQUEST_HEADERS)
        .header('Access-Control-Max-Age', PREFLIGHT_SECONDS)
        .send();
      return true;
    },
  };
}
