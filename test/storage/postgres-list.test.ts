import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Client, type QueryConfig, type QueryResultRow } from 'pg';
import { addressOf } from '../../src/store/postgres/address.ts';
import { Cluster } from '../../src/store/postgres/cluster.ts';
import type { Ask } from '../../src/store/postgres/connection.ts';
import { Database } from '../../src/store/postgres/database.ts';
import { PostgresList } from '../../src/store/postgres/list.ts';
import { migratePostgres, openPostgresOperator } from '../../src/store/postgres/operator.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { StoreUnavailable } from '../../src/store/store.ts';
import { todoJson } from '../../src/store/todo.ts';
import { cases } from '../cases.ts';
import { PostgresServer } from './postgres-server.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { addedTo, bytesOf, listed } from './todos.ts';

const server = await PostgresServer.start('max_prepared_transactions=1');
after(() => server[Symbol.asyncDispose]());

const HOUR_MS = 3_600_000;

const LIMITS = {
  connectionMs: 1_000,
  statementMs: 1_200,
  answerMs: 1_400,
  lifetimeMs: 300_000,
  idleMs: 10_000,
};

/** Counts how often the whole list is read. */
class CountingPool extends Database {
  transactions = 0;

  override transaction<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
    this.transactions += 1;
    return super.transaction(work);
  }
}

/** Asks what changed since a transaction that is to come, when the server "was taken back" to before it. */
class AheadPool extends Database {
  ahead = false;

  override read<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]> {
    const isAhead = this.ahead && query.name === 'changes';
    return super.read(isAhead ? { ...query, values: ['9000000000:9000000000:'] } : query);
  }
}

