import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { migratePostgres, openPostgresOperator } from '../../src/store/postgres/operator.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { PostgresServer } from './postgres-server.ts';
import { addedTo, listenToSchema, newTodo } from './todos.ts';

const server = await PostgresServer.start('fsync=on');
after(() => server[Symbol.asyncDispose]());

/** A database with the schema, and rows that SQL made. */
async function filled(sql: string): Promise<string> {
  const url = await server.makeMigrated();
  await server.execute(url, sql);
  return url;
}

async function faultsOf(url: string): Promise<readonly string[]> {
  await using operator = await openPostgresOperator(url);
  return (await operator.inspect()).faults;
}

async function nextId(url: string, table = 'todos'): Promise<unknown> {
  const [row] = await server.execute(url, `SELECT last_value + is_called::int AS next FROM ${table}_id_seq`);
  return Number(row?.next);
}

/** What `COPY … FROM` with ids, `pg_restore --data-only` and logical replication leave. */
const COPIED = `INSERT INTO todos (id, title, category_id) OVERRIDING SYSTEM VALUE
  SELECT id, 'copied', 1 FROM generate_series(1, 40) AS id`;

const behind: readonly {
  readonly name: string;
  readonly sql: string;
  readonly table: string;
  readonly next: number;
  readonly highest: number;
}[] = [
  { name: 'rows', sql: COPIED, table: 'todos', next: 1, highest: 40 },
  {
    name: 'rows by one, after the sequence gave out some',
    sql: `${COPIED}; SELECT setval('todos_id_seq', 39)`,
    table: 'todos',
    next: 40,
    highest: 40,
  },
  {
    name: 'tombstones, which are above the rows',
    sql: `${COPIED}; DELETE FROM todos WHERE id > 30; SELECT setval('todos_id_seq', 30)`,
    table: 'todos',
    next: 31,
    highest: 40,
  },
  {
    name: 'kept keys, which are above rows and tombstones',
    sql: `${COPIED}; SELECT setval('todos_id_seq', 40); INSERT INTO idempotency_keys VALUES ('k', 'b', 55)`,
    table: 'todos',
    next: 41,
    highest: 55,
  },
  {
    name: 'categories',
    sql: "INSERT INTO categories (id, name) OVERRIDING SYSTEM VALUE VALUES (9, 'Garden')",
    table: 'categories',
    next: 3,
    highest: 9,
  },
];

for (const { name, sql, table, next, highest } of behind) {
  test(`D12 · a sequence behind ${name}: check says FAULT, --no-migrate is refused, migrate puts it above`, async () => {
    const url = await filled(sql);
    const fault = `the next id of "${table}" is ${next}, and ids up to ${highest} are taken: run "todo-service migrate"`;
    assert.deepEqual(await faultsOf(url), [fault]);
    await assert.rejects(openPostgresStore(url, { migrate: false }), ({ name: error, message }: Error) => {
      return error === 'StoreNotOpened' && message.endsWith(`: ${fault}`);
    });
    await migratePostgres(url);
    assert.equal(await nextId(url, table), highest + 1);
    assert.deepEqual(await faultsOf(url), []);
  });
}

test('D12 · a start that migrates puts the sequence above, and the first create is made', async () => {
  await using store = await openPostgresStore(await filled(COPIED));
  assert.equal((await addedTo(store, 'a')).id, 41);
});

const ahead: readonly [name: string, sql: string, next: number][] = [
  ['that is above', "SELECT setval('todos_id_seq', 100)", 101],
  ['that was told where to restart', 'ALTER TABLE todos ALTER COLUMN id RESTART WITH 41', 41],
];
for (const [name, sql, next] of ahead) {
  test(`D12 · a sequence ${name} is no fault, and is left where it is`, async () => {
    const url = await filled(`${COPIED}; ${sql}`);
    assert.deepEqual(await faultsOf(url), []);
    await migratePostgres(url);
    assert.equal(await nextId(url), next);
  });
}

test('D12 · ids up to 2147483647 are taken: afterwards none is given out', async () => {
  const url = await filled(
    "INSERT INTO todos (id, title, category_id) OVERRIDING SYSTEM VALUE VALUES (2147483647, 'last', 1)",
  );
  await using store = await openPostgresStore(url);
  await assert.rejects(store.add(newTodo('a', 1)), { name: 'IdsExhausted' });
});

test('D12 · a sequence of another name, in a schema that needs quotes, is put above', async () => {
  const url = await server.makeDatabase();
  const database = new URL(url).pathname.slice(1);
  await server.execute(
    url,
    `CREATE SCHEMA "My Todos"; ALTER DATABASE ${database} SET search_path = "My Todos"`,
  );
  await migratePostgres(url);
  await server.execute(url, `ALTER SEQUENCE todos_id_seq RENAME TO "Ids of todos"; ${COPIED}`);
  await using store = await openPostgresStore(url);
  assert.equal((await addedTo(store, 'a')).id, 41);
});

test('D12 · of migrations at once, and with instances that start, no id is given out twice', async () => {
  const url = await filled(COPIED);
  const migrating = Array.from({ length: 4 }, () => migratePostgres(url));
  await using stores = new AsyncDisposableStack();
  const opened = await Promise.all(
    Array.from({ length: 4 }, () => openPostgresStore(url, { connections: 2 })),
  );
  for (const store of opened) stores.use(store);
  const added = opened.flatMap((store) => Array.from({ length: 10 }, () => addedTo(store, 'a')));
  const ids = (await Promise.all(added)).map(({ id }) => id);
  await Promise.all(migrating);
  assert.deepEqual(
    ids.toSorted((one, other) => one - other),
    Array.from({ length: 40 }, (_, index) => 41 + index),
  );
  assert.equal(await nextId(url), 81);
});

