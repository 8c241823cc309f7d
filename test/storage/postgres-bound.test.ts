import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { OutcomeUnknown } from '../../src/store/store.ts';
import { openPool } from './postgres-pool.ts';
import { PostgresServer } from './postgres-server.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { addedTo, newTodo } from './todos.ts';

const ADD = { text: "INSERT INTO todos (title, category_id) VALUES ('a', 1) RETURNING id" };

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

/** Lets a commit wait for a synchronous standby that is not there, and resolves when the server does so. */
async function loseStandby(url: string): Promise<void> {
  await server.set('synchronous_standby_names', 'gone');
  for (let waited = false; !waited; ) {
    let made = false;
    const write = server.execute(url, ADD.text).then(() => {
      made = true;
    });
    while (!made) {
      const pids = await waiting(url);
      waited ||= pids.length > 0;
      for (const pid of pids) await server.execute(url, `SELECT pg_cancel_backend(${pid})`);
    }
    await write;
  }
}

const standbyIsBack = () => server.set('synchronous_standby_names', undefined);
afterEach(standbyIsBack);

/** A database with the schema of the service. */
async function madeDatabase(): Promise<string> {
  const url = await server.makeDatabase();
  await (await openPostgresStore(url))[Symbol.asyncDispose]();
  return url;
}

/** The processes that wait for a standby. */
async function waiting(url: string): Promise<readonly number[]> {
  const sql =
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'SyncRep'";
  return (await server.execute(url, sql)).map(({ pid }) => Number(pid));
}

/** Resolves with one of them when there is one. */
async function waitsForStandby(url: string): Promise<number> {
  for (;;) {
    const [pid] = await waiting(url);
    if (pid !== undefined) return pid;
    await sleep(10);
  }
}

async function nobodyIsThere(url: string): Promise<void> {
  while ((await server.backends(url)).length > 0) await sleep(10);
}

test('while a standby is gone, the server has no more connections than the pool may have', async () => {
  const url = await server.makeDatabase();
  await using store = await openPostgresStore(url, { connections: 3 });
  await addedTo(store, 'a');
  await loseStandby(url);
  const outcomes = new Set<string>();
  const stop = new AbortController();
  const write = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const outcome = await store.add(newTodo('b', 1)).catch((error: unknown) => error);
      assert.ok(outcome instanceof Error, 'no commit is replicated');
      outcomes.add(outcome.name);
    }
  };
  const writers = Array.from({ length: 16 }, write);
  const counts: number[] = [];
  for (let look = 0; look < 60; look += 1) {
    counts.push((await server.backends(url)).length);
    await sleep(100);
  }
  stop.abort();
  await Promise.all(writers);
  assert.ok(Math.max(...counts) <= 4, `3 for todos and 1 for the list: ${counts.join(' ')}`);
  assert.ok(outcomes.has('OutcomeUnknown'));
  await standbyIsBack();
  while (!(await store.add(newTodo('c', 1)).catch(() => undefined))) await sleep(10);
});

test('a commit whose wait for a standby was cancelled by an operator is of unknown outcome', async () => {
  const url = await madeDatabase();
  await using pool = openPool(url);
  await loseStandby(url);
  const write = assert.rejects(pool.write(ADD), {
    name: 'OutcomeUnknown',
    message: 'the wait for a synchronous standby was cancelled',
  });
  const pid = await waitsForStandby(url);
  await server.execute(url, `SELECT pg_cancel_backend(${pid})`);
  await write;
});

test('a role that hides warnings does not hide that one', async () => {
  const url = await madeDatabase();
  await server.setForDatabase(url, 'client_min_messages', 'error');
  await using pool = openPool(url);
  await loseStandby(url);
  const write = assert.rejects(pool.write(ADD), OutcomeUnknown);
  const pid = await waitsForStandby(url);
  await server.execute(url, `SELECT pg_cancel_backend(${pid})`);
  await write;
});

test('a commit that waits for a standby is cancelled when its connection is lost', async () => {
  const url = await madeDatabase();
  await using proxy = await TcpProxy.start(server.port);
  await using pool = openPool(proxy.through(url));
  await loseStandby(url);
  const write = assert.rejects(pool.write(ADD), OutcomeUnknown);
  await waitsForStandby(url);
  proxy.cut();
  await write;
  await nobodyIsThere(url);
});

test('a connection whose statement was given up serves nobody until cancel and answer are both over', async () => {
  const url = await madeDatabase();
  await using proxy = await TcpProxy.start(server.port);
  await using pool = openPool(proxy.through(url), { answerMs: 1_000 });
  await pool.read({ text: 'SELECT 1' });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: cancelled, resolve: cancelArrived } = Promise.withResolvers<void>();
  proxy.gate = (first) => {
    if (first.length !== 16) return undefined;
    cancelArrived();
    return released;
  };
  const given = assert.rejects(pool.read({ text: 'SELECT pg_sleep(2)' }), /no answer in 1000 ms/);
  await cancelled;
  await given;
  const next = pool.read({ text: 'SELECT 1' });
  await sleep(1_500);
  assert.deepEqual(pool.counts(), { used: 0, idle: 0, waiting: 1 });
  release();
  assert.equal((await next).length, 1);
});

test('the server looks whether the client of a long statement is still there, and gives a statement up', async () => {
  await using pool = openPool(await server.makeDatabase(), { statementMs: 1_200 });
  const settings = {
    text: "SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', 'client_connection_check_interval') ORDER BY name",
  };
  assert.deepEqual(await pool.read(settings), [
    { name: 'client_connection_check_interval', setting: '2000' },
    { name: 'statement_timeout', setting: '1200' },
  ]);
});

test('a connection that is always used is replaced when its life is over', async () => {
  await using pool = openPool(await server.makeDatabase(), { lifetimeMs: 50 });
  const process = async () => (await pool.read({ text: 'SELECT pg_backend_pid() AS pid' }))[0]?.pid;
  const first = await process();
  while ((await process()) === first);
});

test('a connection that nobody needs is closed', async () => {
  const url = await server.makeDatabase();
  await using pool = openPool(url, { idleMs: 50 });
  await pool.read({ text: 'SELECT 1' });
  await nobodyIsThere(url);
});

test('a place is free again when the server cannot be reached to cancel what was given up', async () => {
  const url = await server.makeDatabase();
  await using proxy = await TcpProxy.start(server.port);
  await using pool = openPool(proxy.through(url), { answerMs: 1_000 });
  await pool.read({ text: 'SELECT 1' });
  const given = assert.rejects(pool.read({ text: 'SELECT pg_sleep(600)' }), /no answer in 1000 ms/);
  proxy.refuse();
  await given;
  await assert.rejects(pool.read({ text: 'SELECT 1' }), /ECONNREFUSED/);
});

test('a pool ends when its server does not let go', async () => {
  const url = await server.makeDatabase();
  const pool = openPool(url, { answerMs: 1_000 });
  await pool.read({ text: 'SELECT 1' });
  const pids = await server.backends(url);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  try {
    await pool[Symbol.asyncDispose]();
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  }
  await nobodyIsThere(url);
});