/** A list on a database of its own, as an instance keeps it. */
async function openList(todos: number) {
  const url = await server.makeMigrated();
  await server.execute(
    url,
    `INSERT INTO todos (title, category_id) SELECT 'todo ' || i, 1 FROM generate_series(1, ${todos}) AS i`,
  );
  const parts = new AsyncDisposableStack();
  const cluster = new Cluster(addressOf(url));
  const quick = parts.use(new AheadPool(cluster, { ...LIMITS, connections: 2 }, () => {}));
  const patient = parts.use(new CountingPool(cluster, { ...LIMITS, connections: 1 }, () => {}));
  let now = Date.now();
  const list = parts.use(new PostgresList(quick, patient, () => now));
  return {
    url,
    execute: (sql: string) => server.execute(url, sql),
    /** The list as a client gets it. */
    async text(): Promise<string> {
      return bytesOf(await (await list.current()).select({ gzip: false })).toString();
    },
    current: () => list.current(),
    wholeReads: () => patient.transactions,
    isAhead(ahead: boolean) {
      quick.ahead = ahead;
    },
    pass(milliseconds: number) {
      now += milliseconds;
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

type List = Awaited<ReturnType<typeof openList>>;

/** The list as it is in the database. */
async function truth(url: string): Promise<string> {
  const rows = await server.execute(url, 'SELECT id, title, done, category_id FROM todos ORDER BY id');
  const todos = rows.map(({ id, title, done, category_id }) =>
    todoJson({ id: Number(id), title: String(title), done: done === true, categoryId: Number(category_id) }),
  );
  return `[${todos.join(',')}]`;
}

async function isTrue(list: List): Promise<void> {
  assert.equal(await list.text(), await truth(list.url));
}

/** What `check` finds wrong. */
async function faultsOf(url: string): Promise<string> {
  await using operator = await openPostgresOperator(url);
  return (await operator.inspect()).faults.join('\n');
}

/** A session of somebody else. */
async function session(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client(url);
  client.on('error', () => {});
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function answers(ask: () => unknown): Promise<boolean> {
  try {
    await ask();
    return true;
  } catch (error) {
    if (error instanceof StoreUnavailable) return false;
    throw error;
  }
}

const changes: Readonly<Record<string, string>> = {
  'is added': "INSERT INTO todos (title, category_id) VALUES ('new', 2)",
  'is changed': "UPDATE todos SET title = 'changed', done = true WHERE id = 300",
  'is changed to what it was': 'UPDATE todos SET title = title WHERE id = 300',
  'is removed': 'DELETE FROM todos WHERE id IN (1, 300, 1000)',
  'is removed and put back in one transaction': `DELETE FROM todos WHERE id = 5;
    INSERT INTO todos (id, title, category_id) OVERRIDING SYSTEM VALUE VALUES (5, 'back', 1)`,
  'gets another id': `ALTER TABLE todos ALTER COLUMN id SET GENERATED BY DEFAULT;
    UPDATE todos SET id = 5000 WHERE id = 7`,
  'is changed by logical replication': `SET session_replication_role = replica;
    UPDATE todos SET title = 'replicated' WHERE id = 300; DELETE FROM todos WHERE id = 301`,
  'is changed below savepoints': `BEGIN; SAVEPOINT a; UPDATE todos SET title = 'a' WHERE id = 9; SAVEPOINT b;
    DELETE FROM todos WHERE id = 10; RELEASE b; SAVEPOINT c; DELETE FROM todos WHERE id = 11; ROLLBACK TO c; COMMIT`,
};

test('what changes, by whomever, is read and nothing else', async () => {
  for (const [change, sql] of Object.entries(changes)) {
    await using list = await openList(1_000);
    await isTrue(list);
    await list.execute(sql);
    assert.equal(await list.text(), await truth(list.url), `a todo ${change}`);
    assert.equal(list.wholeReads(), 1, `a todo ${change}`);
  }
});

test('while nothing changes, the list is the very same, whatever else the server commits', async () => {
  await using list = await openList(10);
  const version = await list.current();
  const elsewhere = await server.makeDatabase();
  for (let round = 0; round < 3; round += 1) {
    await server.execute(elsewhere, `CREATE TABLE t${round} (i integer)`);
    await list.execute("INSERT INTO categories (name) VALUES ('other')");
    assert.equal(await list.current(), version);
  }
  assert.equal(list.wholeReads(), 1);
});

test('what a transaction does that was open when the list was read is seen when it has committed', async () => {
  await using list = await openList(10);
  await using writer = await session(list.url);
  await writer.query(
    "BEGIN; UPDATE todos SET title = 'changed' WHERE id = 3; DELETE FROM todos WHERE id = 4",
  );
  await using later = await session(list.url);
  await later.query("UPDATE todos SET title = 'later' WHERE id = 5");
  await isTrue(list);
  await writer.query("SAVEPOINT a; INSERT INTO todos (title, category_id) VALUES ('added', 1); RELEASE a");
  await isTrue(list);
  await writer.query('COMMIT');
  await isTrue(list);
  assert.equal(list.wholeReads(), 1);
});

test('what a transaction prepared is seen when it is committed', async () => {
  await using list = await openList(10);
  await list.execute(
    "BEGIN; UPDATE todos SET title = 'two phases' WHERE id = 3; PREPARE TRANSACTION 'change'",
  );
  await isTrue(list);
  await list.execute("COMMIT PREPARED 'change'");
  await isTrue(list);
  assert.equal(list.wholeReads(), 1);
});

test('a transaction that stays open elsewhere makes nobody read the whole list', async () => {
  await using list = await openList(10);
  await using elsewhere = await session(await server.makeDatabase());
  await elsewhere.query('BEGIN; CREATE TABLE t (i integer)');
  for (let round = 0; round < 3; round += 1) {
    await list.execute(
      `UPDATE todos SET title = 'round ${round}' WHERE id = 3; DELETE FROM todos WHERE id = ${round + 5}`,
    );
    await isTrue(list);
  }
  assert.equal(list.wholeReads(), 1);
});

const SESSIONS = 3;
const step = fc.tuple(
  fc.nat({ max: SESSIONS - 1 }),
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom('BEGIN', 'BEGIN', 'COMMIT', 'ROLLBACK') },
    { weight: 2, arbitrary: fc.constantFrom('SAVEPOINT a', 'SAVEPOINT a', 'ROLLBACK TO a', 'RELEASE a') },
    { weight: 2, arbitrary: fc.constant("INSERT INTO todos (title, category_id) VALUES ('new', 1)") },
    {
      weight: 4,
      arbitrary: fc.nat({ max: 9 }).map((id) => changeOf(id, "UPDATE todos SET title = title || '!'")),
    },
    { weight: 2, arbitrary: fc.nat({ max: 9 }).map((id) => changeOf(id, 'DELETE FROM todos')) },
  ),
);

/** A session that would wait for another changes nothing. */
function changeOf(id: number, change: string): string {
  return `${change} WHERE id = (SELECT id FROM todos WHERE id = ${id} FOR UPDATE SKIP LOCKED)`;
}

test('whatever generated transactions do side by side, the list is what is committed', async () => {
  await using list = await openList(9);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      await using parts = new AsyncDisposableStack();
      const sessions: Client[] = [];
      for (let one = 0; one < SESSIONS; one += 1) sessions.push(parts.use(await session(list.url)));
      for (const [which, sql] of steps) {
        // A savepoint that is not there fails its transaction: that is a rollback, too.
        await sessions[which]?.query(sql).catch(() => {});
        await isTrue(list);
      }
    }),
    { numRuns: cases(5, 50) },
  );
  assert.equal(list.wholeReads(), 1);
});

