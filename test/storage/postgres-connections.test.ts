import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { Event } from '../../src/events.ts';
import { messageOf } from '../../src/lib/errors.ts';
import { OutcomeUnknown, StoreNotWritable, StoreUnavailable } from '../../src/shared-list/store.ts';
import { addressOf } from '../../src/storage/postgres/address.ts';
import { Cluster } from '../../src/storage/postgres/cluster.ts';
import { openPostgresList } from '../../src/storage/postgres/list.ts';
import { openPostgresMaintenance } from '../../src/storage/postgres/maintenance.ts';
import { sizeOf, TAKE_LOCK } from '../../src/storage/postgres/schema.ts';
import type { StatementPool } from '../../src/storage/postgres/statement-pool.ts';
import { standStill } from '../support/process-figures.ts';
import { openPatient, openPool, openPostgresStore } from './postgres-pool.ts';
import { PostgresServer, signal, stall } from './postgres-server.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import { addedTo, found, newTodo } from './todos.ts';

const server = await PostgresServer.startForAll();

const PROCESS = { name: 'process', text: 'SELECT pg_backend_pid() AS pid' };

/** A statement whose plan three connections of a pool know, and that a change of its table makes useless. */
async function plannedByThree() {
  const url = await server.makeDatabase();
  await server.execute(url, 'CREATE TABLE changing AS SELECT 1::integer AS number');
  const pool = openPool(url, { connections: 3 });
  const look = { name: 'look', text: 'SELECT number FROM changing' };
  const lock = await server.lock(url, 'LOCK TABLE changing');
  const looking = Promise.all([pool.read(look), pool.read(look), pool.read(look)]);
  await server.somebodyWaits(url, 3);
  await lock[Symbol.asyncDispose]();
  await looking;
  assert.equal(pool.counts().idle, 3);
  await server.execute(url, 'ALTER TABLE changing ALTER COLUMN number TYPE text');
  return { pool, look, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}

test('a plan that a change of a table made useless fails no read, whatever connections know it (0A000)', async () => {
  await using planned = await plannedByThree();
  const { pool, look } = planned;
  assert.equal((await pool.read(look))[0]?.number, '1');
});

test('a useless plan (0A000) fails one transaction, whatever connections know it', async () => {
  await using planned = await plannedByThree();
  const { pool, look } = planned;
  const transaction = () => pool.transaction('SELECT', (ask) => ask(look));
  await assert.rejects(transaction(), { name: 'StoreUnavailable', message: /cached plan/ });
  assert.deepEqual(await transaction(), [{ number: '1' }]);
});

/** What puts a connection into each state, and what then fails on it. */
const states: readonly [code: string, meaning: string, spoil: string, name: string][] = [
  ['26000', 'its prepared statements are gone', 'DEALLOCATE ALL', 'process'],
  ['42P05', 'a statement of the same name is there', 'PREPARE other AS SELECT 1', 'other'],
];

for (const [code, meaning, spoil, name] of states) {
  const statement = { ...PROCESS, name };

  test(`when ${meaning} (${code}), a read is repeated on another connection`, async () => {
    await using pool = openPool(server.url);
    const [before] = await pool.read(PROCESS);
    await pool.read({ text: spoil }).catch(() => {});
    const [afterwards] = await pool.read(statement);
    assert.ok(afterwards);
    assert.notEqual(afterwards.pid, before?.pid);
  });

  test(`when ${meaning} (${code}), a write was not made, and is made on another connection, which prepares none [D9]`, async () => {
    await using pool = openPool(server.url);
    const [before] = await pool.read(PROCESS);
    await pool.read({ text: spoil }).catch(() => {});
    const [afterwards] = await pool.write(statement);
    assert.ok(afterwards);
    assert.notEqual(afterwards.pid, before?.pid);
    await pool.write(PROCESS);
    assert.deepEqual(await pool.read({ text: 'SELECT name FROM pg_prepared_statements' }), []);
  });
}

test('after a name that one session does not know (26000), none that was open prepares any more [D9]', async () => {
  await using pool = openPool(server.url, { connections: 2 });
  const sleeping = () => pool.read({ text: 'SELECT pg_sleep(0.2)' });
  while (pool.counts().idle < 2) await Promise.all([sleeping(), sleeping()]);
  await Promise.all([pool.read(PROCESS), pool.read(PROCESS)]);
  await pool.read({ text: 'DEALLOCATE ALL' });
  await pool.read(PROCESS);
  assert.deepEqual(await pool.read({ text: 'SELECT name FROM pg_prepared_statements' }), []);
});

for (const begin of ['BEGIN', 'BEGIN; SELECT 1/0']) {
  test(`a connection in a transaction that was left open, by ${begin}, serves nobody`, async () => {
    await using pool = openPool(server.url);
    const [before] = await pool.read(PROCESS);
    await pool.write({ text: begin }).catch(() => {});
    assert.notEqual((await pool.write(PROCESS))[0]?.pid, before?.pid);
  });
}

test('a statement that the server cannot make, whatever the connection, is refused after one repetition', async () => {
  await using pool = openPool(server.url);
  await assert.rejects(pool.read({ text: 'SELECT 1 UNION SELECT 2 FOR UPDATE' }), {
    name: 'StoreUnavailable',
    message: /^FOR UPDATE is not allowed with UNION/,
  });
});

test('what meets others again and again (40001) is refused after three tries, alone and in a transaction', async () => {
  const url = await server.makeDatabase();
  await server.execute(url, 'CREATE SEQUENCE times');
  await using pool = openPool(url);
  const isRefused = { name: 'StoreUnavailable', message: /^in conflict/ };
  const conflict = (first = '') => ({
    text: `DO $$ BEGIN ${first} RAISE 'in conflict' USING ERRCODE = '40001'; END $$`,
  });
  await assert.rejects(pool.write(conflict("PERFORM nextval('times');")), isRefused);
  assert.deepEqual(await pool.read({ text: 'SELECT last_value::int AS times FROM times' }), [{ times: 3 }]);
  let times = 0;
  const work = pool.transaction('SET LOCAL search_path TO public', (ask) => {
    times += 1;
    return ask(conflict());
  });
  await assert.rejects(work, isRefused);
  assert.equal(times, 3);
});

test('a transaction that fails for another reason is not begun again', async () => {
  await using pool = openPool(server.url);
  let times = 0;
  const work = pool.transaction('SELECT', (ask) => {
    times += 1;
    return ask({ text: 'SELECT 1 UNION SELECT 2 FOR UPDATE' });
  });
  await assert.rejects(work, { name: 'StoreUnavailable', message: /^FOR UPDATE is not allowed with UNION/ });
  assert.equal(times, 1);
});

test('a statement whose time is over is not sent', async () => {
  await using pool = openPool(server.url);
  let isSent = false;
  const write = pool.write(PROCESS, performance.now(), () => {
    isSent = true;
  });
  await assert.rejects(write, new StoreUnavailable('There is no time left to send a statement'));
  assert.equal(isSent, false);
});

test('a role whose idle sessions are ended keeps those of the service', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await server.execute(server.url, `ALTER ROLE ${owner} SET idle_session_timeout = '50ms'`);
  await using store = await openPatient(url);
  await addedTo(store, 'a');
  await store.list();
  // The session of who looks on is not to be ended.
  const watched = url.replace(owner, 'postgres');
  const before = await server.backends(watched);
  await sleep(300);
  assert.equal((await found(store, 1))?.title, 'a');
  assert.deepEqual(await server.backends(watched), before);
});

