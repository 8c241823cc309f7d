import type { FastifyRequest } from 'fastify';
import { newTraceId } from '../problem/trace-id.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Empty until somebody asks: most requests never need one. */
    traceId: string;
  }
}

/** The `traceId` of a request: the same string in its problem and in its log lines (contract P5). */
export function traceIdOf(request: FastifyRequest): string {
  if (request.traceId === '') request.traceId = newTraceId(request.headers.traceparent);
  return request.traceId;
}
