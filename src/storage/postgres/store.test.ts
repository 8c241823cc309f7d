import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { QueryConfig, QueryResultRow } from 'pg';
import { openPatient, openPool, openPostgresStore, PATIENT } from '../../../test/storage/postgres-pool.ts';
import { makeServing } from '../../../test/storage/postgres-rights.ts';
import { PostgresServer } from '../../../test/storage/postgres-server.ts';
import { startTcpProxy, type TcpProxy } from '../../../test/storage/tcp-proxy.ts';
import { bytesOf, listed, newTodo, once, replacement } from '../../../test/storage/todos.ts';
import type { Event } from '../../events.ts';
import type { EntityTag } from '../../shared-list/entity-tags.ts';
import type { TodoStore } from '../../shared-list/store.ts';
import { addingOnce } from './add-once.ts';
import { addressOf } from './address.ts';
import { Cluster } from './cluster.ts';
import { openPostgresList } from './list.ts';
import type { Ask } from './postgres-connection.ts';
import { StatementPool } from './statement-pool.ts';
import { openPurge } from './tombstone-purge.ts';

const server = await PostgresServer.startForAll();

const HOUR_MS = 3_600_000;
const MILK = newTodo('milk', 2);

/** A tombstone that no list needs. */
const OLD_TOMBSTONE = `INSERT INTO todos (title, category_id) VALUES ('a', 1); DELETE FROM todos;
  UPDATE todo_tombstones SET at = at - interval '25 hours'`;

/** Writes down what is written, and holds a sweep back. */
class NotedPool extends StatementPool {
  readonly purges: QueryConfig[] = [];
  readonly sweeps: (readonly unknown[] | undefined)[] = [];
  readonly adds: (readonly unknown[] | undefined)[] = [];
  held: Promise<void> = Promise.resolve();

  constructor(url: string) {
    super(new Cluster(addressOf(url)), PATIENT, () => {});
  }

  override async write<Row extends QueryResultRow>(statement: QueryConfig): Promise<readonly Row[]> {
    if (statement.name === 'purge') this.purges.push(statement);
    if (statement.name === 'add-once') this.adds.push(statement.values);
    if (statement.name === 'sweep') {
      this.sweeps.push(statement.values);
      await this.held;
    }
    return super.write(statement);
  }
}

