import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TodoStore } from '../../src/shared-list/store.ts';
import { openPostgresMaintenance } from '../../src/storage/postgres/maintenance.ts';
import { missing, startPgBouncer, startPgpool } from './poolers.ts';
import { openPatient, openPool, patientBut } from './postgres-pool.ts';
import { atPort, PostgresServer } from './postgres-server.ts';
import { addedTo, listed, newTodo, ready, wrong } from './todos.ts';

const server = await PostgresServer.startForAll('fsync=on');

const OFF = 'its "synchronous_commit" must not be "off" for this user and database';
const UNLOGGED =
  'its tables must not be "UNLOGGED", because a crash of the server empties them: ALTER TABLE todos SET LOGGED';

/** Gives up where there is no connection. */
const open = (url: string) => openPatient(url, patientBut('connectionMs'));

/** The error of a create that must not be taken. */
function refusal(store: TodoStore): Promise<Error> {
  return store.add(newTodo('a', 1)).then(
    () => assert.fail('must be refused'),
    (error: Error) => error,
  );
}

/** Returns when a create is refused with this message; its outcome is unknown on a connection whose end is not read yet. */
async function refusedWith(store: TodoStore, message: string): Promise<void> {
  for (;;) {
    const refused = await refusal(store);
    if (refused.name === 'StoreUnavailable' && refused.message.endsWith(`: ${message}`)) return;
    assert.match(refused.name, /^(?:StoreUnavailable|OutcomeUnknown)$/);
    await sleep(20);
  }
}

/** A create that is made as soon as there is a connection. */
async function recovered(store: TodoStore): Promise<void> {
  await ready(store);
  await addedTo(store, 'a');
}

for (const [what, change, back] of [
  ['role', (role: string) => `ALTER ROLE ${role} SET`, (role: string) => `ALTER ROLE ${role} RESET`],
  [
    'database',
    (_: string, database: string) => `ALTER DATABASE ${database} SET`,
    (_: string, database: string) => `ALTER DATABASE ${database} RESET`,
  ],
] as const) {
  test(`new sessions of a ${what} whose commits do not wait for the disk are refused under the service, and those of before serve [D19]`, async () => {
    const { owner, url } = await server.makeOwnedDatabase();
    const database = new URL(url).pathname.slice(1);
    await using store = await open(url);
    await addedTo(store, 'a');
    await server.execute(server.url, `${change(owner, database)} synchronous_commit = off`);
    await addedTo(store, 'b');
    await store.check();
    await server.terminate(url.replace(owner, 'postgres'));
    await refusedWith(store, OFF);
    assert.match(
      (await wrong(store)).message,
      /No connection to the database: its "synchronous_commit" must not be "off"/,
    );
    await assert.rejects(async () => store.list(), { name: 'StoreUnavailable' });
    await assert.rejects(openPatient(url), { name: 'OperatorError', message: new RegExp(`: ${OFF}$`) });
    await server.execute(server.url, `${back(owner, database)} synchronous_commit`);
    await recovered(store);
    assert.ok((await listed(store)).length >= 3);
  });
}

test('a look finds sessions that are open whose commits no longer wait, and nothing is served until they do [D19]', async () => {
  const url = await server.makeDatabase();
  await using store = await open(url);
  await addedTo(store, 'a');
  await server.set('synchronous_commit', 'off');
  assert.equal((await wrong(store)).message, OFF);
  const refused = await refusal(store);
  assert.equal(refused.name, 'StoreUnavailable');
  assert.ok(refused.message.endsWith(`: ${OFF}`));
  await server.set('synchronous_commit', undefined);
  await recovered(store);
});

for (const value of ['local', 'remote_write', 'remote_apply', 'on']) {
  test(`"${value}" waits for the disk of the server, and is taken [D19]`, async () => {
    const url = await server.makeDatabase();
    await server.setForDatabase(url, 'synchronous_commit', value);
    await using store = await open(url);
    await addedTo(store, 'a');
    await store.check();
  });
}

