import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { after, test } from 'node:test';
import { listen } from '../folder.ts';
import { startList } from '../operations/list.ts';
import { openWatched, startChromium } from './browser.ts';

const source = await readFile(new URL('../../client/src/client.ts', import.meta.url), 'utf8');
const script = stripTypeScriptTypes(source);

/** A page that has nothing but the client, on an origin of its own. */
const application = createServer((request, response) => {
  const isScript = request.url === '/client.js';
  response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' });
  response.end(isScript ? script : '<!doctype html><link rel="icon" href="data:,"><title>Todos</title>');
});
const origin = `http://127.0.0.1:${await listen(application)}`;
after(() => application.close());

const browser = await startChromium();
after(() => browser.close());

/** Runs with `baseUrl` and `token` in the page; its result is what the test sees. */
const VISIT = `
  const { createTodoClient, TodoProblem } = await import('/client.js');
  const client = createTodoClient({ baseUrl, token, retries: 0 });
  const problem = (error) => error instanceof TodoProblem ? [error.status, error.title] : [error.name, error.message];
  const { todo, etag } = await client.create({ title: 'Buy milk', categoryId: 2 }, { idempotencyKey: true });
  const read = await client.get(todo.id);
  const again = await client.get(todo.id);
  await client.replace(todo.id, { ...todo, done: true }, { ifMatch: etag });
  const stale = await client.remove(todo.id, { ifMatch: etag }).catch(problem);
  const invalid = await client.create({ title: '', categoryId: 2 }).catch(problem);
  const { todos } = await client.list();
  const missing = await client.get(77).catch(problem);
  return { todo, isTagged: typeof etag === 'string', same: read.todo === again.todo, stale, invalid, todos, missing };
`;

test('an application of an allowed origin reads and writes with the client', async () => {
  await using list = await startList({ env: { TODO_CORS_ORIGINS: origin } });
  await using watched = await openWatched(browser, origin);
  const todo = { id: 1, title: 'Buy milk', done: false, categoryId: 2 };
  const seen = await watched.page.evaluate(
    `(async (baseUrl, token) => {${VISIT}})(${JSON.stringify(list.url)}, ${JSON.stringify(list.editor)})`,
  );
  assert.deepEqual(seen, {
    todo,
    isTagged: true,
    same: true,
    stale: [412, 'Precondition Failed'],
    invalid: [400, 'One or more validation errors occurred.'],
    todos: [{ ...todo, done: true }],
    missing: [404, 'Not Found'],
  });
});

test('an application of another origin gets a TodoError without a status', async () => {
  await using list = await startList({ env: { TODO_CORS_ORIGINS: 'https://app.example' } });
  await using watched = await openWatched(browser, origin);
  const seen = await watched.page.evaluate(
    `(async (baseUrl) => {
      const { createTodoClient, TodoError } = await import('/client.js');
      const error = await createTodoClient({ baseUrl, retries: 0 }).list().catch((failure) => failure);
      return [error instanceof TodoError, error.message, error.status === undefined];
    })(${JSON.stringify(list.url)})`,
  );
  assert.deepEqual(seen, [true, 'GET /todos got no answer', true]);
});