test('old tombstones are purged each hour until the store is closed; failures in a row are one event, and their end is one', async (t) => {
  const url = await server.makeMigrated();
  t.mock.timers.enable({ apis: ['setInterval'] });
  await using pool = new NotedPool(url);
  const told: Event[] = [];
  const tombstones = openPurge((event) => told.push(event));
  tombstones.repeat(pool);
  await server.execute(url, OLD_TOMBSTONE);
  const purgesAfter = async (milliseconds: number): Promise<number> => {
    t.mock.timers.tick(milliseconds);
    // The pool has one connection: this is answered after the purge.
    await pool.read({ text: 'SELECT' });
    return pool.purges.length;
  };
  assert.equal(await purgesAfter(HOUR_MS - 1), 0);
  assert.equal(await purgesAfter(1), 1);
  assert.deepEqual(await server.execute(url, 'SELECT id FROM todo_tombstones'), []);
  assert.equal(told.length, 0);
  await server.execute(url, 'ALTER FUNCTION todo_purge RENAME TO another');
  assert.equal(await purgesAfter(HOUR_MS), 2);
  assert.equal(await purgesAfter(HOUR_MS), 3);
  await server.execute(url, 'ALTER FUNCTION another RENAME TO todo_purge');
  assert.equal(await purgesAfter(HOUR_MS), 4);
  tombstones[Symbol.dispose]();
  assert.equal(await purgesAfter(HOUR_MS), 4);
  const [failed, ...rest] = told;
  assert.match(
    failed?.event === 'purge-failed' ? failed.reason : '',
    /^function todo_purge\(\) does not exist \(No function matches /,
  );
  assert.deepEqual(rest, [{ event: 'purge-mended' }]);
});

/** Its address leads to another server while there is one, which is lost as soon as it has told its list. */
class MovingPool extends NotedPool {
  other: StatementPool | undefined;

  override read<Row extends QueryResultRow>(statement: QueryConfig): Promise<readonly Row[]> {
    return this.other?.read(statement) ?? super.read(statement);
  }

  override transaction<T>(first: string, work: (ask: Ask) => Promise<T>): Promise<T> {
    if (this.other === undefined) return super.transaction(first, work);
    return this.other.transaction(first, async (ask) => {
      await work(ask);
      throw new Error('the server is lost');
    });
  }
}

test('nothing stays of the list of a server that was lost while it was read, when the one before it is back', async () => {
  const [url, otherUrl] = [await server.makeMigrated(), await server.makeMigrated()];
  await server.execute(otherUrl, "INSERT INTO todos (title, category_id) VALUES ('of the other', 1)");
  await using pool = new MovingPool(url);
  await using other = openPool(otherUrl);
  const list = openPostgresList(pool, pool);
  const text = async () => bytesOf(await (await list.current()).select()).toString();
  assert.equal(await text(), '[]');
  pool.other = other;
  await assert.rejects(list.current(), /the server is lost/);
  pool.other = undefined;
  assert.equal(await text(), '[]');
});

/** The names of the statements that a client has parsed, of what it sent: the messages that begin with `P`. */
function parsedIn(sent: Buffer): string[] {
  const names: string[] = [];
  for (let at = 0; at < sent.length; at += 1 + sent.readUInt32BE(at + 1))
    if (sent[at] === 'P'.charCodeAt(0)) names.push(sent.toString('utf8', at + 5, sent.indexOf(0, at + 5)));
  return names;
}

test('each statement is parsed once on a connection, and has a name from then on', async () => {
  await using proxy = await startTcpProxy(server.port);
  await using store = await openPatient(proxy.through(await server.makeMigrated()), { connections: 1 });
  const round = async (key: string): Promise<void> => {
    assert.ok(await store.add(MILK));
    const { id } = Object(await store.add(MILK, once(key)));
    const asItIs = async () => ({ ifMatch: [(await store.find(id))?.etag ?? ''] });
    await store.replace(id, replacement('bread', true, 1));
    assert.equal(await store.replace(id, replacement('oats', true, 1), await asItIs()), 'replaced');
    await store.list();
    assert.equal(await store.remove(id, await asItIs()), 'removed');
    assert.equal(await store.remove(id), 'todo-missing');
    await store.check();
  };
  // The first list is read as a whole, the second by its changes.
  await round('first');
  await round('second');
  const parsed: string[] = [];
  proxy.edit = (sent) => {
    parsed.push(...parsedIn(sent));
    return sent;
  };
  await round('third');
  assert.deepEqual(parsed, []);
});

test('a start whose purge fails serves', async () => {
  const url = await server.makeMigrated();
  await server.execute(
    url,
    `${OLD_TOMBSTONE};
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
    CREATE TRIGGER refuse BEFORE DELETE ON todo_tombstones FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  await assert.rejects(server.execute(url, 'SELECT todo_purge()'), /refused/);
  await using store = await openPatient(url);
  assert.deepEqual(await listed(store), []);
});

test('a store that is closed leaves no connection: neither that of its start nor any of its pools', async () => {
  const url = await server.makeMigrated();
  const store = await openPatient(url);
  await store.add(MILK, once('a'));
  assert.equal((await listed(store)).length, 1);
  await store[Symbol.asyncDispose]();
  // The server ends a process a moment after its client has left.
  while ((await server.backends(url)).length > 0) await turn();
});

/** An error of the protocol: https://www.postgresql.org/docs/current/protocol-error-fields.html */
function protocolError(message: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${message}\0\0`);
  const head = Buffer.from('E\0\0\0\0');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}

type Use = (store: TodoStore, ifMatch: readonly EntityTag[]) => Promise<unknown>;

const put = replacement('milk', true, 2);

const needs: readonly (readonly [table: string, uses: readonly Use[]])[] = [
  [
    'todos',
    [
      async (store) => store.find(1),
      (store) => store.replace(1, put),
      (store, ifMatch) => store.replace(1, put, { ifMatch }),
      (store) => store.remove(1),
      (store, ifMatch) => store.remove(1, { ifMatch }),
    ],
  ],
  ['categories', [(store, ifMatch) => store.replace(1, put, { ifMatch })]],
  ['idempotency_keys', [(store) => store.add(MILK, once('a'))]],
];

/** The way to the server by a pooler that takes no settings at the start of a session, as PgBouncer does. */
async function startPooler(): Promise<TcpProxy> {
  const pooler = await startTcpProxy(server.port);
  pooler.refusal = (first) =>
    first.includes('row_security') ? protocolError('unsupported startup parameter: options') : undefined;
  return pooler;
}

test('where a pooler takes no settings, a start is refused with those that the role must bring [D14]', async () => {
  const { role, own } = await makeServing(server);
  await using pooler = await startPooler();
  const alter = `ALTER ROLE ${role} SET statement_timeout = '1200ms'; ALTER ROLE ${role} SET client_connection_check_interval = '2000ms'`;
  await assert.rejects(openPostgresStore(pooler.through(own), { migrate: false, patienceMs: 0 }), {
    name: 'OperatorError',
    message: new RegExp(
      `: settings cannot be made through the pooler, so its role must bring them: ${alter}$`,
    ),
  });
});

/** A database and a role that brings what a pooler drops, but for row security. */
async function makeBringing() {
  const made = await makeServing(server);
  for (const setting of ["statement_timeout = '1min'", "client_connection_check_interval = '2s'"])
    await server.execute(made.url, `ALTER ROLE ${made.role} SET ${setting}`);
  return made;
}

for (const [table, uses] of needs)
  test(`where a pooler drops the setting against it, nothing in ${table} that row security hides is taken for missing [D11]`, async () => {
    const { url, role, own } = await makeBringing();
    await using pooler = await startPooler();
    await using store = await openPatient(pooler.through(own), { migrate: false });
    await store.add(MILK, once('a'));
    const milk = await store.find(1);
    assert.ok(milk);
    await server.execute(url, `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`);
    const message = new RegExp(`^row security would hide rows of "${table}" from the role ${role}: `);
    for (const use of uses)
      await assert.rejects(use(store, [milk.etag]), { name: 'StoreBroken', message }, String(use));
  });

test('where a pooler drops it, a key that row security hides, but not from a create, is said to be hidden [D11]', async () => {
  const { url, own } = await makeBringing();
  await using pooler = await startPooler();
  await using store = await openPatient(pooler.through(own), { migrate: false });
  await store.add(MILK, once('a'));
  await server.execute(
    url,
    `UPDATE idempotency_keys SET at = at - interval '2 hours'; ALTER TABLE idempotency_keys ENABLE ROW LEVEL SECURITY;
    CREATE POLICY adds ON idempotency_keys FOR INSERT WITH CHECK (true);
    CREATE POLICY new ON idempotency_keys FOR SELECT USING (at > now() - interval '1 hour')`,
  );
  await assert.rejects(store.add(MILK, once('a')), {
    name: 'StoreBroken',
    message: /^row security would hide rows of "idempotency_keys" from the role /,
  });
});

test('the server waits for another create with the key no longer than the caller does [I3]', async () => {
  await using pool = new NotedPool(await server.makeMigrated());
  await addingOnce(pool)(MILK, { ...once('a'), patienceMs: 500 });
  const limit = String(pool.adds[0]?.[2]);
  assert.match(limit, /^\d+ms$/);
  const milliseconds = Number.parseInt(limit, 10);
  assert.ok(milliseconds > 0 && milliseconds <= 500, limit);
});

test('one sweep is under way at a time; the next begins where the last one ended, or failed [I2]', async () => {
  const url = await server.makeMigrated();
  await server.execute(
    url,
    "INSERT INTO idempotency_keys VALUES ('old', 'milk', 1, timestamptz '2026-01-02 03:04:05+00')",
  );
  await using pool = new NotedPool(url);
  const addOnce = addingOnce(pool);
  const failing = Promise.withResolvers<void>();
  pool.held = failing.promise;
  await addOnce(MILK, once('a'));
  await addOnce(MILK, once('b'));
  assert.deepEqual(pool.sweeps, [['-infinity']]);
  failing.reject(new Error('The sweep failed'));
  await turn();
  pool.held = Promise.resolve();
  await addOnce(MILK, once('c'));
  // The pool has one connection: this is answered after the sweep.
  await pool.read({ text: 'SELECT' });
  await turn();
  await addOnce(MILK, once('d'));
  const begins = pool.sweeps.map((values) => String(values?.[0]));
  assert.deepEqual(begins.slice(0, 2), ['-infinity', '-infinity']);
  assert.equal(new Date(begins[2] ?? '').toISOString(), '2026-01-02T03:04:05.000Z');
});
