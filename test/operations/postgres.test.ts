import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { cases } from '../cases.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { fuzz } from './fuzz.ts';
import { startList } from './list.ts';
import { parseExposition, valuesOf } from './prometheus.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

test('generated requests on PostgreSQL: every answer is as the document says, and leaks nothing', async () => {
  const database = await server.makeDatabase();
  const counts = await fuzz({ profile: 'shared-list', runs: cases(600, 1_000), seed: 20261121, database });
  for (const status of [200, 201, 204, 400, 401, 403, 404, 405, 413, 415, 422]) {
    assert.ok(counts.has(status), `no ${status} among the answers`);
  }
});

test('the pool and the operations of PostgreSQL are measured, and no write-ahead log of SQLite', async () => {
  const database = await server.makeDatabase();
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0', TODO_DATABASE: database } });
  const headers = { authorization: `Bearer ${list.reader}` };
  for (const path of ['/todos', '/todos/1']) await fetch(list.url + path, { headers });
  const exposition = parseExposition(await (await fetch(`${list.adminUrl}/metrics`)).text());
  const labels = { db_system_name: 'postgresql', db_operation_name: 'list', error_type: '' };
  assert.deepEqual(valuesOf(exposition, 'db_client_operation_duration_seconds_count', labels), [1]);
  const connections = valuesOf(exposition, 'db_client_connections');
  assert.ok(connections.reduce((sum, count) => sum + count, 0) >= 1);
  assert.deepEqual(valuesOf(exposition, 'db_client_connection_pending_requests'), [0]);
  assert.deepEqual(valuesOf(exposition, 'todo_database_wal_size_bytes'), []);
});

test('a scrape does not wait for the size of the tables, and has none before the server said it', async () => {
  const database = await server.makeDatabase();
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0', TODO_DATABASE: database } });
  const scrape = async () => parseExposition(await (await fetch(`${list.adminUrl}/metrics`)).text());
  const sizes = async () => valuesOf(await scrape(), 'todo_database_size_bytes');
  await using lock = await server.lock(database, 'LOCK TABLE todos');
  assert.deepEqual(await sizes(), []);
  await server.somebodyWaits(database);
  assert.deepEqual(await sizes(), []);
  await lock[Symbol.asyncDispose]();
  while ((await sizes()).length === 0) await pause(20);
  const sum = `SELECT sum(pg_total_relation_size(c.oid)) AS bytes FROM pg_class AS c
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`;
  const [row] = await server.execute(database, sum);
  assert.deepEqual(await sizes(), [Number(row?.bytes)]);
  assert.deepEqual(valuesOf(await scrape(), 'todo_cache_size_bytes'), []);
});

test('each acknowledged write to PostgreSQL leaves one line about its todo', async () => {
  await using list = await startList({ env: { TODO_DATABASE: await server.makeDatabase() } });
  const headers = { authorization: `Bearer ${list.editor}`, 'content-type': 'application/json' };
  const body = '{"title":"a","categoryId":1}';
  const created = await Promise.all(
    Array.from({ length: 40 }, () => fetch(`${list.url}/todos`, { method: 'POST', headers, body })),
  );
  const paths = created.map((reply) => String(reply.headers.get('location')));
  for (const [method, status] of [
    ['PUT', 204],
    ['DELETE', 204],
    ['DELETE', 404],
  ] as const) {
    const sent = { method, headers, ...(method === 'PUT' ? { body } : {}) };
    const replies = await Promise.all(paths.map((path) => fetch(list.url + path, sent)));
    assert.ok(replies.every((reply) => reply.status === status));
  }
  const lines = list.log.map((line) => JSON.parse(line)).filter(({ event }) => event.startsWith('todo-'));
  const said = lines.map(({ event, id }) => `${event} /todos/${id}`);
  const expected = ['created', 'replaced', 'deleted'].flatMap((done) =>
    paths.map((path) => `todo-${done} ${path}`),
  );
  assert.deepEqual(said.sort(), expected.sort());
});

test('D9 · a server without a connection to spare gives a 503 that says when to come back, and then all is well', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await using list = await startList({ env: { TODO_DATABASE: url } });
  const ask = (method: string, body?: string) =>
    fetch(`${list.url}/todos`, {
      method,
      headers: { authorization: `Bearer ${list.editor}`, 'content-type': 'application/json' },
      ...(body && { body }),
    });
  await server.limitConnections(owner, 0);
  for (const reply of [await ask('GET'), await ask('POST', '{"title":"a","categoryId":1}')]) {
    assert.equal(reply.status, 503);
    assert.equal(reply.headers.get('retry-after'), '1');
    assert.equal(((await reply.json()) as { title: string }).title, 'Service Unavailable');
  }
  assert.match(list.log.join(''), /"reason":"No connection to the database: too many connections for role/);
  assert.doesNotMatch(list.log.join(''), /password/);
  await server.limitConnections(owner, -1);
  assert.deepEqual(await (await ask('GET')).json(), []);
  assert.equal((await ask('POST', '{"title":"a","categoryId":1}')).status, 201);
});