for (const table of [
  ...['todos', 'idempotency_keys', 'todo_tombstones', 'todo_purged', 'todo_schema'],
  // Without its sequence, ids would be given out again.
  ...['todos_id_seq', 'categories_id_seq'],
]) {
  test(`a look finds that a crash would empty ${table}, and nothing is served until it does not [D19]`, async () => {
    const url = await server.makeMigrated();
    await using store = await open(url);
    await addedTo(store, 'a');
    await server.execute(url, `ALTER TABLE ${table} SET UNLOGGED`);
    const kind = table.endsWith('_seq') ? 'SEQUENCE' : 'TABLE';
    const says = UNLOGGED.replace('TABLE todos', `${kind} ${table}`);
    assert.equal((await wrong(store)).message, says);
    const refused = await refusal(store);
    assert.equal(refused.name, 'StoreUnavailable');
    assert.ok(refused.message.endsWith(`: ${says}`));
    await server.execute(url, `ALTER TABLE ${table} SET LOGGED`);
    await recovered(store);
  });
}

test('a new connection that writes is refused while a crash empties a table, without a look [D19]', async () => {
  const url = await server.makeMigrated();
  await using store = await open(url);
  await addedTo(store, 'a');
  await server.execute(url, 'ALTER TABLE todos SET UNLOGGED');
  await server.terminate(url);
  await refusedWith(store, UNLOGGED);
  await server.execute(url, 'ALTER TABLE todos SET LOGGED');
  await recovered(store);
});

test('a new connection that only reads is taken while a crash empties a table [D19]', async () => {
  const url = await server.makeMigrated();
  await server.execute(url, 'ALTER TABLE todos SET UNLOGGED');
  await using reads = openPool(url);
  assert.deepEqual(await reads.read({ text: 'SELECT 1 AS one' }), [{ one: 1 }]);
  await using writes = openPool(url, { writes: true });
  await assert.rejects(writes.read({ text: 'SELECT 1 AS one' }), /must not be "UNLOGGED"/);
});

test('a category is neither added nor renamed where a crash empties a table, and check says which [D19]', async () => {
  const url = await server.makeMigrated();
  await server.execute(url, 'ALTER TABLE todos SET UNLOGGED');
  await using operator = await openPostgresMaintenance(url);
  const refused = { name: 'StoreUnavailable', message: UNLOGGED };
  await assert.rejects(operator.addCategory('Garden'), refused);
  await assert.rejects(operator.renameCategory(1, 'Garden'), refused);
  assert.deepEqual((await operator.inspect()).faults, [UNLOGGED]);
});

/** Settings that the role must bring behind a pooler. */
const NEEDED = ["statement_timeout = '1200ms'", "client_connection_check_interval = '2000ms'"];

/** A database whose role brings them. */
async function owned() {
  const { owner, url } = await server.makeOwnedDatabase();
  for (const setting of NEEDED) await server.execute(server.url, `ALTER ROLE ${owner} SET ${setting}`);
  return { owner, url };
}

describe('PgBouncer in transaction mode', { skip: missing('pgbouncer') }, () => {
  test('a look finds what a session of the server behind it has become, though the connection to it stays [D19]', async () => {
    const { owner, url } = await owned();
    await using bouncer = await startPgBouncer(server, [owner, 'postgres'], []);
    await using store = await open(atPort(url, bouncer.port));
    await addedTo(store, 'a');
    await server.execute(server.url, `ALTER ROLE ${owner} SET synchronous_commit = off`);
    // As RECONNECT does, on its console.
    await server.terminate(url.replace(owner, 'postgres'));
    while (!(await wrong(store)).message.endsWith(OFF)) await sleep(20);
    await server.execute(server.url, `ALTER ROLE ${owner} RESET synchronous_commit`);
    await server.terminate(url.replace(owner, 'postgres'));
    await recovered(store);
  });
});

describe('pgpool-II before a standby', { skip: missing('pgpool') }, () => {
  test('a table that a crash empties is found, by check too [D19]', async () => {
    const { url } = await owned();
    await using direct = await openPatient(url);
    await using standby = await server.startStandby();
    await using pgpool = await startPgpool(server, standby);
    const through = atPort(url, pgpool.port);
    await using store = await open(through);
    await addedTo(store, 'a');
    await server.execute(url, 'ALTER TABLE todos SET UNLOGGED');
    assert.equal((await wrong(store)).message, UNLOGGED);
    assert.deepEqual(await server.faults(through), [UNLOGGED]);
    await assert.rejects(openPatient(through, { patienceMs: 0 }), { message: /UNLOGGED/ });
    await server.execute(url, 'ALTER TABLE todos SET LOGGED');
    await recovered(store);
    await recovered(direct);
  });
});