const notTracked: Readonly<Record<string, string>> = {
  TRUNCATE: 'TRUNCATE todos',
  'TRUNCATE with new todos':
    "BEGIN; TRUNCATE todos; INSERT INTO todos (title, category_id) VALUES ('new', 1); COMMIT",
  'a trigger that was off for a while': `ALTER TABLE todos DISABLE TRIGGER todo_changed;
    UPDATE todos SET title = 'unnoticed'; ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_changed`,
  'triggers that were off for a removal': `BEGIN; ALTER TABLE todos DISABLE TRIGGER USER;
    DELETE FROM todos WHERE id = 3; ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_changed;
    ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_removed; ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_renumbered; COMMIT`,
  'a table that was restored under its name': `BEGIN; CREATE TABLE copy (LIKE todos INCLUDING ALL);
    INSERT INTO copy OVERRIDING SYSTEM VALUE SELECT id, 'restored', done, category_id, changed FROM todos; DROP TABLE todos;
    ALTER TABLE copy RENAME TO todos; COMMIT`,
  'tombstones that were thrown away': 'DELETE FROM todos WHERE id = 3; TRUNCATE todo_tombstones',
  'changes of more todos than are worth it': `INSERT INTO todos (title, category_id)
    SELECT 'many', 1 FROM generate_series(1, 12000)`,
};

for (const [name, sql] of Object.entries(notTracked)) {
  test(`the list is right after ${name}, and read whole`, async () => {
    await using list = await openList(10);
    await isTrue(list);
    await list.execute(sql);
    await isTrue(list);
    assert.equal(list.wholeReads(), 2);
  });
}

test('while a trigger is off, the list is read whole each time, and check says so', async () => {
  await using list = await openList(10);
  await list.execute('ALTER TABLE todos DISABLE TRIGGER todo_changed');
  for (let round = 1; round <= 3; round += 1) {
    await list.execute(`UPDATE todos SET title = 'round ${round}'`);
    await isTrue(list);
    assert.equal(list.wholeReads(), round);
  }
  assert.match(await faultsOf(list.url), /must be "ENABLE ALWAYS".* TRIGGER todo_changed$/);
});