/** Sends a statement to a session that the server has ended, because it was idle for too long, and that is not heard yet. */
async function meetingTheEnd<T>(pool: StatementPool, send: () => Promise<T>): Promise<T> {
  const [{ pid } = { pid: 0 }] = await pool.read<{ pid: number }>(PROCESS);
  await pool.read({ text: "SET idle_session_timeout = '50ms'" });
  // Nothing is heard while this waits.
  while (signal(pid, 0)) standStill(10);
  return send();
}

test('a write that meets the end of an idle session (57P05) was not made, and is made on another connection', async () => {
  const url = await server.makeDatabase();
  await server.execute(url, 'CREATE TABLE made (at timestamptz)');
  await using pool = openPool(url);
  await meetingTheEnd(pool, () => pool.write({ text: 'INSERT INTO made VALUES (now())' }));
  assert.deepEqual(await server.execute(url, 'SELECT count(*)::int FROM made'), [{ count: 1 }]);
});

test('an answer that arrives in time is taken, however long this process then stands still [D9]', async () => {
  await using pool = openPool(server.url, { answerMs: 1_000 });
  const [{ pid } = { pid: 0 }] = await pool.read<{ pid: number }>(PROCESS);
  const writing = pool.write({ text: "SET idle_session_timeout = '1500ms'" });
  // The server ends the session some time after its answer.
  while (signal(pid, 0)) standStill(10);
  await writing;
});

