import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPatient, openPostgresStore, patientBut } from '../../../test/storage/postgres-pool.ts';
import { PostgresServer } from '../../../test/storage/postgres-server.ts';
import { listed, newTodo, once } from '../../../test/storage/todos.ts';
import { todo } from '../../../test/support/todo.ts';
import { represent } from '../../shared-list/members.ts';
import { OutcomeUnknown, type TodoStore } from '../../shared-list/store.ts';

const server = await PostgresServer.startForAll();

const MILK = newTodo('milk', 2);
const IMPATIENT = { patienceMs: 50 };

const USED = "INSERT INTO idempotency_keys (key, body, todo_id) VALUES ('a', 'milk', 7)";

test('a key that another instance has under way is waited for no longer than told, and nothing is made [I3]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url);
  await using _other = await server.lock(url, USED);
  assert.equal(await store.add(MILK, { ...once('a'), ...IMPATIENT }), 'in-progress');
  assert.deepEqual(await listed(store), []);
  await sweepEnds(store);
  assert.deepEqual(store.connections?.(), { used: 0, idle: 1, waiting: 0 });
});

test('a create that waited gives what the other instance made [I3]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url);
  await using other = await server.session(url, `BEGIN; ${USED}`);
  const outcome = store.add(MILK, once('a'));
  await server.somebodyWaits(url);
  await other.query('COMMIT');
  const added = await outcome;
  assert.ok(typeof added === 'object' && 'repeated' in added);
  assert.equal(added.repeated.json, JSON.stringify(todo(7, 'milk', false, 2)));
  assert.deepEqual(await listed(store), []);
});

test('a create that waited makes the todo when the other one was undone [I3; I6]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url);
  await using other = await server.session(url, `BEGIN; ${USED}`);
  const outcome = store.add(MILK, once('a'));
  await server.somebodyWaits(url);
  await other.query('ROLLBACK');
  assert.equal(typeof (await outcome), 'object');
  assert.equal((await listed(store)).length, 1);
});

test('a wait for something else than the key is no create under way [I3]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url, patientBut('statementMs'));
  await using _other = await server.lock(url, 'SELECT FROM categories FOR UPDATE');
  await assert.rejects(store.add(MILK, { ...once('a'), ...IMPATIENT }), { name: 'StoreUnavailable' });
});

test('where a role has a limit for locks, a table that somebody locks is no create under way [I3]', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await server.execute(server.url, `ALTER ROLE ${owner} SET lock_timeout = '50ms'`);
  await using store = await openPostgresStore(url, patientBut('statementMs'));
  await using _other = await server.lock(url, 'LOCK TABLE todos');
  await assert.rejects(store.add(MILK, once('a')), {
    name: 'StoreUnavailable',
    message: /statement timeout/,
  });
});

test('the limit for locks is that of one statement, and not of the connection [I3]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url, { connections: 1 });
  await store.add(MILK, { ...once('a'), ...IMPATIENT });
  await store.add(MILK, { ...once('a'), ...IMPATIENT });
  await using lock = await server.lock(url);
  const removal = store.remove(1);
  await server.somebodyWaits(url);
  await sleep(100);
  await lock[Symbol.asyncDispose]();
  assert.equal(await removal, 'removed');
});

test('a key that no standby knows of is not given back as made: the answer waits for the standby, too [I2]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url);
  {
    await using _gone = await server.loseStandby(url);
    for (let time = 0; time < 2; time += 1) {
      const outcome = store.add(MILK, once('a'));
      await server.cancelWaitsDuring(url, outcome);
      await assert.rejects(outcome, OutcomeUnknown);
    }
  }
  const repeated = { repeated: represent({ id: 1, ...MILK }) };
  assert.deepEqual(await store.add(MILK, once('a')), repeated);
});

test('of keys whose time is over, those that somebody else is removing keep no other from going [I2]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url);
  await server.execute(
    url,
    `INSERT INTO idempotency_keys SELECT key, 'milk', 1, now() - interval '25 hours'
      FROM unnest(ARRAY['first', 'second', 'third']) AS key`,
  );
  await using _other = await server.lock(url, "DELETE FROM idempotency_keys WHERE key = 'first'");
  await store.add(MILK, once('a'));
  await sweepEnds(store);
  assert.deepEqual(await keysOf(url), ['a', 'first']);
});

test('a sweep goes on where the last one ended, and leaves no key behind [I2]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url);
  await server.execute(
    url,
    `INSERT INTO idempotency_keys SELECT 'old ' || n, 'milk', n, now() - interval '25 hours' + (n % 3) * interval '1 minute'
      FROM generate_series(1, 100) AS n`,
  );
  const added: string[] = [];
  for (let key = 0; key < 10; key += 1) {
    await store.add(MILK, once(`new ${key}`));
    added.push(`new ${key}`);
    await sweepEnds(store);
  }
  assert.deepEqual(await keysOf(url), added);
});

/** A sweep begins with the answer of a create, and ends after it. */
async function sweepEnds(store: TodoStore): Promise<void> {
  while (store.connections?.().used !== 0) await sleep(1);
}

async function keysOf(url: string): Promise<readonly unknown[]> {
  return (await server.execute(url, 'SELECT key FROM idempotency_keys ORDER BY key')).map(({ key }) => key);
}
