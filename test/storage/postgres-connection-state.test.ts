import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/store/postgres/database.ts';
import { TAKE_LOCK } from '../../src/store/postgres/schema.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { openPool } from './postgres-pool.ts';
import { PostgresServer } from './postgres-server.ts';
import { addedTo, found, listed, newTodo, replacement } from './todos.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

const PROCESS = { name: 'process', text: 'SELECT pg_backend_pid() AS pid' };

test('after a change of the type of a column, todos are read and written as before', async () => {
  const url = await server.makeDatabase();
  await using store = await openPostgresStore(url);
  await addedTo(store, 'a');
  assert.equal((await found(store, 1))?.title, 'a');
  await server.execute(url, 'ALTER TABLE todos ALTER COLUMN title TYPE varchar(200)');
  assert.equal((await found(store, 1))?.title, 'a');
  assert.equal(await store.replace(1, replacement('changed', true, 2)), 'replaced');
  assert.equal((await found(store, 1))?.title, 'changed');
});

test('a plan that a change of a table made useless fails no read, whatever connections know it (0A000)', async () => {
  const url = await server.makeDatabase();
  await server.execute(url, 'CREATE TABLE changing AS SELECT 1::integer AS number');
  await using pool = openPool(url, { connections: 3 });
  const look = { name: 'look', text: 'SELECT number, pg_sleep(0.2) FROM changing' };
  await Promise.all([pool.read(look), pool.read(look), pool.read(look)]);
  assert.equal(pool.counts().idle, 3);
  await server.execute(url, 'ALTER TABLE changing ALTER COLUMN number TYPE text');
  assert.equal((await pool.read(look))[0]?.number, '1');
});

/** What puts a connection into each state, and what then fails on it. */
const states: readonly [code: string, meaning: string, spoil: string][] = [
  ['26000', 'its prepared statements are gone', 'DEALLOCATE ALL'],
  ['42P05', 'a statement of the same name is there', 'PREPARE other AS SELECT 1'],
  ['25P02', 'a transaction has failed and is open', 'BEGIN; SELECT 1/0'],
];

for (const [code, meaning, spoil] of states) {
  test(`when ${meaning} (${code}), a read is repeated on another connection`, async () => {
    await using pool = openPool(await server.makeDatabase());
    const [before] = await pool.read(PROCESS);
    await pool.read({ text: spoil }).catch(() => {});
    const other = { name: code === '42P05' ? 'other' : 'process', text: PROCESS.text };
    const [afterwards] = await pool.read(other);
    assert.ok(afterwards);
    assert.notEqual(afterwards.pid, before?.pid);
  });

  test(`when ${meaning} (${code}), a write is refused, and the next one is made`, async () => {
    await using pool = openPool(await server.makeDatabase());
    await pool.read(PROCESS);
    await pool.read({ text: spoil }).catch(() => {});
    const other = { name: code === '42P05' ? 'other' : 'process', text: PROCESS.text };
    await assert.rejects(pool.write(other), { name: 'StoreUnavailable' });
    assert.equal((await pool.write(other)).length, 1);
  });
}

test('a connection in an open transaction serves nobody', async () => {
  await using pool = openPool(await server.makeDatabase());
  const [before] = await pool.read(PROCESS);
  await pool.read({ text: 'BEGIN' });
  assert.notEqual((await pool.read(PROCESS))[0]?.pid, before?.pid);
});

test('a statement that the server cannot make, whatever the connection, is refused after one repetition', async () => {
  const url = await server.makeDatabase();
  await using store = await openPostgresStore(url);
  await server.execute(
    url,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '0A000'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON todos FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  await assert.rejects(store.add(newTodo('a', 1)), { name: 'StoreUnavailable', message: 'no' });
});

test('a role whose idle sessions are ended keeps those of the service', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await server.execute(server.url, `ALTER ROLE ${owner} SET idle_session_timeout = '50ms'`);
  await using store = await openPostgresStore(url);
  await addedTo(store, 'a');
  await store.list();
  const before = await server.backends(url);
  await sleep(300);
  assert.equal((await found(store, 1))?.title, 'a');
  assert.deepEqual(await server.backends(url), before);
});

/** Sends a statement to a session that the server is about to end, because it was idle for too long. */
async function meetingTheEnd<T>(pool: Database, send: () => Promise<T>): Promise<T> {
  const [{ pid } = { pid: 0 }] = await pool.read<{ pid: number }>(PROCESS);
  await pool.read({ text: "SET idle_session_timeout = '50ms'" });
  process.kill(pid, 'SIGSTOP');
  await sleep(200);
  const sent = send();
  await sleep(50);
  process.kill(pid, 'SIGCONT');
  return sent;
}

test('a write that meets the end of an idle session (57P05) was not made, and is made on another connection', async () => {
  const url = await server.makeDatabase();
  await server.execute(url, 'CREATE TABLE made (at timestamptz)');
  await using pool = openPool(url);
  await meetingTheEnd(pool, () => pool.write({ text: 'INSERT INTO made VALUES (now())' }));
  assert.deepEqual(await server.execute(url, 'SELECT count(*)::int FROM made'), [{ count: 1 }]);
});

test('a read that meets the end of an idle session (57P05) is repeated, alone and in a transaction', async () => {
  await using pool = openPool(await server.makeDatabase());
  assert.equal((await meetingTheEnd(pool, () => pool.read(PROCESS))).length, 1);
  const whole = await meetingTheEnd(pool, () => pool.transaction((ask) => ask(PROCESS)));
  assert.equal(whole.length, 1);
});

for (const [name, value] of [
  ['transaction_timeout', '300ms'],
  ['idle_in_transaction_session_timeout', '1ms'],
  ['lock_timeout', '100ms'],
] as const) {
  test(`a role with ${name} = ${value} has its schema made and its list read, however long they take`, async (t) => {
    const { owner, url } = await server.makeOwnedDatabase();
    const [setting] = await server.execute(url, `SELECT current_setting('${name}', true) AS value`);
    if (setting?.value === null) return t.skip(`this server has no ${name}: it is older than 17`);
    await server.execute(server.url, `ALTER ROLE ${owner} SET ${name} = '${value}'`);
    const other = url.replace(owner, 'postgres');
    const migrating = await server.lock(other, TAKE_LOCK);
    const opening = openPostgresStore(url);
    await server.somebodyWaits(url);
    await sleep(500);
    await migrating[Symbol.asyncDispose]();
    await using store = await opening;
    await addedTo(store, 'a');
    const rewriting = await server.lock(other, 'LOCK TABLE todos');
    const listing = listed(store);
    await server.somebodyWaits(url);
    await sleep(500);
    await rewriting[Symbol.asyncDispose]();
    assert.equal((await listing).length, 1);
  });
}

test('a connection keeps nothing of the statements that were refused on it', async () => {
  await using pool = openPool(await server.makeDatabase());
  const warnings: string[] = [];
  const listen = ({ message }: Error): void => void warnings.push(message);
  process.on('warning', listen);
  for (let time = 0; time < 20; time += 1) {
    await assert.rejects(pool.read({ text: 'SELECT 1/0' }), { code: '22012' });
  }
  process.off('warning', listen);
  assert.deepEqual(warnings, []);
});

test('the reason that the server gives for the end of a connection is told', async () => {
  await using pool = openPool(await server.makeDatabase());
  await assert.rejects(pool.read({ text: 'SELECT pg_terminate_backend(pg_backend_pid())' }), {
    name: 'StoreUnavailable',
    message: /^The connection to the database was lost: terminating connection due to administrator command$/,
  });
});