test('a read that meets the end of an idle session (57P05) is repeated, alone and in a transaction', async () => {
  await using pool = openPool(server.url);
  assert.equal((await meetingTheEnd(pool, () => pool.read(PROCESS))).length, 1);
  const whole = await meetingTheEnd(pool, () => pool.transaction('SELECT', (ask) => ask(PROCESS)));
  assert.equal(whole.length, 1);
});

test('an idle connection that ended is told of, also when somebody wants it who is faster than its end', async () => {
  const told: Event[] = [];
  await using pool = openPool(server.url, { logEvent: (event) => told.push(event) });
  await meetingTheEnd(pool, async () => {
    // The last words of the server are heard between these two, and that the connection is closed after them.
    await setImmediate();
    await setImmediate();
    return pool.read(PROCESS);
  });
  const reason = 'terminating connection due to idle-session timeout';
  assert.deepEqual(told, [{ event: 'connection-lost', reason }]);
});

test('an idle connection that ended is told of and gives its place back, though nobody wants it', async () => {
  const told: Event[] = [];
  await using pool = openPool(server.url, { logEvent: (event) => told.push(event) });
  const [{ pid } = {}] = await pool.read<{ pid: number }>(PROCESS);
  await server.execute(server.url, `SELECT pg_terminate_backend(${pid})`);
  while (pool.counts().idle > 0) await sleep(10);
  const reason = 'terminating connection due to administrator command';
  assert.deepEqual(told, [{ event: 'connection-lost', reason }]);
});

test('who waits gets the connection that is in use, where the server gives no further one', async () => {
  const { role, url } = await server.makeRole(server.url);
  await server.limitConnections(role, 1);
  await using pool = openPool(url, { connections: 3 });
  const [used] = await pool.read(PROCESS);
  const sleeping = pool.read({ text: 'SELECT pg_sleep(0.5)' });
  assert.deepEqual(await Promise.all([pool.read(PROCESS), pool.read(PROCESS)]), [[used], [used]]);
  await sleeping;
});

test('who waits too long for a connection is not told why there was none before', async () => {
  const { role, url } = await server.makeRole(server.url);
  await server.limitConnections(role, 0);
  await using pool = openPool(url, { connectionMs: 1_000 });
  await assert.rejects(pool.read(PROCESS), /too many connections for role/);
  await server.limitConnections(role, 1);
  const isRead = () => pool.read(PROCESS).then(Boolean, () => false);
  while (!(await isRead()));
  const locking = 'SELECT pg_advisory_lock(1)';
  const lock = await server.lock(server.url, locking);
  const waiting = pool.read({ text: locking });
  await assert.rejects(pool.read(PROCESS), /none was free in 1000 ms$/);
  await lock[Symbol.asyncDispose]();
  await waiting;
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
    const opening = openPatient(url);
    await server.somebodyWaits(other);
    await sleep(400);
    await migrating[Symbol.asyncDispose]();
    await (await opening)[Symbol.asyncDispose]();
    const rewriting = await server.lock(other, 'LOCK TABLE todos');
    await using pool = openPool(url);
    const list = openPostgresList(pool, pool);
    const listing = list.current();
    await server.somebodyWaits(other);
    await sleep(400);
    await rewriting[Symbol.asyncDispose]();
    await listing;
  });
}

