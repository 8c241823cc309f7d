import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Event } from '../../src/events.ts';
import { StoreNotWritable, StoreUnavailable, type TodoStore } from '../../src/shared-list/store.ts';
import { todo } from '../support/todo.ts';
import { openPatient, openPostgresStore, PATIENT, patientBut } from './postgres-pool.ts';
import { atPort, bothHosts, PostgresServer, stall } from './postgres-server.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { addedTo, bytesOf, found, listed, newTodo, replacement } from './todos.ts';
import { startWriters } from './writers.ts';

const server = await PostgresServer.startForAll();
const pair = await startPair();

const unavailable = { name: 'StoreUnavailable' };
const unknown = { name: 'OutcomeUnknown' };

async function readsAreRefused(store: TodoStore): Promise<void> {
  await Promise.all([
    assert.rejects(async () => store.find(1), unavailable),
    assert.rejects(async () => store.find(2), unavailable),
    assert.rejects(async () => store.list(), unavailable),
    assert.rejects(store.check(), unavailable),
  ]);
}

const succeeds = (action: () => Promise<unknown>): Promise<boolean> =>
  action().then(
    () => true,
    () => false,
  );

/** Ends every idle connection, also one that was being opened. */
async function endIdle(url: string, store: TodoStore): Promise<void> {
  while ((store.connections?.().idle ?? 0) > 0) {
    await server.terminate(url);
    await sleep(10);
  }
}

test('todos that are asked for together need one connection', async () => {
  await using store = await openPatient(await server.makeMigrated());
  await Promise.all(Array.from({ length: 100 }, (_, id) => store.find(id)));
  assert.deepEqual(store.connections?.(), { used: 0, idle: 1, waiting: 0 });
});

test('who asks for a todo later does not share the wait of who asked before', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url, { connections: 1 });
  const { id } = await addedTo(store, 'a');
  const lock = await server.lock(url);
  const asked: Promise<unknown>[] = [store.remove(id).catch(() => {})];
  for (let reader = 0; reader < 2; reader += 1) {
    asked.push(Promise.resolve(store.find(id)).catch(() => {}));
    await setImmediate();
    await setImmediate();
  }
  const { waiting } = store.connections?.() ?? {};
  await lock[Symbol.asyncDispose]();
  await Promise.all(asked);
  assert.equal(waiting, 2);
});

test('a server that stops is unavailable, and used again when it is back [D9]', async () => {
  const url = await server.makeMigrated();
  const told: Event[] = [];
  await using store = await openPatient(url, { logEvent: (event) => told.push(event) });
  await addedTo(store, 'a');
  await server.stop();
  await readsAreRefused(store);
  await assert.rejects(store.add(newTodo('b', 1)), unavailable);
  await server.startAgain();
  assert.deepEqual(await listed(store), [todo(1, 'a')]);
  assert.equal(await store.replace(1, replacement('c', true, 1)), 'replaced');
  assert.ok(told.some(({ event }) => event === 'connection-lost'));
});

test('connections that are terminated while nobody uses them are replaced', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url);
  await warm(store);
  await endIdle(url, store);
  assert.equal((await listed(store)).length, 4);
});

test('a write that waits too long for a lock was not made, and may be tried again', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url, patientBut('statementMs'));
  await addedTo(store, 'a');
  {
    await using _lock = await server.lock(url);
    await assert.rejects(store.remove(1), unavailable);
    assert.equal((await found(store, 1))?.title, 'a');
  }
  assert.equal(await store.remove(1), 'removed');
});

test('who waits too long for a connection is refused', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url, { connections: 1, ...patientBut('connectionMs') });
  // A slow machine may not have them in time.
  while (!(await succeeds(() => addedTo(store, 'a'))));
  while (!(await succeeds(async () => store.list())));
  const lock = await server.lock(url);
  const write = store.remove(1);
  // Writes of one turn share a statement.
  await setImmediate();
  await readsAreRefused(store);
  await assert.rejects(async () => store.find(1), { message: /none was free in 1000 ms$/ });
  await lock[Symbol.asyncDispose]();
  assert.equal(await write, 'removed');
});

test('a stalled server is unavailable to readers, and used again when it goes on', async () => {
  const url = await server.makeMigrated();
  // One connection and that of the list, which stay: a new one would not be stalled.
  const limits = { ...PATIENT, connectionMs: 1_000, answerMs: 1_400 };
  await using store = await openPostgresStore(url, { connections: 1, limits });
  while (!(await succeeds(() => addedTo(store, 'a'))));
  while (!(await succeeds(() => Promise.all([store.find(1), store.list()]))));
  {
    using _stall = stall(await server.backends(url));
    await readsAreRefused(store);
  }
  while (!(await succeeds(() => listed(store))));
  assert.equal((await found(store, 1))?.title, 'a');
  assert.equal((await listed(store)).length, 1);
});

test('a list that must be read as a whole waits no longer for a stalled server than one todo does', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url, patientBut('answerMs'));
  await store.list();
  const [list] = await server.execute(
    url,
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%COMMIT'",
  );
  using _stall = stall([Number(list?.pid)]);
  await server.execute(url, "SELECT pg_stat_reset_shared('bgwriter')");
  await assert.rejects(async () => store.list(), { ...unavailable, message: /: no answer in 1400 ms$/ });
});

test('a list that must be read as a whole may take longer than a statement for one todo', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url, { limits: { ...PATIENT, statementMs: 500 } });
  const lock = await server.lock(url, 'LOCK TABLE todos');
  const list = store.list();
  await server.somebodyWaits(url);
  await assert.rejects(async () => store.find(1), unavailable);
  await lock[Symbol.asyncDispose]();
  assert.equal(bytesOf(await list).toString(), '[]');
});