for (const when of ['before the first list', 'after it'] as const) {
  test(`a list that waits for a TRUNCATE with new todos, ${when}, has the new ones`, async () => {
    await using list = await openList(10);
    if (when === 'after it') await isTrue(list);
    await using writer = await session(list.url);
    await writer.query("BEGIN; TRUNCATE todos; INSERT INTO todos (title, category_id) VALUES ('new', 1)");
    const text = list.text();
    await server.somebodyWaits(list.url);
    await writer.query('COMMIT');
    assert.equal(await text, await truth(list.url));
    await isTrue(list);
  });
}

test('an hour after the last look, the list is read whole', async () => {
  await using list = await openList(10);
  await isTrue(list);
  list.pass(HOUR_MS - 1);
  await isTrue(list);
  assert.equal(list.wholeReads(), 1);
  list.pass(HOUR_MS);
  await isTrue(list);
  assert.equal(list.wholeReads(), 2);
});

test('tombstones older than a day are purged, and a list that may lack one is read whole', async () => {
  await using list = await openList(10);
  await isTrue(list);
  await list.execute(
    "DELETE FROM todos WHERE id = 3; UPDATE todo_tombstones SET at = at - interval '25 hours'",
  );
  await list.execute('DELETE FROM todos WHERE id = 4; SELECT todo_purge()');
  assert.deepEqual(await list.execute('SELECT id FROM todo_tombstones'), [{ id: 4 }]);
  await isTrue(list);
  assert.equal(list.wholeReads(), 2);
  await list.execute('DELETE FROM todos WHERE id = 5');
  await isTrue(list);
  assert.equal(list.wholeReads(), 2);
});

test('a tombstone of a transaction that is not below every open one stays', async () => {
  await using list = await openList(10);
  await using elsewhere = await session(await server.makeDatabase());
  await elsewhere.query('BEGIN; CREATE TABLE t (i integer)');
  await list.execute(
    "DELETE FROM todos WHERE id = 3; UPDATE todo_tombstones SET at = at - interval '25 hours'",
  );
  await list.execute('SELECT todo_purge()');
  assert.deepEqual(await list.execute('SELECT id FROM todo_tombstones'), [{ id: 3 }]);
});

test('an instance that starts purges', async () => {
  await using list = await openList(10);
  await list.execute(
    "DELETE FROM todos WHERE id = 3; UPDATE todo_tombstones SET at = at - interval '25 hours'",
  );
  await using _store = await openPostgresStore(list.url);
  assert.deepEqual(await list.execute('SELECT id FROM todo_tombstones'), []);
});

test('ids of transactions from another server are correct, and fast again after migrate', async () => {
  await using list = await openList(10);
  // As pg_restore does it: the data comes before the triggers.
  await list.execute(`ALTER TABLE todos DISABLE TRIGGER USER;
    UPDATE todos SET changed = '99999999999'; INSERT INTO todo_tombstones VALUES (2, '99999999999', now());
    UPDATE todo_purged SET changed = '99999999999'`);
  for (const trigger of ['todo_changed', 'todo_removed', 'todo_renumbered'])
    await list.execute(`ALTER TABLE todos ENABLE ALWAYS TRIGGER ${trigger}`);
  for (let round = 1; round <= 2; round += 1) {
    await list.execute(
      `UPDATE todos SET title = 'round ${round}' WHERE id = 3; DELETE FROM todos WHERE id = 4`,
    );
    await isTrue(list);
    assert.equal(list.wholeReads(), round);
  }
  assert.match(await faultsOf(list.url), /run "todo-service migrate"/);
  await migratePostgres(list.url);
  assert.doesNotMatch(await faultsOf(list.url), /todo-service migrate/);
  await isTrue(list);
  assert.equal(list.wholeReads(), 3);
  await list.execute("UPDATE todos SET title = 'again' WHERE id = 5; DELETE FROM todos WHERE id = 6");
  await isTrue(list);
  assert.equal(list.wholeReads(), 3);
});

