// https://hono.dev/docs/getting-started/nodejs, https://hono.dev/docs/middleware/builtin/jwt,
// https://hono.dev/docs/guides/validation
import { serve } from '@hono/node-server';
import { type Context, Hono, type Next } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { type JwtVariables, jwt } from 'hono/jwt';
import { validator } from 'hono/validator';
import { todos } from './better-sqlite3.ts';
import { isTodoBody, mayWrite, PROBLEM_JSON, problem } from './checks.ts';
import { algorithm, audience, host, importKey, issuer, port } from './settings.ts';

const app = new Hono<{ Variables: JwtVariables }>();

const send = (c: Context, status: 400 | 401 | 403 | 404) =>
  c.json(problem(status), status, { 'Content-Type': PROBLEM_JSON });

const requireEditor = async (c: Context, next: Next) => {
  if (!mayWrite(c.get('jwtPayload'))) return send(c, 403);
  await next();
};

const todoBody = validator('json', (value, c) => (isTodoBody(value) ? value : send(c, 400)));

// Matches `/todos` as well.
app.use(
  '/todos/*',
  jwt({ secret: await importKey(), alg: algorithm, verification: { iss: issuer, aud: audience } }),
);

app.get('/todos', (c) => c.json(todos.list()));

app.get('/todos/:id{-?[0-9]+}', (c) => {
  const todo = todos.find(Number(c.req.param('id')));
  return todo === undefined ? send(c, 404) : c.json(todo);
});

app.post('/todos', requireEditor, todoBody, (c) => {
  const { title, categoryId } = c.req.valid('json');
  const todo = todos.add(title, categoryId);
  c.header('Location', `/todos/${todo.id}`);
  return c.json(todo, 201);
});

app.put('/todos/:id{-?[0-9]+}', requireEditor, todoBody, (c) => {
  const { title, done = false, categoryId } = c.req.valid('json');
  return todos.replace(Number(c.req.param('id')), title, done, categoryId) ? c.body(null, 204) : send(c, 404);
});

app.notFound((c) => send(c, 404));
app.onError((error, c) =>
  error instanceof HTTPException ? error.getResponse() : c.text('Internal Server Error', 500),
);
serve({ fetch: app.fetch, port, hostname: host });