test('a connection keeps nothing of the statements that were refused on it', async () => {
  await using pool = openPool(server.url);
  for (let time = 0; time < 20; time += 1) {
    await assert.rejects(pool.read({ text: 'SELECT 1/0' }), { message: 'division by zero' });
  }
  // A warning of too many listeners would be a failure.
});

for (const [kind, name] of [
  ['read', 'StoreUnavailable'],
  ['write', 'OutcomeUnknown'],
] as const) {
  test(`a ${kind} whose connection is terminated is ${name}, with the reason that the server gives [D9]`, async () => {
    await using pool = openPool(server.url);
    await assert.rejects(pool[kind]({ text: 'SELECT pg_terminate_backend(pg_backend_pid())' }), {
      name,
      message:
        /^The connection to the database was lost: terminating connection due to administrator command$/,
    });
  });
}

test('a look at a session that has become read-only is not mistaken for one at a server that loses commits [D9]', async () => {
  await using pool = openPool(server.url);
  await pool.read({ text: 'SET default_transaction_read_only = on' });
  await assert.rejects(pool.check(), new StoreNotWritable('The database is read-only'));
  await pool.check();
});

const ADD = { text: "INSERT INTO todos (title, category_id) VALUES ('a', 1) RETURNING id" };

async function nobodyIsThere(url: string): Promise<void> {
  while ((await server.backends(url)).length > 0) await sleep(10);
}

test('while a standby is gone, the server has no more connections than the pool may have', async () => {
  const url = await server.makeDatabase();
  await using store = await openPostgresStore(url, { connections: 3 });
  await using _gone = await server.loseStandby(url);
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
  await server.forgetStandby();
  while (!(await store.add(newTodo('c', 1)).catch(() => undefined))) await sleep(10);
});

for (const hides of [false, true]) {
  test(`a commit whose wait for a standby was cancelled by an operator is of unknown outcome${hides ? ', also for a role that hides warnings' : ''}`, async () => {
    const url = await server.makeMigrated();
    if (hides) await server.setForDatabase(url, 'client_min_messages', 'error');
    await using pool = openPool(url);
    await using _gone = await server.loseStandby(url);
    const write = pool.write(ADD);
    await server.cancelWaitsDuring(url, write);
    await assert.rejects(write, {
      name: 'OutcomeUnknown',
      message: 'the wait for a synchronous standby was cancelled',
    });
  });
}

test('a commit that waits for a standby is cancelled when its connection is lost', async () => {
  const url = await server.makeMigrated();
  await using proxy = await startTcpProxy(server.port);
  await using pool = openPool(proxy.through(url));
  await using _gone = await server.loseStandby(url);
  const write = assert.rejects(pool.write(ADD), OutcomeUnknown);
  while ((await server.waitingForStandby(url)).length === 0) await sleep(10);
  proxy.cut();
  await write;
  await nobodyIsThere(url);
});

test('a connection whose statement was given up serves nobody until cancel and answer are both over', async (t) => {
  const url = await server.makeMigrated();
  await using proxy = await startTcpProxy(server.port);
  await using pool = openPool(proxy.through(url), { answerMs: 1_000 });
  await pool.read({ text: 'SELECT 1' });
  // By the clock of the test, nobody gives up the request to cancel.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: cancelled, resolve: cancelArrived } = Promise.withResolvers<void>();
  proxy.gate = (first) => {
    if (first.length !== 16) return undefined;
    cancelArrived();
    return released;
  };
  const lock = await server.lock(url, 'LOCK TABLE todos');
  const given = assert.rejects(pool.read({ text: 'SELECT FROM todos' }), /no answer in 1000 ms/);
  await server.somebodyWaits(url);
  t.mock.timers.tick(1_000);
  await cancelled;
  await given;
  const next = pool.read({ text: 'SELECT 1' });
  await lock[Symbol.asyncDispose]();
  const answering = "SELECT FROM pg_stat_activity WHERE query LIKE '%SELECT FROM todos' AND state = 'active'";
  while ((await server.execute(url, answering)).length > 0) await sleep(10);
  // The answer is under way still.
  await sleep(200);
  assert.deepEqual(pool.counts(), { used: 0, idle: 0, waiting: 1 });
  release();
  assert.equal((await next).length, 1);
});

