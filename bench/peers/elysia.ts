// https://elysiajs.com/plugins/jwt, https://elysiajs.com/essential/validation
import { Database } from 'bun:sqlite';
import { jwt } from '@elysiajs/jwt';
import { Elysia, t } from 'elysia';
import * as told from './settings.ts';

const database = new Database(told.DATABASE);
database.run(told.PRAGMAS);
const find = database.query<told.Row, [number]>(told.FIND);
const list = database.query<told.Row, []>(told.LIST);
const add = database.query<unknown, [string, number]>(told.ADD);
const replace = database.query<unknown, [string, number, number, number]>(told.REPLACE);

const body = t.Object({
  title: t.String({ minLength: 1, maxLength: 100 }),
  done: t.Optional(t.Boolean()),
  categoryId: t.Integer({ minimum: 1, maximum: 2_147_483_647 }),
});
const params = t.Object({ id: t.Integer() });

const app = new Elysia()
  .onError(({ code, status }) => code === 'VALIDATION' && status(400))
  .use(jwt({ name: 'jwt', secret: told.SECRET, alg: 'HS256' }))
  .resolve(async ({ jwt, headers, status }) => {
    const token = headers.authorization?.startsWith('Bearer ') ? headers.authorization.slice(7) : undefined;
    const { ISSUER: issuer, AUDIENCE: audience } = told;
    const claims = await jwt.verify(token, { algorithms: ['HS256'], issuer, audience });
    return claims ? { claims } : status(401);
  })
  .get('/todos', () => list.all().map(told.todoOf))
  .get('/todos/:id', ({ params, status }) => told.foundOf(find.get(params.id)) ?? status(404), { params })
  .onBeforeHandle(({ claims, status }) => (claims.role === 'editor' ? undefined : status(403)))
  .post(
    '/todos',
    ({ body: { title, categoryId }, set, status }) => {
      const id = Number(add.run(title, categoryId).lastInsertRowid);
      set.headers.location = `/todos/${id}`;
      return status(201, { id, title, done: false, categoryId });
    },
    { body },
  )
  .put(
    '/todos/:id',
    ({ params: { id }, body: { title, done = false, categoryId }, status }) => {
      const { changes } = replace.run(title, done ? 1 : 0, categoryId, id);
      return status(changes === 1 ? 204 : 404);
    },
    { params, body },
  )
  .listen({ port: 0, hostname: '127.0.0.1' });
told.listening(app.server?.port);
