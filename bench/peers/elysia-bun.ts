// https://elysiajs.com/plugins/jwt, https://elysiajs.com/essential/validation
import { jwt } from '@elysiajs/jwt';
import { Elysia, t } from 'elysia';
import { todos } from './bun-sqlite.ts';
import { mayWrite, PROBLEM_JSON, problem } from './checks.ts';
import { algorithm, audience, host, importKey, issuer, port } from './settings.ts';

const key = await importKey();

const body = t.Object({
  title: t.String({ minLength: 1, maxLength: 100 }),
  done: t.Optional(t.Boolean()),
  categoryId: t.Integer({ minimum: 1, maximum: 2_147_483_647 }),
});
const params = t.Object({ id: t.Integer() });

const answer = (status: number) =>
  new Response(JSON.stringify(problem(status)), { status, headers: { 'Content-Type': PROBLEM_JSON } });

const requireEditor = (claims: unknown) => {
  if (!mayWrite(claims)) return answer(403);
};

new Elysia()
  .onError(({ code }) =>
    answer(code === 'NOT_FOUND' ? 404 : code === 'VALIDATION' || code === 'PARSE' ? 400 : 500),
  )
  .use(jwt({ name: 'jwt', secret: key, alg: algorithm }))
  .resolve(async ({ jwt, headers, status }) => {
    const token = headers.authorization?.startsWith('Bearer ') ? headers.authorization.slice(7) : undefined;
    const claims = await jwt.verify(token, { algorithms: [algorithm], issuer, audience });
    return claims ? { claims } : status(401);
  })
  .get('/todos', () => todos.list())
  .get('/todos/:id', ({ params: { id } }) => todos.find(id) ?? answer(404), { params })
  .post(
    '/todos',
    ({ body: { title, categoryId }, set }) => {
      const todo = todos.add(title, categoryId);
      set.status = 201;
      set.headers.location = `/todos/${todo.id}`;
      return todo;
    },
    { body, beforeHandle: ({ claims }) => requireEditor(claims) },
  )
  .put(
    '/todos/:id',
    ({ params: { id }, body: { title, done = false, categoryId }, set }) => {
      if (!todos.replace(id, title, done, categoryId)) return answer(404);
      set.status = 204;
    },
    { params, body, beforeHandle: ({ claims }) => requireEditor(claims) },
  )
  .listen({ port, hostname: host });