test('the server looks whether the client of a long statement is still there, and gives a statement up', async () => {
  await using pool = openPool(server.url, { statementMs: 1_200 });
  const settings = {
    text: "SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', 'client_connection_check_interval') ORDER BY name",
  };
  assert.deepEqual(await pool.read(settings), [
    { name: 'client_connection_check_interval', setting: '2000' },
    { name: 'statement_timeout', setting: '1200' },
  ]);
});

test('a connection that is always used is replaced when its life is over', async () => {
  await using pool = openPool(server.url, { lifetimeMs: 50 });
  const process = async () => (await pool.read({ text: 'SELECT pg_backend_pid() AS pid' }))[0]?.pid;
  const first = await process();
  while ((await process()) === first);
});

for (const [random, share] of [
  [0, 80],
  [1, 100],
] as const) {
  test(`a connection lives for ${share} % of the longest life where chance says ${random}`, async ({
    mock,
  }) => {
    let now = 1_000;
    mock.method(performance, 'now', () => now);
    mock.method(Math, 'random', () => random);
    await using pool = openPool(server.url, { lifetimeMs: 1_000 });
    const first = await pool.read(PROCESS);
    now += 10 * share - 1;
    assert.deepEqual(await pool.read(PROCESS), first);
    now += 1;
    assert.notDeepEqual(await pool.read(PROCESS), first);
  });
}

test('the kernel asks after 10 s without traffic whether the server of a connection still lives', {
  skip: process.platform !== 'linux' && 'the kernel of this system does not tell its timers',
}, async () => {
  await using pool = openPool(server.url);
  const [{ port } = { port: 0 }] = await pool.read<{ port: number }>({
    text: 'SELECT inet_client_port() AS port',
  });
  const [ours, theirs] = [port, server.port].map((one) => one.toString(16).toUpperCase().padStart(4, '0'));
  const row = new RegExp(`:${ours} \\w+:${theirs} \\w+ \\w+:\\w+ (\\w+):(\\w+) `);
  // The kind of a timer, and in how many hundredths of a second it is over: `proc_net_tcp` of the kernel's documents.
  const timer = () => row.exec(readFileSync('/proc/self/net/tcp', 'utf8'))?.slice(1) ?? [];
  // What was sent last may not be acknowledged yet.
  while (timer()[0] === '01') await sleep(10);
  const [kind, left = ''] = timer();
  assert.equal(kind, '02');
  assert.ok(Number.parseInt(left, 16) <= 1_000, left);
});

test('a connection that nobody needs is closed', async () => {
  const url = await server.makeDatabase();
  await using pool = openPool(url, { idleMs: 50 });
  await pool.read({ text: 'SELECT 1' });
  await nobodyIsThere(url);
});

test('a connection that was used a moment ago is kept', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  await using pool = openPool(server.url);
  const before = await pool.read(PROCESS);
  t.mock.timers.tick(5_000);
  assert.deepEqual(await pool.read(PROCESS), before);
});

test('a transaction sees the database as it is at one moment', async () => {
  const url = await server.makeDatabase();
  await server.execute(url, 'CREATE TABLE things ()');
  await using pool = openPool(url);
  const counted = await pool.transaction('LOCK TABLE things IN ACCESS SHARE MODE', async (ask) => {
    const count = { text: 'SELECT count(*)::int AS things FROM things' };
    const before = await ask(count);
    await server.execute(url, 'INSERT INTO things DEFAULT VALUES');
    return [...before, ...(await ask(count))];
  });
  assert.deepEqual(counted, [{ things: 0 }, { things: 0 }]);
});

