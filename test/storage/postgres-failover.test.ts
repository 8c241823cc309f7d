import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { StoreNotWritable, StoreUnavailable, type TodoStore } from '../../src/store/store.ts';
import { Ledger } from './ledger.ts';
import { bothHosts, PostgresServer } from './postgres-server.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { addedTo, found, listed } from './todos.ts';
import { writeUntil } from './writers.ts';

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

/** Whether a read is refused because only a standby is there. No read is answered. */
async function refusedAsStandby(store: TodoStore): Promise<boolean> {
  const outcome = await Promise.resolve(store.find(1)).catch((error: unknown) => error);
  assert.ok(outcome instanceof StoreUnavailable, 'a standby may be behind');
  return outcome instanceof StoreNotWritable;
}

/** Runs SQL when the server can take it. */
async function untilMade(server: PostgresServer, url: string, sql: string): Promise<void> {
  while (
    !(await server.execute(url, sql).then(
      () => true,
      () => false,
    ))
  )
    await sleep(20);
}

describe('two servers, one of which follows the other', () => {
  test('under load, a promotion loses no write that was answered, and writing goes on', async () => {
    const { primary, standby, database } = await startPair();
    await using store = await openPostgresStore(bothHosts(database, primary, standby));
    const ledger = new Ledger();
    const stop = new AbortController();
    const writers = Array.from({ length: 8 }, (_, client) =>
      writeUntil(store, `client ${client}`, ledger, stop.signal),
    );
    while (ledger.acknowledged < 500) await sleep(10);
    await primary.die();
    const known = ledger.acknowledged;
    while (!(await refusedAsStandby(store)));
    await standby.promote();
    while (ledger.acknowledged < known + 500) await sleep(10);
    stop.abort();
    await Promise.all(writers);
    assert.deepEqual(ledger.compare(await listed(store)), []);
  });

  test('a name that has moved is followed when a write meets the old primary, which is read-only now', async () => {
    const { primary, standby, database } = await startPair();
    await using proxy = await TcpProxy.start(primary.port);
    await using store = await openPostgresStore(proxy.through(database));
    await addedTo(store, 'a');
    await listed(store);
    await standby.promote();
    proxy.target = standby.port;
    await primary.set('synchronous_standby_names', undefined);
    await primary.set('default_transaction_read_only', 'on');
    const moved = new URL(database);
    moved.port = String(standby.port);
    await untilMade(
      standby,
      moved.href,
      "INSERT INTO todos (title, category_id) VALUES ('made elsewhere', 1)",
    );
    while ((await store.remove(1).catch(() => undefined)) === undefined) await sleep(10);
    assert.equal((await listed(store)).at(-1)?.title, 'made elsewhere');
    assert.equal(await found(store, 1), undefined);
  });

  test('a standby alone is refused at the start, in one line', async () => {
    const { standby, database } = await startPair();
    const url = new URL(database);
    url.port = String(standby.port);
    await assert.rejects(openPostgresStore(url.href, { patienceMs: 0 }), {
      name: 'StoreNotOpened',
      message: `Cannot open the database "postgres://127.0.0.1:${standby.port}${url.pathname}": it is a standby, which takes no writes`,
    });
  });
});
