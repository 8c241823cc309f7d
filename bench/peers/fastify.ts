// https://fastify.dev/docs/latest/Reference/Validation-and-Serialization/, https://github.com/fastify/fastify-jwt#readme
import jwt from '@fastify/jwt';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import * as told from './settings.ts';

const engine = told.DATABASE.startsWith('postgres:') ? import('./postgres.ts') : import('./sqlite.ts');
const { find, list, add, replace } = await engine;

const fastify = Fastify();
const verify = { algorithms: ['HS256' as const], allowedIss: told.ISSUER, allowedAud: told.AUDIENCE };
await fastify.register(jwt, { secret: told.SECRET, verify });
const authenticate = async (request: FastifyRequest): Promise<void> => {
  await request.jwtVerify();
};
const requireEditor = async ({ user }: FastifyRequest, reply: FastifyReply) => {
  if (Object(user).role !== 'editor') return reply.code(403).send();
};
const [reads, writes] = [[authenticate], [authenticate, requireEditor]];

const properties = {
  title: { type: 'string', minLength: 1, maxLength: 100 },
  done: { type: 'boolean' },
  categoryId: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
};
const body = { type: 'object', required: ['title', 'categoryId'], properties };
const todo = { type: 'object', properties: { id: { type: 'integer' }, ...properties } };
const params = { type: 'object', properties: { id: { type: 'integer' } } };
type One = { Params: { id: number } };
type Sent = { Body: { title: string; done?: boolean; categoryId: number } };

const ofList = { onRequest: reads, schema: { response: { 200: { type: 'array', items: todo } } } };
const readList = async () => (await list()).map(told.todoOf);
let kept: Buffer | undefined;
if (told.KEEP === undefined) fastify.get('/todos', ofList, readList);
else {
  fastify.get('/todos', { onRequest: reads }, async (_, reply) => {
    kept ??= Buffer.from(JSON.stringify(await readList()));
    return reply.type('application/json; charset=utf-8').send(kept);
  });
}

const ofOne = { onRequest: reads, schema: { params, response: { 200: todo } } };
fastify.get<One>('/todos/:id', ofOne, async ({ params: { id } }, reply) => {
  return told.foundOf(await find(id)) ?? reply.code(404).send();
});

const ofCreate = { onRequest: writes, schema: { body, response: { 201: todo } } };
fastify.post<Sent>('/todos', ofCreate, async ({ body: { title, categoryId } }, reply) => {
  const id = await add(title, categoryId);
  kept = undefined;
  return reply.code(201).header('location', `/todos/${id}`).send({ id, title, done: false, categoryId });
});

const ofReplace = { onRequest: writes, schema: { params, body } };
fastify.put<One & Sent>('/todos/:id', ofReplace, async (request, reply) => {
  const { title, done = false, categoryId } = request.body;
  const changed = await replace(title, done, categoryId, request.params.id);
  kept = undefined;
  return reply.code(changed === 1 ? 204 : 404).send();
});

await fastify.listen({ port: 0, host: '127.0.0.1' });
told.listening(Object(fastify.server.address()).port);