test('in a transaction an answer may take longer than answerMs, as long as parts of it come', async () => {
  await using pool = openPool(server.url, { answerMs: 1_000 });
  // A row is more than the server keeps back.
  const text = "SELECT pg_sleep(0.4), repeat('x', 100000) AS long FROM generate_series(1, 4)";
  const ask = () => pool.transaction('SELECT', (ask) => ask({ text })).catch(() => []);
  let rows = await ask();
  // A slow machine may be late with a part.
  while (rows.length === 0) rows = await ask();
  assert.equal(rows.length, 4);
});

test('who asks a pool that is closed waits for nothing', async () => {
  const pool = openPool(server.url, { connectionMs: 500 });
  await pool.read({ text: 'SELECT 1' });
  const closing = pool[Symbol.asyncDispose]();
  await assert.rejects(pool.read({ text: 'SELECT 1' }), {
    name: 'StoreUnavailable',
    message: /it is closed$/,
  });
  await closing;
});

test('the end of a pool waits for the statement that runs, and refuses who waits for a connection', async () => {
  const pool = openPool(server.url);
  let isAnswered = false;
  const running = pool.read({ text: 'SELECT pg_sleep(0.3)' }).then(() => {
    isAnswered = true;
  });
  while (pool.counts().used === 0) await sleep(10);
  const waiting = assert.rejects(pool.read(PROCESS), { name: 'StoreUnavailable', message: /it is closed$/ });
  await pool[Symbol.asyncDispose]();
  assert.ok(isAnswered);
  await Promise.all([running, waiting]);
});

test('a pool that has ended keeps no process up, also where a statement was given up', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  const pool = openPool(server.url, { answerMs: 500 });
  await assert.rejects(pool.read({ text: 'SELECT pg_sleep(600)' }), /no answer in 500 ms/);
  await pool[Symbol.asyncDispose]();
  assert.ok(timers() <= before, `${timers()} timers, ${before} before`);
});

test('as many connections are opened as wait for one, all at the same time', async () => {
  await using proxy = await startTcpProxy(server.port);
  await using pool = openPool(proxy.through(server.url), { connections: 5 });
  await pool.read(PROCESS);
  assert.equal(proxy.firsts.length, 1);
  const arrived = Promise.withResolvers<void>();
  proxy.gate = () => {
    if (proxy.firsts.length === 4) arrived.resolve();
    return arrived.promise;
  };
  await Promise.all(Array.from({ length: 4 }, () => pool.read({ text: 'SELECT pg_sleep(0.2)' })));
  assert.equal(proxy.firsts.length, 4);
});

test('a place is free again when the server cannot be reached to cancel what was given up', async () => {
  const url = await server.makeDatabase();
  await using proxy = await startTcpProxy(server.port);
  await using pool = openPool(proxy.through(url), { answerMs: 1_000 });
  await pool.read({ text: 'SELECT 1' });
  const given = assert.rejects(pool.read({ text: 'SELECT pg_sleep(600)' }), /no answer in 1000 ms/);
  proxy.refuse();
  await given;
  await assert.rejects(pool.read({ text: 'SELECT 1' }), /ECONNREFUSED/);
});

test('connections that stand still give their places back, although the server has read the requests to cancel [D9]', async () => {
  await using proxy = await startTcpProxy(server.port);
  await using pool = openPool(proxy.through(server.url), {
    connections: 3,
    answerMs: 1_000,
    connectionMs: 60_000,
  });
  const ask = () => pool.read({ text: 'SELECT pg_sleep(0.2)' });
  const areAnswered = async () => {
    const answers = await Promise.allSettled([ask(), ask(), ask()]);
    return answers.map(({ status }) => status === 'fulfilled');
  };
  // A slow machine may not answer in time.
  const untilAnswered = async () => {
    while ((await areAnswered()).includes(false));
  };
  await untilAnswered();
  proxy.freeze();
  assert.deepEqual(await areAnswered(), [false, false, false]);
  await untilAnswered();
});