test('D12 · migrate waits for a create that is under way, and creates wait for migrate', async () => {
  const url = await filled(
    "INSERT INTO todos (id, title, category_id) OVERRIDING SYSTEM VALUE VALUES (40, 'a', 1)",
  );
  const creating = new Client(url);
  await creating.connect();
  await creating.query("BEGIN; INSERT INTO todos (title, category_id) VALUES ('under way', 1)");
  const migrating = migratePostgres(url);
  await server.somebodyWaits(url);
  const next = server.execute(url, "INSERT INTO todos (title, category_id) VALUES ('next', 1) RETURNING id");
  await creating.query('COMMIT');
  await creating.end();
  await migrating;
  assert.deepEqual(await next, [{ id: 41 }]);
  assert.deepEqual(await server.execute(url, 'SELECT array_agg(id ORDER BY id) AS ids FROM todos'), [
    { ids: [1, 40, 41] },
  ]);
});

test('D12 · rows that are copied while migrate waits for the table are seen', async () => {
  const url = await filled(COPIED);
  const copying = new Client(url);
  await copying.connect();
  await copying.query('BEGIN');
  await copying.query(
    "INSERT INTO todos (id, title, category_id) OVERRIDING SYSTEM VALUE VALUES (90, 'late', 1)",
  );
  const migrating = migratePostgres(url);
  await server.somebodyWaits(url);
  await copying.query('COMMIT');
  await copying.end();
  await migrating;
  assert.equal(await nextId(url), 91);
});

test('D12 · rows that are copied under the service: not ready, a create is refused, and migrate mends it', async () => {
  const url = await filled('');
  const { told, tell } = listenToSchema();
  await using store = await openPostgresStore(url, { tell });
  await server.execute(url, COPIED);
  const refused = {
    name: 'StoreBroken',
    message: /^ids that were given out before come again: run "todo-service migrate"$/,
  };
  await assert.rejects(store.add(newTodo('a', 1)), refused);
  await assert.rejects(store.add(newTodo('a', 1), { key: 'k', body: 'b', patienceMs: 100 }), refused);
  await assert.rejects(store.check(), { name: 'StoreBroken' });
  await migratePostgres(url);
  assert.equal((await addedTo(store, 'a')).id, 41);
  while (told.length < 2) await sleep(20);
  assert.deepEqual(told, [
    'ids that were given out before come again: run "todo-service migrate"',
    undefined,
  ]);
});

test('D12 · a look that meets a sequence behind the rows says so, before any create', async () => {
  const url = await filled('');
  await using store = await openPostgresStore(url);
  await server.execute(url, COPIED);
  let error: Error | undefined;
  while (error === undefined) {
    await sleep(20);
    error = await store.check().then(
      () => undefined,
      (reason: Error) => reason,
    );
  }
  assert.equal(error.name, 'StoreBroken');
  assert.match(
    error.message,
    /^the next id of "todos" is 1, and ids up to 40 are taken: run "todo-service migrate"$/,
  );
});

test('D12 · a role that may not put sequences above is told who may', async () => {
  const url = await filled(COPIED);
  const { role, url: own } = await server.makeRole(url);
  await server.execute(
    url,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};
    GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
  );
  await assert.rejects(openPostgresStore(own), {
    message: /are taken: run "todo-service migrate", as the owner of the tables$/,
  });
});

test('D12 · who may not look at the sequences is told what to grant', async () => {
  const url = await filled('');
  const { role, url: own } = await server.makeRole(url);
  await server.execute(url, `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`);
  const message = new RegExp(
    `its role lacks rights: GRANT SELECT ON SEQUENCE todos_id_seq TO ${role}; GRANT SELECT ON SEQUENCE categories_id_seq TO ${role}$`,
  );
  await assert.rejects(openPostgresStore(own), { message });
  await using operator = await openPostgresOperator(own);
  await assert.rejects(operator.inspect(), { name: 'StoreUnavailable', message });
});

test('D12 · a category whose id is taken is not added, and the operator is told what helps', async () => {
  const url = await filled("INSERT INTO categories (id, name) OVERRIDING SYSTEM VALUE VALUES (3, 'Garden')");
  await using operator = await openPostgresOperator(url);
  await assert.rejects(operator.addCategory('Kitchen'), {
    message: /"categories_pkey": run "todo-service migrate"$/,
  });
});

test('a role whose transactions are serializable by default migrates as well', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await server.execute(url, `ALTER ROLE ${owner} SET default_transaction_isolation = 'serializable'`);
  const opened = await Promise.all(
    Array.from({ length: 4 }, () => openPostgresStore(url, { connections: 1 })),
  );
  for (const store of opened) await store[Symbol.asyncDispose]();
});

test('a server that was built without XML will do', async () => {
  const { url } = await server.makeOwnedDatabase();
  const database = new URL(url).pathname;
  const { href } = Object.assign(new URL(server.url), { pathname: database });
  await server.execute(href, 'REVOKE EXECUTE ON FUNCTION query_to_xml FROM PUBLIC');
  await using store = await openPostgresStore(url);
  await addedTo(store, 'a');
});
