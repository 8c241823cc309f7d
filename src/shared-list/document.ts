import type { FastifySchema } from 'fastify';

/** What the OpenAPI document says of the endpoints of Profile A. */
export const me: FastifySchema = {};
export const listTodos: FastifySchema = {};
export const getTodo: FastifySchema = {};
export const createTodo: FastifySchema = {};
export const replaceTodo: FastifySchema = {};
export const deleteTodo: FastifySchema = {};
