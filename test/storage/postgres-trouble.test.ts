import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Event } from '../../src/events.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import type { TodoStore } from '../../src/store/store.ts';
import { todo } from '../todo.ts';
import { PostgresServer } from './postgres-server.ts';
import { addedTo, found, listed, newTodo, replacement } from './todos.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

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

async function noConnectionIsIdle(store: TodoStore): Promise<void> {
  while ((store.connections?.().idle ?? 0) > 0) await sleep(1);
}

/** Stops processes of the server, as a machine does that is out of memory or paused. */
function stall(pids: readonly number[]): Disposable {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return {
    [Symbol.dispose]: () => {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    },
  };
}

test('todos that are asked for together need one connection', async () => {
  await using store = await openPostgresStore(await server.makeMigrated());
  await Promise.all(Array.from({ length: 100 }, (_, id) => store.find(id)));
  assert.deepEqual(store.connections?.(), { used: 0, idle: 1, waiting: 0 });
});

test('who asks for a todo later does not share the wait of who asked before', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url);
  const todos = Array.from({ length: 10 }, (_, index) => addedTo(store, `todo ${index}`));
  const ids = (await Promise.all(todos)).map(({ id }) => id);
  const lock = await server.lock(url);
  const writes = ids.map((id) => store.remove(id).catch(() => {}));
  for (let tries = 0; tries < 1_000 && store.connections?.().used !== 10; tries += 1) await sleep(1);
  const reads = [];
  for (const id of ids.slice(0, 2)) {
    reads.push(Promise.resolve(store.find(id)).catch(() => {}));
    await setImmediate();
    await setImmediate();
  }
  const { waiting } = store.connections?.() ?? {};
  await lock[Symbol.asyncDispose]();
  await Promise.all([...writes, ...reads]);
  assert.equal(waiting, 2);
});

test('D9 · a server that stops is unavailable, and used again when it is back', async () => {
  const url = await server.makeMigrated();
  const told: Event[] = [];
  await using store = await openPostgresStore(url, { tell: (event) => told.push(event) });
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
  await using store = await openPostgresStore(url);
  await Promise.all(Array.from({ length: 10 }, (_, index) => addedTo(store, `todo ${index}`)));
  await server.terminate(url);
  await noConnectionIsIdle(store);
  assert.equal((await listed(store)).length, 10);
});

test('D9 · a write whose connection is terminated is of unknown outcome', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url);
  await addedTo(store, 'a');
  await using _lock = await server.lock(url);
  const write = assert.rejects(store.remove(1), unknown);
  await server.somebodyWaits(url);
  await server.terminate(url);
  await write;
});

test('a write that waits too long for a lock was not made, and may be tried again', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url);
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
  await using store = await openPostgresStore(url, { connections: 1 });
  await addedTo(store, 'a');
  await store.list();
  await using _lock = await server.lock(url);
  const write = assert.rejects(store.remove(1), unavailable);
  await readsAreRefused(store);
  await write;
});

test('a stalled server is unavailable to readers, and used again when it goes on', async () => {
  const url = await server.makeMigrated();
  // One connection and that of the list: a new one would not be stalled.
  await using store = await openPostgresStore(url, { connections: 1 });
  await addedTo(store, 'a');
  await store.list();
  await Promise.all([store.find(1), store.list()]);
  {
    using _stall = stall(await server.backends(url));
    await readsAreRefused(store);
  }
  assert.equal((await found(store, 1))?.title, 'a');
  assert.equal((await listed(store)).length, 1);
});

test('a list that must be read as a whole waits no longer for a stalled server than one todo does', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url);
  await store.list();
  const [list] = await server.execute(
    url,
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query = 'COMMIT'",
  );
  using _stall = stall([Number(list?.pid)]);
  await server.execute(url, "SELECT pg_stat_reset_shared('bgwriter')");
  await assert.rejects(async () => store.list(), { ...unavailable, message: /: no answer in 1400 ms$/ });
});

test('D9 · a write that a stalled server has in hand is of unknown outcome', async () => {
  const url = await server.makeMigrated();
  await using store = await openPostgresStore(url, { connections: 1 });
  await addedTo(store, 'a');
  using _stall = stall(await server.backends(url));
  await assert.rejects(store.remove(1), unknown);
});

test('what another instance changes is in the next list and the next read', async () => {
  const url = await server.makeMigrated();
  await using here = await openPostgresStore(url);
  await using there = await openPostgresStore(url);
  for (let round = 1; round <= 50; round += 1) {
    const { id } = await addedTo(here, `todo ${round}`);
    assert.equal((await listed(there)).length, round);
    assert.equal(await there.replace(id, replacement('changed', true, 2)), 'replaced');
    assert.equal((await listed(here)).at(-1)?.title, 'changed');
    assert.equal((await found(here, id))?.title, 'changed');
  }
});
