import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { header, json, type Reply } from '../../packages/conformance/src/http.ts';
import { assertProblem } from '../../packages/conformance/src/problem.ts';
import { makeTodo } from '../../packages/conformance/src/target.ts';
import { fuzz } from '../http/fuzz.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { cases } from '../support/cases.ts';
import { type List, startList } from '../support/list.ts';
import { scrape, valuesOf } from '../support/prometheus.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

const MILK = { title: 'Buy milk', categoryId: 1 };

/** A list on this database, with an admin listener. */
function startOn(database: string, env: Readonly<Record<string, string>> = {}): Promise<List> {
  return startList({ env: { TODO_ADMIN_PORT: '0', TODO_DATABASE: database, ...env } });
}

/** The sentence that says why a list is not ready, as soon as it is not. A busy machine may be late, which is none. */
async function notReady({ adminUrl }: List): Promise<string> {
  for (;;) {
    const reply = await fetch(`${adminUrl}/ready`);
    const { detail } = (await reply.json()) as { detail: string };
    if (reply.status === 503 && detail !== 'The database does not answer in time.') return detail;
    await pause(20);
  }
}

async function becomesReady({ adminUrl }: List): Promise<void> {
  while ((await fetch(`${adminUrl}/ready`)).status !== 200) await pause(20);
}

/** A list that has a connection: a busy machine may take longer to open one than a request waits. */
async function startConnected(database: string): Promise<List> {
  const list = await startOn(database);
  await becomesReady(list);
  return list;
}

/** The answer to a read as soon as there is one, for the same reason. */
async function read(list: List, path: string): Promise<Reply> {
  for (;;) {
    const reply = await list.send(`GET ${path}`);
    if (reply.status !== 503) return reply;
  }
}

test('generated requests on PostgreSQL: every answer is as the document says, and leaks nothing', async () => {
  const database = await server.makeDatabase();
  const counts = await fuzz({ profile: 'shared-list', runs: cases(600, 1_000), seed: 20261121, database });
  for (const status of [200, 201, 204, 400, 401, 403, 404, 405, 413, 415, 422]) {
    assert.ok(counts.has(status), `no ${status} among the answers`);
  }
});

test('the pool and the operations of PostgreSQL are measured, and no write-ahead log of SQLite', async () => {
  await using list = await startOn(await server.makeDatabase());
  for (const path of ['/todos', '/todos/1']) await read(list, path);
  const exposition = await scrape(list.adminUrl);
  const labels = { db_system_name: 'postgresql', db_operation_name: 'list', error_type: '' };
  assert.deepEqual(valuesOf(exposition, 'db_client_operation_duration_seconds_count', labels), [1]);
  const connections = valuesOf(exposition, 'db_client_connection_count');
  assert.ok(connections.reduce((sum, count) => sum + count, 0) >= 1);
  assert.deepEqual(valuesOf(exposition, 'db_client_connection_pending_requests'), [0]);
  assert.deepEqual(valuesOf(exposition, 'todo_database_wal_size_bytes'), []);
});

test('a scrape does not wait for the size of the tables, and has none before the server said it', async () => {
  const database = await server.makeDatabase();
  await using list = await startOn(database);
  const sizes = async () => valuesOf(await scrape(list.adminUrl), 'todo_database_size_bytes');
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
  assert.deepEqual(valuesOf(await scrape(list.adminUrl), 'todo_cache_size_bytes'), []);
});

test('each acknowledged write to PostgreSQL leaves one line about its todo', async () => {
  await using list = await startConnected(await server.makeDatabase());
  // Five at a time, fewer than the service has connections: none waits long for one.
  const makeEight = async () => {
    const made: string[] = [];
    while (made.length < 8) made.push(`/todos/${(await makeTodo(list.target)).id}`);
    return made;
  };
  const five = await Promise.all(Array.from({ length: 5 }, makeEight));
  const paths = five.flat();
  for (const [method, status] of [
    ['PUT', 204],
    ['DELETE', 204],
    ['DELETE', 404],
  ] as const) {
    const sent = method === 'PUT' ? { json: MILK } : {};
    const one = async (own: readonly string[]) => {
      for (const path of own) assert.equal((await list.send(`${method} ${path}`, sent)).status, status);
    };
    await Promise.all(five.map(one));
  }
  const said = list.lines(/^todo-/).map(({ event, id }) => `${event} /todos/${id}`);
  const expected = ['created', 'replaced', 'deleted'].flatMap((done) =>
    paths.map((path) => `todo-${done} ${path}`),
  );
  assert.deepEqual(said.sort(), expected.sort());
});