test('a pool ends after 2 s when its server does not let go', async (t) => {
  const url = await server.makeDatabase();
  const pool = openPool(url);
  await pool.read({ text: 'SELECT 1' });
  {
    using _stall = stall(await server.backends(url));
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const ending = pool[Symbol.asyncDispose]();
    t.mock.timers.tick(2_000);
    await ending;
  }
  await nobodyIsThere(url);
});

/** What takes connections and is no PostgreSQL. */
interface Impostor extends AsyncDisposable {
  readonly port: number;
  /** How many connections it had at a time since that was last set to 0. */
  together: number;
}

/** @param meet Does something with a connection. */
async function startImpostor(meet: (socket: Socket) => void): Promise<Impostor> {
  const sockets = new Set<Socket>();
  const listening = createServer((socket) => {
    sockets.add(socket);
    impostor.together = Math.max(impostor.together, sockets.size);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
    meet(socket);
  });
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const impostor: Impostor = {
    port: (listening.address() as AddressInfo).port,
    together: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listening.close(resolve));
    },
  };
  return impostor;
}

/** The connection string of a database with other ports of 127.0.0.1, in the order in which they are tried. */
function withPorts(url: string, ...ports: readonly number[]): string {
  return url.replace(/@[^/]*/, `@${ports.map((port) => `127.0.0.1:${port}`).join()}`);
}

test('a host that says nothing does not keep the next one waiting, and is not the first to be asked again', async () => {
  let givenUp = false;
  await using silent = await startImpostor((socket) => {
    socket.resume().once('close', () => {
      givenUp = true;
    });
  });
  const cluster = new Cluster(addressOf(withPorts(server.url, silent.port, server.port)));
  for (const first of [silent.port, server.port]) {
    const asked: number[] = [];
    const requirements = { statementMs: 60_000, strict: true, withinMs: 20_000 };
    const connection = await cluster.open(requirements, ({ host }) => void asked.push(host.port));
    assert.equal(asked[0], first);
    assert.equal(connection.host.port, server.port);
    assert.equal(givenUp, false);
    await connection.leave();
  }
});

test('a host that is slow is waited for when the next one refuses', async () => {
  await using slow = await startTcpProxy(server.port);
  const refused = Promise.withResolvers<void>();
  slow.gate = () => refused.promise;
  const cluster = new Cluster(addressOf(withPorts(server.url, slow.port, 1)));
  const requirements = { statementMs: 60_000, strict: true, withinMs: 20_000 };
  const connection = await cluster.open(requirements, ({ host, left }) => {
    if (host.port === 1) void left.then(refused.resolve);
  });
  assert.equal(connection.host.port, slow.port);
  await connection.leave();
});

test('a connection to a host that was faster stays, and that to a slower one is let go', async () => {
  await using slow = await startTcpProxy(server.port);
  const late = Promise.withResolvers<void>();
  slow.gate = () => late.promise;
  const cluster = new Cluster(addressOf(withPorts(server.url, slow.port, server.port)));
  const left: Promise<void>[] = [];
  const requirements = { statementMs: 60_000, strict: true, withinMs: 20_000 };
  const connection = await cluster.open(requirements, (opening) => void left.push(opening.left));
  late.resolve();
  await left[0];
  assert.equal(connection.host.port, server.port);
  assert.equal((await connection.run(PROCESS)).length, 1);
  await connection.leave();
});

test('a server that does not let go of a connection gets no further one, and another host of the list serves', async () => {
  await using stuck = await startTcpProxy(server.port);
  await using spare = await startTcpProxy(server.port);
  const url = withPorts(server.url, stuck.port, spare.port);
  const cancelling = Promise.withResolvers<void>();
  // A request to cancel has 16 bytes.
  stuck.gate = (first) => (first.length === 16 ? cancelling.promise : undefined);
  // However slow the first host is, it serves first.
  const served = Promise.withResolvers<void>();
  spare.gate = () => served.promise;
  await using pool = openPool(url, { answerMs: 1_000 });
  await pool.read({ text: 'SELECT 1' });
  served.resolve();
  await assert.rejects(pool.read({ text: 'SELECT pg_sleep(600)' }), /no answer in 1000 ms/);
  assert.equal((await pool.read({ text: 'SELECT 1' })).length, 1);
  const { length } = stuck.firsts.filter((first) => first.length !== 16);
  assert.equal(length, 1);
  spare.refuse();
  spare.cut();
  const said = () => pool.read({ text: 'SELECT 1' }).then(String, messageOf);
  // The first may be that of the connection that is cut.
  while (!(await said()).includes(`127.0.0.1:${stuck.port}: it has not let go of earlier connections`));
  cancelling.resolve();
});