test('D9 · a write whose outcome nobody knows is a 503 without Retry-After that says so', async () => {
  const database = await server.makeDatabase();
  await using list = await startList({ env: { TODO_DATABASE: database } });
  const headers = { authorization: `Bearer ${list.editor}`, 'content-type': 'application/json' };
  const body = '{"title":"Buy milk","categoryId":1}';
  assert.equal((await fetch(`${list.url}/todos`, { method: 'POST', headers, body })).status, 201);
  await using _lock = await server.lock(database);
  const write = fetch(`${list.url}/todos/1`, { method: 'DELETE', headers });
  await server.somebodyWaits(database);
  await server.terminate(database);
  const reply = await write;
  assert.equal(reply.headers.get('retry-after'), null);
  const { traceId, ...problem } = (await reply.json()) as Record<string, unknown>;
  assert.deepEqual(problem, {
    type: 'https://tools.ietf.org/html/rfc9110#section-15.6.4',
    title: 'Service Unavailable',
    status: 503,
    detail: 'It is unknown whether the change was made. Read before repeating it.',
  });
  const lines = list.log.map((line) => JSON.parse(line)).filter((line) => line.traceId === traceId);
  assert.deepEqual(
    lines.map(({ level, event, reason }) => [level, event, typeof reason]),
    [
      [30, 'todo-outcome-unknown', 'undefined'],
      [40, 'outcome-unknown', 'string'],
    ],
  );
});

test('/ready turns while the database is away, and the log says so once', async () => {
  await using leaving = await PostgresServer.start();
  const database = await leaving.makeDatabase();
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0', TODO_DATABASE: database } });
  assert.equal((await fetch(`${list.adminUrl}/ready`)).status, 200);
  await leaving.stop();
  let reply = await fetch(`${list.adminUrl}/ready`);
  while (reply.status === 200) {
    await pause(20);
    reply = await fetch(`${list.adminUrl}/ready`);
  }
  assert.equal(reply.status, 503);
  assert.match(((await reply.json()) as { detail: string }).detail, /^The database does not answer/);
  assert.equal((await fetch(`${list.adminUrl}/live`)).status, 200);
  assert.equal((await fetch(`${list.adminUrl}/ready`)).status, 503);
  await leaving.startAgain();
  while ((await fetch(`${list.adminUrl}/ready`)).status !== 200) await pause(20);
  const turns = list.log.map((line) => JSON.parse(line).event).filter((event) => /ready/.test(event));
  assert.deepEqual(turns, ['not-ready', 'ready']);
});

test('/ready says that the database takes no writes', async () => {
  await using reading = await PostgresServer.start();
  const database = await reading.makeDatabase();
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0', TODO_DATABASE: database } });
  assert.equal((await fetch(`${list.adminUrl}/ready`)).status, 200);
  await reading.set('default_transaction_read_only', 'on');
  let reply = await fetch(`${list.adminUrl}/ready`);
  while (reply.status === 200) reply = await fetch(`${list.adminUrl}/ready`);
  const { detail } = (await reply.json()) as { detail: string };
  assert.equal(detail, 'The database takes no writes: it is read-only or a standby.');
  const read = await fetch(`${list.url}/todos`, { headers: { authorization: `Bearer ${list.reader}` } });
  assert.equal(read.status, 503);
  assert.equal(read.headers.get('retry-after'), '1');
  await reading.set('default_transaction_read_only', undefined);
  while ((await fetch(`${list.adminUrl}/ready`)).status !== 200) await pause(20);
});

test('D11 · what needs a table that is gone is a 503 without Retry-After, not ready, and one line in the log', async () => {
  const database = await server.makeDatabase();
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0', TODO_DATABASE: database } });
  const headers = { authorization: `Bearer ${list.editor}`, 'content-type': 'application/json' };
  const create = (key: Record<string, string> = {}) =>
    fetch(`${list.url}/todos`, {
      method: 'POST',
      headers: { ...headers, ...key },
      body: '{"title":"a","categoryId":1}',
    });
  await server.execute(database, 'ALTER TABLE idempotency_keys RENAME TO kept');
  for (let time = 0; time < 3; time += 1) {
    const reply = await create({ 'idempotency-key': 'abc' });
    const { traceId: _traceId, ...problem } = (await reply.json()) as Record<string, unknown>;
    assert.equal(reply.headers.get('retry-after'), null);
    assert.deepEqual(problem, {
      type: 'https://tools.ietf.org/html/rfc9110#section-15.6.4',
      title: 'Service Unavailable',
      status: 503,
    });
  }
  assert.equal((await create()).status, 201);
  assert.equal((await fetch(`${list.url}/todos`, { headers })).status, 200);
  const ready = await fetch(`${list.adminUrl}/ready`);
  assert.equal(ready.status, 503);
  assert.equal(
    ((await ready.json()) as { detail: string }).detail,
    'The database does not answer as it should: its table "idempotency_keys" is missing.',
  );
  await server.execute(database, 'ALTER TABLE kept RENAME TO idempotency_keys');
  while ((await fetch(`${list.adminUrl}/ready`)).status !== 200) await pause(20);
  assert.equal((await create({ 'idempotency-key': 'abc' })).status, 201);
  const lines = list.log.map((line) => JSON.parse(line));
  const others = /^todo-|ready$|^schema-migrated$/;
  const told = lines.filter(({ event }) => !others.test(event));
  assert.deepEqual(
    told.map(({ event, level, reason }) => ({ event, level, reason })),
    [
      { event: 'schema-broken', level: 50, reason: 'its table "idempotency_keys" is missing' },
      { event: 'schema-mended', level: 30, reason: undefined },
    ],
  );
});

test('TODO_DATABASE_CONNECTIONS is how many connections todos have at the most', async () => {
  const database = await server.makeDatabase();
  const env = { TODO_DATABASE: database, TODO_DATABASE_CONNECTIONS: '2' };
  await using list = await startList({ env });
  const headers = { authorization: `Bearer ${list.editor}`, 'content-type': 'application/json' };
  const body = '{"title":"Buy milk","categoryId":1}';
  const replies = await Promise.all(
    Array.from({ length: 12 }, () => fetch(`${list.url}/todos`, { method: 'POST', headers, body })),
  );
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [201]);
  assert.equal((await server.backends(database)).length, 2);
});