test('while another instance has the key under way, a create is a 409 that says when to repeat it [I3]', async () => {
  const database = await server.makeDatabase();
  await using list = await startConnected(database);
  const create = () => list.send('POST /todos', { json: MILK, headers: { 'Idempotency-Key': 'a' } });
  const key = hash('sha256', '["https://issuer.example","test","a"]', 'base64url');
  const body = hash('sha256', '["Buy milk",1]', 'base64url');
  const other = new Client(database);
  await other.connect();
  await other.query('BEGIN');
  await other.query('INSERT INTO idempotency_keys (key, body, todo_id) VALUES ($1, $2, 7)', [key, body]);
  const problem = { title: 'Request In Progress', headers: { 'retry-after': '1' } };
  assertProblem(await create(), 409, problem);
  await other.query('COMMIT');
  await other.end();
  const again = await create();
  assert.equal(again.status, 201);
  assert.equal(header(again, 'location'), '/todos/7');
});

test('a server without a connection to spare gives a 503 that says when to come back, and then all is well [D9]', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await using list = await startOn(url);
  await server.limitConnections(owner, 0);
  const refused = /"reason":"No connection to the database: too many connections for role/;
  // A busy machine may be later to say so than a request waits, which is a 503, too.
  do {
    for (const reply of [await list.send('GET /todos'), await list.send('POST /todos', { json: MILK })]) {
      assertProblem(reply, 503, { headers: { 'retry-after': '1' } });
    }
  } while (!refused.test(list.log.join('')));
  assert.doesNotMatch(list.log.join(''), /password/);
  await server.limitConnections(owner, -1);
  await becomesReady(list);
  assert.deepEqual(json(await read(list, '/todos')), []);
  await makeTodo(list.target);
});

/** A 503 after which nobody knows when to come back. */
function assertLasting(reply: Reply, detail?: string) {
  return assertProblem(reply, 503, { headers: { 'retry-after': undefined }, ...(detail && { detail }) });
}

test('a write whose outcome nobody knows is a 503 without Retry-After that says so, and a line of the audit [D9]', async () => {
  const database = await server.makeDatabase();
  await using list = await startConnected(database);
  const { id } = await makeTodo(list.target);
  await server.execute(
    database,
    `CREATE FUNCTION terminate() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN OLD; END $$;
    CREATE TRIGGER terminate BEFORE DELETE ON todos FOR EACH ROW EXECUTE FUNCTION terminate()`,
  );
  const detail = 'It is unknown whether the change was made. Read before repeating it.';
  const { traceId } = assertLasting(await list.send(`DELETE /todos/${id}`), detail);
  assert.deepEqual(
    list
      .lines(/./)
      .filter((line) => line.traceId === traceId)
      .map(({ level, event, reason, id, subject, name }) => [level, event, typeof reason, id, subject, name]),
    [
      [30, 'todo-outcome-unknown', 'undefined', id, 'test', 'ada'],
      [40, 'outcome-unknown', 'string', undefined, undefined, undefined],
    ],
  );
});