test('while no server will do, there is one try to connect at a time', async () => {
  await using closing = await startImpostor((socket) => setTimeout(() => socket.destroy(), 100));
  const url = `postgres://todo@127.0.0.1:${closing.port}/todos`;
  await using pool = openPool(url, { connections: 10 });
  const look = () => assert.rejects(pool.read({ text: 'SELECT 1' }), { name: 'StoreUnavailable' });
  await look();
  closing.together = 0;
  for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 20 }, look));
  assert.equal(closing.together, 1);
});

test('while no server will do, 100 ms lie between two tries to connect', async (t) => {
  let tries = 0;
  await using closing = await startImpostor((socket) => {
    tries += 1;
    socket.destroy();
  });
  await using pool = openPool(`postgres://todo@127.0.0.1:${closing.port}/todos`);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const look = () => assert.rejects(pool.read({ text: 'SELECT 1' }), { name: 'StoreUnavailable' });
  await look();
  const next = look();
  t.mock.timers.tick(99);
  // It is there after any that the pool has begun before.
  await once(connect(closing.port, '127.0.0.1'), 'close');
  assert.equal(tries, 2);
  t.mock.timers.tick(1);
  await next;
  assert.equal(tries, 3);
});

test('who finds all connections in use waits for one, and no further host of the list is asked', async (t) => {
  let asked = 0;
  await using next = await startImpostor((socket) => {
    asked += 1;
    socket.destroy();
  });
  // However slow the first host is, it is waited for.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  await using pool = openPool(withPorts(server.url, server.port, next.port), { connections: 2 });
  await Promise.all(Array.from({ length: 6 }, () => pool.read(PROCESS)));
  await once(connect(next.port, '127.0.0.1'), 'close');
  assert.equal(asked, 1);
});

test('where several servers will not do, the line names each with its reason', async () => {
  const url = withPorts(server.url, 1, server.port).replace(/postgres$/, 'nowhere');
  await using pool = openPool(url);
  await assert.rejects(pool.read({ text: 'SELECT 1' }), {
    name: 'StoreUnavailable',
    message: `No connection to the database: 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1; 127.0.0.1:${server.port}: database "nowhere" does not exist`,
  });
});

test('the size of the tables is asked for once a minute, and unknown again when the server does not say it', async () => {
  const url = await server.makeMigrated();
  await using pool = openPool(url);
  let now = 0;
  const size = sizeOf(pool, () => now);
  const known = async () => {
    size();
    // The pool has one connection: this is answered after the size.
    await pool.read({ text: 'SELECT' });
    return size();
  };
  const [first] = await known();
  assert.ok(first !== undefined && first.bytes > 0);
  const fill = 'INSERT INTO todos (title, category_id) SELECT i, 1 FROM generate_series(1, 10000) AS i';
  await server.execute(url, fill);
  now = 59_999;
  assert.deepEqual(await known(), [first]);
  now = 60_000;
  const [second] = await known();
  assert.ok(second !== undefined && second.bytes > first.bytes + 500_000);
  await server.execute(url, 'DROP TABLE idempotency_keys');
  now = 120_000;
  assert.deepEqual(await known(), []);
});

test('check says that a server does not sync', async () => {
  await using operator = await openPostgresMaintenance(await server.makeMigrated());
  const { facts, faults } = await operator.inspect();
  assert.equal(facts.fsync, 'off');
  assert.deepEqual(faults, ['"fsync" must be "on", received "off": a power cut may lose answered writes']);
});
