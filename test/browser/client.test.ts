import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { run } from '../../tools/command.ts';
import { startProxy } from '../client/proxy.ts';
import { listen, temporaryFolder } from '../support/folder.ts';
import { startList } from '../support/list.ts';
import { openWatched, startChromium } from './browser.ts';

await using folder = await temporaryFolder();
run('node_modules/.bin/tsc', '--project', 'packages/client', '--outDir', folder.path);
const script = await readFile(`${folder.path}/client.js`, 'utf8');

/** Of requests below `/api`, which nobody answers but with a login. */
const mounted: string[] = [];

/** A page that has nothing but the client, on an origin of its own. */
const application = createServer((request, response) => {
  if (request.url?.startsWith('/api/')) {
    mounted.push(`${request.method} ${request.url}`);
    response.writeHead(302, { Location: '/login' }).end();
    return;
  }
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
  const headers = { Authorization: 'Bearer ' + token, 'X-Request-Id': '1', baggage: 'a=b' };
  const { status, headers: seen } = await fetch(baseUrl + '/nope', { method: 'PUT', headers });
  const strange = [status, seen.get('vary')];
  return { todo, isTagged: typeof etag === 'string', same: read.todo === again.todo, stale, invalid, todos, missing, strange };
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
    strange: [404, 'Accept, Origin'],
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

test('across origins an unchanged list costs one preflight, and is read from the cache of the browser', async () => {
  await using list = await startList({ env: { TODO_CORS_ORIGINS: origin } });
  await using proxy = await startProxy(list.url);
  await using watched = await openWatched(browser, origin);
  const same = await watched.page.evaluate(
    `(async (baseUrl, token) => {
      const { createTodoClient } = await import('/client.js');
      const client = createTodoClient({ baseUrl, token });
      const lists = [];
      for (let read = 0; read < 20; read += 1) lists.push((await client.list()).todos);
      return lists.every((todos) => todos === lists[0]);
    })(${JSON.stringify(proxy.url)}, ${JSON.stringify(list.editor)})`,
  );
  assert.equal(same, true);
  assert.deepEqual(
    proxy.seen.map(({ line }) => line),
    ['OPTIONS /todos 204', 'GET /todos 200', ...Array.from({ length: 19 }, () => 'GET /todos 304')],
  );
});

test('across origins creates have one preflight together, and a change with a tag has one each time', async () => {
  await using list = await startList({ env: { TODO_CORS_ORIGINS: origin } });
  await using proxy = await startProxy(list.url);
  await using watched = await openWatched(browser, origin);
  await watched.page.evaluate(
    `(async (baseUrl, token) => {
      const { createTodoClient } = await import('/client.js');
      const client = createTodoClient({ baseUrl, token: () => token });
      const milk = { title: 'Buy milk', categoryId: 2 };
      for (let made = 0; made < 3; made += 1) await client.create(milk, { idempotencyKey: true });
      for (let changed = 0; changed < 2; changed += 1) {
        const { todo, etag } = await client.get(1);
        await client.replace(1, { ...todo, title: 'Buy ' + changed }, { ifMatch: etag });
      }
    })(${JSON.stringify(proxy.url)}, ${JSON.stringify(list.editor)})`,
  );
  assert.deepEqual(
    proxy.seen.map(({ line }) => line),
    [
      ...['OPTIONS /todos 204', 'POST /todos 201', 'POST /todos 201', 'POST /todos 201'],
      ...['OPTIONS /todos/1 204', 'GET /todos/1 200', 'OPTIONS /todos/1 204', 'PUT /todos/1 204'],
      ...['GET /todos/1 200', 'OPTIONS /todos/1 204', 'PUT /todos/1 204'],
    ],
  );
});

test('a page reads the service below a path of its own, and a redirect to a login is an error that is not repeated', async () => {
  await using watched = await openWatched(browser, origin);
  const seen = await watched.page.evaluate(
    `(async () => {
      const { createTodoClient } = await import('/client.js');
      const { name, status, message } = await createTodoClient({ baseUrl: '/api' }).list().catch((error) => error);
      return [name, status, message];
    })()`,
  );
  assert.deepEqual(seen, ['TodoError', 0, '0 is a redirect, which the service never gives']);
  assert.deepEqual(mounted, ['GET /api/todos']);
});