test('a write that a stalled server has in hand is of unknown outcome [D9]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url, { connections: 1, ...patientBut('answerMs') });
  await addedTo(store, 'a');
  using _stall = stall(await server.backends(url));
  await assert.rejects(store.remove(1), unknown);
});

/** Fills the pool with connections that are idle, among them that for the list. */
async function warm(store: TodoStore): Promise<void> {
  await Promise.all(Array.from({ length: 4 }, (_, index) => addedTo(store, `todo ${index}`)));
  await listed(store);
}

/** Whether a read is refused because only a server is there that takes no writes. No read is answered. */
async function refusedAsNotWritable(store: TodoStore): Promise<boolean> {
  const outcome = await Promise.resolve(store.find(1)).catch((error: unknown) => error);
  assert.ok(outcome instanceof StoreUnavailable, 'a standby may be behind');
  return outcome instanceof StoreNotWritable;
}

async function nothingIsServed(store: TodoStore): Promise<void> {
  while (!(await refusedAsNotWritable(store)));
  await assert.rejects(async () => store.list(), StoreNotWritable);
  await assert.rejects(store.add(newTodo('lost', 1)), StoreNotWritable);
  await assert.rejects(store.check(), StoreNotWritable);
}

async function everythingIsServed(store: TodoStore): Promise<void> {
  const { id } = await addedTo(store, 'again');
  assert.equal((await found(store, id))?.title, 'again');
  assert.equal((await listed(store)).at(-1)?.id, id);
  await store.check();
}

for (const [who, meet] of [
  ['when a write', (store: TodoStore) => store.add(newTodo('made', 1))],
  ['when a readiness check', (store: TodoStore) => store.check()],
] as const) {
  test(`${who} meets a server that is read-only, reads are refused too, until it takes writes again [D9]`, async () => {
    await using store = await openPatient(await server.makeMigrated());
    await warm(store);
    await server.set('default_transaction_read_only', 'on');
    // The sessions that are open hear of it a moment later, and new ones of its end.
    while (await succeeds(() => meet(store)));
    await nothingIsServed(store);
    await server.set('default_transaction_read_only', undefined);
    while (!(await succeeds(() => server.makeDatabase()))) await sleep(10);
    await everythingIsServed(store);
  });
}

test('a new connection to a database that is read-only serves nothing', async () => {
  const url = await server.makeDatabase();
  await using store = await openPatient(url);
  await addedTo(store, 'a');
  await server.setForDatabase(url, 'default_transaction_read_only', 'on');
  await endIdle(url, store);
  await nothingIsServed(store);
  await server.setForDatabase(url, 'default_transaction_read_only', undefined);
  await everythingIsServed(store);
});

test('a start on a database that is read-only says so in one line', async () => {
  const url = await server.makeDatabase();
  await server.setForDatabase(url, 'default_transaction_read_only', 'on');
  await assert.rejects(openPatient(url, { patienceMs: 0 }), {
    name: 'OperatorError',
    message: /^Cannot open the database ".*": it is read-only$/,
  });
});

test('a start waits for a database that takes no writes yet', async () => {
  const url = await server.makeDatabase();
  await server.setForDatabase(url, 'default_transaction_read_only', 'on');
  const end = async () => {
    await sleep(300);
    await server.setForDatabase(url, 'default_transaction_read_only', undefined);
  };
  const [store] = await Promise.all([openPatient(url, { patienceMs: 60_000 }), end()]);
  await addedTo(store, 'a');
  await store[Symbol.asyncDispose]();
});

/** A primary that answers no write before its standby has it, and that standby. */
async function startPair(): Promise<{ primary: PostgresServer; standby: PostgresServer; database: string }> {
  const primary = await PostgresServer.start();
  after(() => primary[Symbol.asyncDispose]());
  const database = await primary.makeDatabase();
  const standby = await primary.startStandby();
  after(() => standby[Symbol.asyncDispose]());
  await primary.set('synchronous_standby_names', 'standby');
  return { primary, standby, database };
}

test('a standby alone is refused at the start, in one line', async () => {
  const { standby, database } = pair;
  const { pathname } = new URL(database);
  await assert.rejects(openPatient(atPort(database, standby.port), { patienceMs: 0 }), {
    name: 'OperatorError',
    message: `Cannot open the database "postgres://127.0.0.1:${standby.port}${pathname}": it is a standby, which takes no writes: behind a load balancer, switch load balancing off`,
  });
});

test('under load, a promotion loses no write that was answered, and writing goes on', async () => {
  const { primary, standby, database } = pair;
  await using store = await openPatient(bothHosts(database, primary, standby));
  const { answers, faults } = startWriters([store]);
  await answers(500);
  await primary.die();
  while (!(await refusedAsNotWritable(store)));
  await standby.promote();
  await answers(500);
  assert.deepEqual(await faults(), []);
});

test('a name that has moved is followed when a write meets the old primary, which is read-only now', async () => {
  const { primary, standby, database } = await startPair();
  await using proxy = await startTcpProxy(primary.port);
  await using store = await openPatient(proxy.through(database));
  await addedTo(store, 'a');
  await listed(store);
  await standby.promote();
  proxy.target = standby.port;
  await primary.set('synchronous_standby_names', undefined);
  await primary.set('default_transaction_read_only', 'on');
  const moved = atPort(database, standby.port);
  const insert = "INSERT INTO todos (title, category_id) VALUES ('made elsewhere', 1)";
  while (!(await succeeds(() => standby.execute(moved, insert)))) await sleep(20);
  while ((await store.remove(1).catch(() => undefined)) === undefined) await sleep(10);
  assert.equal((await listed(store)).at(-1)?.title, 'made elsewhere');
  assert.equal(await found(store, 1), undefined);
});
