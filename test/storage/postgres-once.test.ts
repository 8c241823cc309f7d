import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { Client } from 'pg';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { OutcomeUnknown } from '../../src/store/store.ts';
import { todo } from '../todo.ts';
import { once } from './contract-once.ts';
import { PostgresServer } from './postgres-server.ts';
import { listed, newTodo } from './todos.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

const standbyIsBack = () => server.set('synchronous_standby_names', undefined);
afterEach(standbyIsBack);

const MILK = newTodo('milk', 2);
const IMPATIENT = { patienceMs: 50 };

/** A transaction of somebody else, that is under way until it is ended. */
async function begin(url: string, sql: string) {
  const client = new Client(url);
  await client.connect();
  await client.query(`BEGIN; ${sql}`);
  return {
    end: (how: 'COMMIT' | 'ROLLBACK') => client.query(how),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

const USED = "INSERT INTO idempotency_keys (key, body, todo_id) VALUES ('a', 'milk', 7)";

test('I3 · a key that another instance has under way is waited for no longer than told, and nothing is made', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url);
  await using _other = await begin(url, USED);
  assert.equal(await store.add(MILK, { ...once('a'), ...IMPATIENT }), 'in-progress');
  assert.deepEqual(await listed(store), []);
  assert.deepEqual(store.connections?.(), { used: 0, idle: 1, waiting: 0 });
});

test('I3 · a create that waited gives what the other instance made', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url);
  await using other = await begin(url, USED);
  const outcome = store.add(MILK, once('a'));
  await server.somebodyWaits(url);
  await other.end('COMMIT');
  const added = await outcome;
  assert.ok(typeof added === 'object' && 'repeated' in added);
  assert.equal(added.repeated.json, JSON.stringify(todo(7, 'milk', false, 2)));
  assert.deepEqual(await listed(store), []);
});

test('I3, I6 · a create that waited makes the todo when the other one was undone', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url);
  await using other = await begin(url, USED);
  const outcome = store.add(MILK, once('a'));
  await server.somebodyWaits(url);
  await other.end('ROLLBACK');
  assert.equal(typeof (await outcome), 'object');
  assert.equal((await listed(store)).length, 1);
});

test('I3 · a wait for something else than the key is no create under way', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url);
  await using _other = await begin(url, 'SELECT FROM categories FOR UPDATE');
  await assert.rejects(store.add(MILK, { ...once('a'), ...IMPATIENT }), { name: 'StoreUnavailable' });
});

test('I3 · the limit for locks is that of one statement, and not of the connection', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url, { connections: 1 });
  await store.add(MILK, { ...once('a'), ...IMPATIENT });
  await store.add(MILK, { ...once('a'), ...IMPATIENT });
  await using lock = await server.lock(url);
  const removal = store.remove(1);
  await server.somebodyWaits(url);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await lock[Symbol.asyncDispose]();
  assert.equal(await removal, 'removed');
});

test('I2 · a key that no standby knows of is not given back as made', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url);
  const isUnknown = (number: number): Promise<boolean> =>
    store.add(MILK, once(`key ${number}`)).then(
      () => false,
      (error: unknown) => error instanceof OutcomeUnknown,
    );
  await server.set('synchronous_standby_names', 'gone');
  // The server takes up the setting a moment later, and takes it back a moment later.
  let last = 0;
  while (!(await isUnknown(last))) last += 1;
  assert.equal(await isUnknown(last), true);
  await standbyIsBack();
  while (await isUnknown(last));
  assert.equal((await listed(store)).length, last + 1);
});

test('I2 · of keys whose time is over, those that somebody else is removing keep no other from going', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url);
  for (const key of ['first', 'second', 'third']) await store.add(MILK, once(key));
  await server.execute(url, "UPDATE idempotency_keys SET at = at - interval '24 hours'");
  await using _other = await begin(url, "DELETE FROM idempotency_keys WHERE key = 'first'");
  await store.add(MILK, once('a'));
  await sweepEnds(url, ['a', 'first']);
});

test('I2 · a sweep goes on where the last one ended, and leaves no key behind', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url);
  await server.execute(
    url,
    `INSERT INTO idempotency_keys SELECT 'old ' || n, 'milk', n, now() - interval '25 hours' + (n % 3) * interval '1 minute'
      FROM generate_series(1, 100) AS n`,
  );
  const added: string[] = [];
  for (let key = 0; key < 50; key += 1) {
    await store.add(MILK, once(`new ${key}`));
    added.push(`new ${key}`);
  }
  await sweepEnds(url, added.toSorted());
});

/** Resolves when these keys are left. A sweep ends after the answer. */
async function sweepEnds(url: string, wanted: readonly string[]): Promise<void> {
  let left: readonly unknown[] = [];
  for (let looks = 0; looks < 100; looks += 1) {
    left = (await server.execute(url, 'SELECT key FROM idempotency_keys ORDER BY key')).map(({ key }) => key);
    if (left.length === wanted.length) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.deepEqual(left, wanted);
}
