// https://fastify.dev/docs/latest/Reference/Validation-and-Serialization/, https://github.com/fastify/fastify-jwt#readme
import fastifyJwt from '@fastify/jwt';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { todos } from './better-sqlite3.ts';
import { mayWrite, PROBLEM_JSON, problem, type TodoBody } from './checks.ts';
import { algorithm, audience, host, issuer, keyText, port } from './settings.ts';

const fastify = Fastify();

await fastify.register(fastifyJwt, {
  secret: algorithm === 'HS256' ? keyText : { public: keyText },
  verify: { algorithms: [algorithm], allowedIss: issuer, allowedAud: audience },
});

function send(reply: FastifyReply, status: number): FastifyReply {
  return reply.code(status).type(PROBLEM_JSON).send(problem(status));
}

fastify.setErrorHandler((error: { statusCode?: number }, _request, reply) =>
  send(reply, error.statusCode ?? 500),
);
fastify.setNotFoundHandler((_request, reply) => send(reply, 404));

const authenticate = async (request: FastifyRequest): Promise<void> => {
  await request.jwtVerify();
};

const requireEditor = async (request: FastifyRequest, reply: FastifyReply) => {
  if (!mayWrite(request.user)) return send(reply, 403);
};

const todo = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    title: { type: 'string' },
    done: { type: 'boolean' },
    categoryId: { type: 'integer' },
  },
};
const body = {
  type: 'object',
  required: ['title', 'categoryId'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 100 },
    done: { type: 'boolean' },
    categoryId: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
  },
};
const params = { type: 'object', properties: { id: { type: 'integer' } } };

fastify.get(
  '/todos',
  { onRequest: authenticate, schema: { response: { 200: { type: 'array', items: todo } } } },
  async () => todos.list(),
);

fastify.get<{ Params: { id: number } }>(
  '/todos/:id',
  { onRequest: authenticate, schema: { params, response: { 200: todo } } },
  async (request, reply) => todos.find(request.params.id) ?? send(reply, 404),
);

fastify.post<{ Body: TodoBody }>(
  '/todos',
  { onRequest: [authenticate, requireEditor], schema: { body, response: { 201: todo } } },
  async (request, reply) => {
    const added = todos.add(request.body.title, request.body.categoryId);
    return reply.code(201).header('location', `/todos/${added.id}`).send(added);
  },
);

fastify.put<{ Params: { id: number }; Body: TodoBody }>(
  '/todos/:id',
  { onRequest: [authenticate, requireEditor], schema: { params, body } },
  async (request, reply) => {
    const { title, done = false, categoryId } = request.body;
    return todos.replace(request.params.id, title, done, categoryId)
      ? reply.code(204).send()
      : send(reply, 404);
  },
);

await fastify.listen({ port, host });
