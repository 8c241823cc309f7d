import type { FastifySchema } from 'fastify';

/** What the OpenAPI document says of the endpoints of Profile B. */
export const getTodo: FastifySchema = {};
export const completeTodo: FastifySchema = {};
export const crash: FastifySchema = {};
