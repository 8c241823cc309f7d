import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { StoreNotWritable, type TodoStore } from '../../src/store/store.ts';
import { PostgresServer } from './postgres-server.ts';
import { addedTo, found, listed, newTodo } from './todos.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

/** Fills the pool with connections that are idle, among them that for the list. */
async function warm(store: TodoStore): Promise<void> {
  await Promise.all(Array.from({ length: 4 }, (_, index) => addedTo(store, `todo ${index}`)));
  await listed(store);
}

/** Resolves when the sessions that are open have heard that a write is refused. */
async function refused(store: TodoStore): Promise<void> {
  for (;;) {
    try {
      await store.add(newTodo('made', 1));
    } catch {
      return;
    }
  }
}

async function nothingIsServed(store: TodoStore): Promise<void> {
  await assert.rejects(async () => store.find(1), StoreNotWritable);
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

test('D9 · when a write meets a server that is read-only, reads are refused too, until it takes writes again', async () => {
  await using store = await openPostgresStore(await server.makeDatabase());
  await warm(store);
  await server.set('default_transaction_read_only', 'on');
  await refused(store);
  await nothingIsServed(store);
  await server.set('default_transaction_read_only', undefined);
  await writable();
  await everythingIsServed(store);
});

test('when a readiness check meets a server that is read-only, reads are refused too', async () => {
  const url = await server.makeDatabase();
  await using store = await openPostgresStore(url);
  await warm(store);
  await server.set('default_transaction_read_only', 'on');
  for (let ready = true; ready; ) {
    ready = await store.check().then(
      () => true,
      () => false,
    );
  }
  await nothingIsServed(store);
  await server.set('default_transaction_read_only', undefined);
  await writable();
  await everythingIsServed(store);
});

test('a new connection to a database that is read-only serves nothing', async () => {
  const url = await server.makeDatabase();
  await using store = await openPostgresStore(url);
  await addedTo(store, 'a');
  await server.setForDatabase(url, 'default_transaction_read_only', 'on');
  await server.terminate(url);
  while ((store.connections?.().idle ?? 0) > 0) await sleep(1);
  await nothingIsServed(store);
  await server.setForDatabase(url, 'default_transaction_read_only', undefined);
  await everythingIsServed(store);
});

test('a start on a database that is read-only says so in one line', async () => {
  const url = await server.makeDatabase();
  await server.setForDatabase(url, 'default_transaction_read_only', 'on');
  await assert.rejects(openPostgresStore(url, { patienceMs: 0 }), {
    name: 'StoreNotOpened',
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
  const [store] = await Promise.all([openPostgresStore(url), end()]);
  await addedTo(store, 'a');
  await store[Symbol.asyncDispose]();
});

/** Resolves when new sessions take writes: the server hears of a setting a moment later. */
async function writable(): Promise<void> {
  const url = await server.makeDatabase().catch(() => undefined);
  if (url === undefined) await sleep(10).then(writable);
}
