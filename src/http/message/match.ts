import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify';
import { METHODS } from '../transport/node-http.ts';
import type { Cors } from './cors.ts';

const INTEGER = /^[+-]?\d+$/;
const MIN_INT32 = -2_147_483_648;
const MAX_INT32 = 2_147_483_647;

declare module 'fastify' {
  interface FastifyRequest {
    /** The id in the path of a request that `matchId` has let pass. */
    todoId: number;
  }
}

/** The integer that an `{id}` segment spells (contract R2), or undefined: no route matches then. */
export function parseId(segment: string): number | undefined {
  if (!INTEGER.test(segment)) return undefined;
  const id = Number(segment);
  return id >= MIN_INT32 && id <= MAX_INT32 ? id : undefined;
}

/** An `onRequest` hook of the routes with an `{id}`: a segment that is no integer matches no route, so 404. */
export function matchId(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { params } = request;
  const segment = typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : '';
  const id = parseId(segment);
  if (id === undefined) {
    reply.code(404).send();
    return;
  }
  request.todoId = id;
  done();
}

/** Methods of routes that read: `HEAD` is `GET` without its body (contract R7, RFC 9110 §9.3.2). */
export const READ: HTTPMethods[] = ['GET', 'HEAD'];

/** Lets the router know every method that Node.js parses, and none of them as one whose body Fastify would parse. */
export function knowAllMethods(app: FastifyInstance): void {
  for (const method of METHODS) {
    if (method !== 'CONNECT') app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  }
}

/**
 * Collects which methods each path has, to refuse all others there with 405 and `Allow` (contract R4), but for
 * the preflights of a browser where an origin is allowed (contract R6).
 */
export function methodsByPath(cors?: Cors): {
  note(route: RouteOptions): void;
  refuseOthers(app: FastifyInstance): void;
} {
  const noted: RouteOptions[] = [];
  return {
    note: (route) => noted.push(route),
    refuseOthers(app) {
      for (const [url, routes = []] of Map.groupBy([...noted], (route) => route.url)) {
        const methods = routes.flatMap((route) => route.method);
        const allow = methods.toSorted().join(', ');
        app.route({
          method: METHODS.filter((method) => method !== 'CONNECT' && !methods.includes(method)),
          url,
          config: { access: 'open' },
          handler: (request, reply) => {
            if (cors?.preflight(request, reply, allow)) return reply;
            return reply.code(405).header('Allow', allow).send();
          },
        });
      }
    },
  };
}