test('a copy of the database that takes its name is another one', async () => {
  await using list = await openList(10);
  const name = new URL(list.url).pathname.slice(1);
  const admin = new URL(list.url);
  admin.pathname = '/postgres';
  await server.terminate(list.url);
  await server.execute(admin.href, `CREATE DATABASE ${name}_copy TEMPLATE ${name}`);
  await isTrue(list);
  const copy = new URL(list.url);
  copy.pathname = `/${name}_copy`;
  await server.execute(copy.href, "UPDATE todos SET title = 'of the copy' WHERE id = 3");
  await isTrue(list);
  await server.terminate(list.url);
  await server.execute(
    admin.href,
    `ALTER DATABASE ${name} RENAME TO ${name}_old; ALTER DATABASE ${name}_copy RENAME TO ${name}`,
  );
  await isTrue(list);
});

const stops: Readonly<Record<string, (url: string) => Promise<void>>> = {
  'the server crashed': () => server.crash(),
  'one of its processes was killed': (url) => server.killBackend(url),
  'it was stopped and started': async () => {
    await server.stop();
    await server.startAgain();
  },
};

for (const [what, stop] of Object.entries(stops)) {
  test(`when ${what}, no list is stale: ids of transactions may come again`, async () => {
    await using list = await openList(10);
    await using store = await openPostgresStore(list.url);
    for (let round = 1; round <= 4; round += 1) {
      // It takes an id, and nothing of it is on disk.
      await assert.rejects(list.execute("INSERT INTO todos (title, category_id) VALUES ('refused', 9)"));
      await isTrue(list);
      await stop(list.url);
      await server.answers(list.url);
      await list.execute("INSERT INTO todos (title, category_id) VALUES ('after', 1)");
      await isTrue(list);
      assert.equal(list.wholeReads(), round + 1);
    }
    await addedTo(store, 'at the end');
    await isTrue(list);
  });
}

test('after a promotion that lost changes, the list is what the new primary has', async () => {
  await using primary = await PostgresServer.start();
  const url = new URL(await primary.makeDatabase());
  await using proxy = await TcpProxy.start(primary.port);
  await using store = await openPostgresStore(proxy.through(url.href));
  await addedTo(store, 'replicated');
  await using standby = await primary.startStandby();
  url.port = String(standby.port);
  await standby.set('primary_conninfo', '');
  while ((await standby.execute(url.href, 'SELECT FROM pg_stat_wal_receiver')).length > 0) await sleep(10);
  for (let round = 0; round < 5; round += 1) await addedTo(store, 'lost');
  assert.equal((await listed(store)).length, 6);
  await primary.die();
  proxy.target = standby.port;
  await standby.promote();
  await standby.execute(url.href, "INSERT INTO todos (title, category_id) VALUES ('made after', 1)");
  while (!(await answers(() => store.list()))) await sleep(10);
  assert.deepEqual(
    (await listed(store)).map(({ title }) => title),
    ['replicated', 'made after'],
  );
});

test('an older instance and its role go on with the newer schema, and what they write is in the list', async () => {
  await using list = await openList(10);
  await isTrue(list);
  await list.execute(`CREATE ROLE older_instance LOGIN; GRANT SELECT, INSERT, UPDATE, DELETE ON todos TO older_instance;
    GRANT SELECT ON categories TO older_instance`);
  await list.execute(`SET ROLE older_instance; INSERT INTO todos (title, category_id) VALUES ('older', 1);
    UPDATE todos SET title = 'older', done = true, category_id = 2 WHERE id = 3; DELETE FROM todos WHERE id = 4`);
  await isTrue(list);
  assert.equal(list.wholeReads(), 1);
});

test('a list that is ahead of its server, whose machine was taken back with its memory, is read whole', async () => {
  await using list = await openList(2);
  await list.current();
  list.isAhead(true);
  await list.execute("UPDATE todos SET title = 'after' WHERE id = 1; DELETE FROM todos WHERE id = 2");
  assert.equal(await list.text(), '[{"id":1,"title":"after","done":false,"categoryId":1}]');
  list.isAhead(false);
  await list.text();
  assert.equal(list.wholeReads(), 2);
});