test('what needs a table that is gone is a 503 without Retry-After, not ready, and one line in the log [D11]', async () => {
  const database = await server.makeDatabase();
  await using list = await startConnected(database);
  const repeatable = { json: MILK, headers: { 'Idempotency-Key': 'abc' } };
  await server.execute(database, 'ALTER TABLE idempotency_keys RENAME TO kept');
  for (let time = 0; time < 3; time += 1) assertLasting(await list.send('POST /todos', repeatable));
  await makeTodo(list.target);
  assert.equal((await read(list, '/todos')).status, 200);
  const reason = 'its table "idempotency_keys" is missing';
  assert.equal(await notReady(list), `The database does not answer as it should: ${reason}.`);
  await server.execute(database, 'ALTER TABLE kept RENAME TO idempotency_keys');
  await becomesReady(list);
  assert.equal((await list.send('POST /todos', repeatable)).status, 201);
  assert.deepEqual(
    list
      .lines(/^(?!todo-|.*ready$|schema-migrated$)/)
      .map(({ event, level, reason }) => ({ event, level, reason })),
    [
      { event: 'schema-broken', level: 50, reason },
      { event: 'schema-mended', level: 30, reason: undefined },
    ],
  );
});

test('what needs a damaged page is a 503 with the reason of the server, not ready, until the page is whole [D9]', async () => {
  const database = await server.makeDatabase();
  await using list = await startConnected(database);
  const { id } = await makeTodo(list.target);
  const [row] = await server.execute(database, "SELECT pg_relation_filepath('todos') AS path");
  const path = `${row?.path}`;
  await server.stop();
  const file = join(server.dataFolder, path);
  const whole = readFileSync(file);
  // The head of the first page; a page of zeros would be an empty one.
  writeFileSync(file, Buffer.concat([Buffer.alloc(24, 0xff), whole.subarray(24)]));
  await server.startAgain();
  const reason = `invalid page in block 0 of relation "${path}"`;
  assert.equal(await notReady(list), `The database does not answer as it should: ${reason}.`);
  assertProblem(await list.send(`GET /todos/${id}`), 503, { headers: { 'retry-after': '1' } });
  assert.deepEqual(list.lines(/^crash$/), []);
  await server.stop();
  writeFileSync(file, whole);
  await server.startAgain();
  await becomesReady(list);
  assert.equal((await read(list, `/todos/${id}`)).status, 200);
});

test('TODO_DATABASE_CONNECTIONS is how many connections todos have at the most', async () => {
  const database = await server.makeDatabase();
  await using list = await startOn(database, { TODO_DATABASE_CONNECTIONS: '2' });
  await using lock = await server.lock(database, 'LOCK TABLE todos');
  let locked = true;
  // On a slow machine some are refused meanwhile, and lose their connections: they ask again.
  const client = async () => {
    do await list.send('POST /todos', { json: MILK });
    while (locked);
  };
  const clients = Promise.all(Array.from({ length: 12 }, client));
  // The lock has one too.
  while ((await server.backends(database)).length < 3) await pause(10);
  locked = false;
  await lock[Symbol.asyncDispose]();
  await clients;
  const { length } = await server.backends(database);
  assert.ok(length <= 2, `${length} connections`);
});

const takeWrites = () => server.set('default_transaction_read_only', undefined);

test('/ready says that the database takes no writes', async () => {
  await using list = await startOn(await server.makeDatabase());
  await becomesReady(list);
  await using _reset = { [Symbol.asyncDispose]: takeWrites };
  await server.set('default_transaction_read_only', 'on');
  assert.equal(await notReady(list), 'The database takes no writes: it is read-only or a standby.');
  assertProblem(await list.send('GET /todos'), 503, { headers: { 'retry-after': '1' } });
  await takeWrites();
  await becomesReady(list);
});

test('/ready turns while the database is away, and the log has each reason once', async () => {
  await using list = await startOn(await server.makeDatabase());
  await becomesReady(list);
  const before = list.lines(/ready/).length;
  await server.stop();
  assert.match(await notReady(list), /^The database does not answer/);
  assert.equal((await fetch(`${list.adminUrl}/live`)).status, 200);
  assert.equal((await fetch(`${list.adminUrl}/ready`)).status, 503);
  await server.startAgain();
  await becomesReady(list);
  const since = list.lines(/ready/).slice(before);
  const reasons = new Set(since.slice(0, -1).map(({ reason }) => reason));
  assert.deepEqual(
    since.map(({ event, reason }) => ({ event, reason })),
    [
      ...Array.from(reasons, (reason) => ({ event: 'not-ready', reason })),
      { event: 'ready', reason: undefined },
    ],
  );
});
