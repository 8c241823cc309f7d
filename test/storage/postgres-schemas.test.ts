import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresMaintenance } from '../../src/storage/postgres/maintenance.ts';
import { MIGRATIONS } from '../../src/storage/postgres/schema.ts';
import { openExport, openImport } from '../../src/storage/postgres/transfer.ts';
import { migratePostgres, openPatient } from './postgres-pool.ts';
import { makeServing } from './postgres-rights.ts';
import { PostgresServer } from './postgres-server.ts';
import { addedTo, listed, listenToSchema, once, ready, replacement, SCHEMA_VERSION, wrong } from './todos.ts';

const server = await PostgresServer.startForAll('fsync=on', 'wal_level=logical');

/** The same with another search path, as SQL writes it. */
function searching(url: string, path: string): string {
  const changed = new URL(url);
  changed.searchParams.set('options', `-c search_path=${path.replaceAll(/[ \\]/g, '\\$&')}`);
  return changed.href.replaceAll('+', '%20');
}

/** What is said of a function that does not find the table of the schema of its list. */
const astray = (schema: string, name = 'todo_removed()', table = 'todo_tombstones'): string =>
  `its function ${name} must find "${table}" in the schema of "todos", which is ${schema}, before any other: run "todo-service migrate"`;

const refusedAs = (says: string) => ({
  name: 'OperatorError',
  message: new RegExp(`: ${says.replaceAll(/[().$?]/g, '\\$&')}$`),
});

async function pathOf(url: string): Promise<unknown> {
  const [row] = await server.execute(
    url,
    "SELECT proconfig FROM pg_proc WHERE oid = 'todo_removed()'::regprocedure",
  );
  return row?.proconfig;
}

for (const schema of ['app', 'test', '"My ""App"""', '"Äpfel, Birnen"', '"a=b"', `"a$'"`]) {
  test(`public becomes ${schema}: removals are refused until migrate leads the function there [D11; D12]`, async () => {
    const { url, role, own } = await makeServing(server);
    await server.execute(url, `ALTER SCHEMA public RENAME TO ${schema}`);
    const there = searching(own, schema);
    const owner = searching(url, schema);
    await assert.rejects(openPatient(there, { migrate: false }), refusedAs(astray(schema)));
    await assert.rejects(openPatient(there), refusedAs(`${astray(schema)}, as the owner of the tables`));
    assert.deepEqual(await server.faults(owner), [astray(schema)]);
    await migratePostgres(owner);
    assert.deepEqual(await pathOf(owner), [`search_path=${schema}, pg_temp`]);
    assert.deepEqual(await server.faults(owner), []);
    // As a database administrator may harden it.
    await server.execute(
      owner,
      `ALTER FUNCTION todo_removed() SET search_path = pg_catalog, ${schema}, pg_temp`,
    );
    await migratePostgres(owner);
    assert.deepEqual(await pathOf(owner), [`search_path=pg_catalog, ${schema}, pg_temp`]);
    await using store = await openPatient(there, { migrate: false });
    const { id } = await addedTo(store, role);
    assert.equal(await store.remove(id), 'removed');
    assert.deepEqual(await listed(store), []);
  });
}

test('a schema that is renamed under the service: removals alone are 503, told once, until a start that migrates [D11]', async () => {
  const { url, own } = await makeServing(server);
  const { told, logEvent } = listenToSchema();
  await using store = await openPatient(searching(own, 'app, public'), { migrate: false, logEvent });
  await addedTo(store, 'a');
  await listed(store);
  await server.execute(url, 'ALTER SCHEMA public RENAME TO app');
  const refused = { name: 'StoreBroken', message: astray('app') };
  await assert.rejects(store.remove(1), refused);
  await assert.rejects(store.check(), refused);
  await addedTo(store, 'b');
  assert.equal((await listed(store)).length, 2);
  assert.deepEqual(told, [astray('app')]);
  await using _starts = await openPatient(searching(url, 'app'));
  assert.equal(await store.remove(1), 'removed');
  while (told.length < 2) await sleep(20);
  await store.check();
  assert.equal((await listed(store)).length, 1);
});

test('a schema is renamed under the service, and the path of its role follows: no restart is needed [D11]', async () => {
  const { url, role, own } = await makeServing(server);
  await using store = await openPatient(own, { migrate: false });
  await addedTo(store, 'a');
  await server.execute(url, 'ALTER SCHEMA public RENAME TO app');
  await assert.rejects(async () => store.find(1), {
    name: 'StoreBroken',
    message: /^its table "todos" is missing/,
  });
  await server.execute(url, `ALTER ROLE ${role} SET search_path = app`);
  await migratePostgres(searching(url, 'app'));
  await ready(store);
  assert.equal((await listed(store)).length, 1);
  assert.equal(await store.remove(1), 'removed');
});

for (const [what, path, isRight] of [
  ['hardened', 'pg_catalog, public, pg_temp', true],
  ['of a schema that is not there, before its own', 'nowhere, public, pg_temp', true],
  ['of its own schema before another that has such a table', 'public, other', true],
  ['as another spelling has it', '"public"', true],
  ['that names the owner by "$user"', '"$user", pg_temp', false],
  ['without it', 'pg_catalog, pg_temp', false],
  ['of letters in upper case', '"PUBLIC"', false],
  ['of one name with a comma', '"other, public"', false],
] as const) {
  test(`a path of the function that is ${what} is ${isRight ? 'right, and stays' : 'a fault, which migrate mends'} [D12]`, async () => {
    const url = await server.makeMigrated();
    await server.execute(
      url,
      `CREATE SCHEMA other; CREATE TABLE other.todo_tombstones (LIKE todo_tombstones);
      ALTER FUNCTION todo_removed() SET search_path = ${path}`,
    );
    const before = await pathOf(url);
    assert.deepEqual(await server.faults(url), isRight ? [] : [astray('public')]);
    await using store = await openPatient(url);
    assert.deepEqual(await pathOf(url), isRight ? before : ['search_path=public, pg_temp']);
    const { id } = await addedTo(store, 'a');
    assert.equal(await store.remove(id), 'removed');
  });
}

test('a function without a path of its own searches that of the session, and its "$user" is its owner [D12]', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await server.execute(url, `CREATE SCHEMA ${owner}`);
  await migratePostgres(url);
  for (const change of ['RESET search_path', 'SET search_path = "$user", pg_temp']) {
    await server.execute(url, `ALTER FUNCTION todo_removed() ${change}`);
    assert.deepEqual(await server.faults(url), []);
    await using store = await openPatient(url, { migrate: false });
    const { id } = await addedTo(store, 'a');
    assert.equal(await store.remove(id), 'removed');
  }
});

test('a function that writes into the table of another list: nothing is answered that may be wrong [D11]', async () => {
  const url = await server.makeMigrated();
  await using store = await openPatient(url);
  await addedTo(store, 'a');
  await server.execute(
    url,
    `CREATE SCHEMA other; CREATE TABLE other.todo_tombstones (LIKE todo_tombstones);
    ALTER FUNCTION todo_removed() SET search_path = other, public, pg_temp`,
  );
  const { name, message } = await wrong(store);
  const refused = { name: 'StoreBroken', message: astray('public') };
  assert.deepEqual({ name, message }, refused);
  await assert.rejects(store.remove(1), refused);
  await assert.rejects(async () => store.list(), refused);
  await migratePostgres(url);
  await ready(store);
  assert.equal(await store.remove(1), 'removed');
});

for (const [what, path] of [
  ['without it, as advisors of security want it', "''"],
  ['of another list', 'other, pg_temp'],
] as const) {
  test(`a path of the function that lists read by, ${what}, is a fault, which a look finds and migrate mends [D11; D12]`, async () => {
    const url = await server.makeMigrated();
    await using store = await openPatient(url);
    const { id } = await addedTo(store, 'a');
    await listed(store);
    await server.execute(
      url,
      `CREATE SCHEMA other; CREATE TABLE other.todos (LIKE todos); CREATE TABLE other.todo_tombstones (LIKE todo_tombstones);
      ALTER FUNCTION todo_unseen(pg_snapshot, integer) SET search_path = ${path}`,
    );
    const says = ['todos', 'todo_tombstones'].map((table) =>
      astray('public', 'todo_unseen(pg_snapshot,integer)', table),
    );
    assert.deepEqual(await server.faults(url), says);
    assert.equal((await wrong(store)).message, says.join('; '));
    await assert.rejects(async () => store.list(), { name: 'StoreBroken' });
    await migratePostgres(url);
    await ready(store);
    assert.deepEqual(await server.faults(url), []);
    assert.equal(await store.remove(id), 'removed');
    assert.deepEqual(await listed(store), []);
  });
}

test('instances that start together lead the function once [D12]', async () => {
  const url = await server.makeMigrated();
  await server.execute(url, 'ALTER SCHEMA public RENAME TO app');
  const opened = await Promise.all(
    Array.from({ length: 10 }, () => openPatient(searching(url, 'app'), { connections: 1 })),
  );
  for (const store of opened) await store[Symbol.asyncDispose]();
  assert.deepEqual(await server.faults(searching(url, 'app')), []);
});

/** What is said where the list is in another schema, and what leads there. */
const elsewhere = (path: string, schemas: string, remedy: string): string =>
  `its search path (${path}) finds no list, and the schema ${schemas} has one: ${remedy}; or "todo-service migrate --another-list" makes a second one`;

async function isEmpty(url: string, schema: string): Promise<boolean> {
  const [row] = await server.execute(
    url,
    `SELECT count(*)::int AS count FROM pg_class WHERE relnamespace = to_regnamespace('${schema}')`,
  );
  return row?.count === 0;
}

for (const [what, sql, path, schemas, remedy] of [
  [
    'is the default again',
    'CREATE SCHEMA public',
    '"$user", public',
    'app',
    'ALTER ROLE postgres SET search_path = app',
  ],
  ['names a schema that is not there', '', 'public', 'app', 'ALTER ROLE postgres SET search_path = app'],
  ['is empty', '', '""', 'app', 'ALTER ROLE postgres SET search_path = app'],
  [
    'names another schema',
    'CREATE SCHEMA "b B"',
    '"b B"',
    'app',
    'ALTER ROLE postgres SET search_path = app',
  ],
  [
    'leads to none of two',
    'CREATE SCHEMA "Z"; CREATE TABLE "Z".todo_schema (version integer); CREATE SCHEMA public',
    'public',
    '"Z", app',
    'ALTER ROLE postgres SET search_path = "Z"',
  ],
] as const) {
  test(`a search path that ${what}: start, migrate and the rest name both, and make nothing [D20]`, async () => {
    const url = await server.makeMigrated();
    await server.execute(url, `ALTER SCHEMA public RENAME TO app; ${sql}`);
    const lost = searching(url, path);
    const refused = { ...refusedAs(elsewhere(path, schemas, remedy)), reason: 'configuration' };
    for (const open of [
      () => openPatient(lost),
      () => openPatient(lost, { migrate: false }),
      () => migratePostgres(lost),
      () => openPostgresMaintenance(lost),
      () => openExport(lost),
      () => openImport(lost),
    ])
      await assert.rejects(open(), refused);
    for (const schema of ['public', '"b B"']) assert.ok(await isEmpty(url, schema));
  });
}

test('of a schema that the role may not use, the right is named too [D20]', async () => {
  const { url, role, own } = await makeServing(server);
  await server.execute(url, 'REVOKE USAGE ON SCHEMA public FROM PUBLIC');
  const remedy = `GRANT USAGE ON SCHEMA public TO ${role}; ALTER ROLE ${role} SET search_path = public`;
  await assert.rejects(openPatient(own), refusedAs(elsewhere('"$user", public', 'public', remedy)));
});

/** SQL that makes the list of an earlier program, from before a schema named the oldest program. */
const listOfVersion = (version: 1 | 2 | 3 | 4): string =>
  `CREATE TABLE todo_schema (version integer NOT NULL); INSERT INTO todo_schema VALUES (${version});
  ${MIGRATIONS.from(0).slice(0, version).join(';')}; INSERT INTO categories (name) VALUES ('Work')`;

test('another list is made where that is wanted, both serve, and each is migrated where it is [D20]', async () => {
  const url = await server.makeMigrated();
  await server.execute(url, 'CREATE SCHEMA second');
  const second = searching(url, 'second');
  await migratePostgres(second, true);
  await using one = await openPatient(url);
  await using other = await openPatient(second);
  await addedTo(other, 'b');
  const { id } = await addedTo(one, 'a');
  await addedTo(one, 'a');
  assert.equal(await one.remove(id), 'removed');
  assert.deepEqual(
    [await listed(one), await listed(other)].map((todos) => todos.map(({ title }) => title)),
    [['a'], ['b']],
  );
  await server.execute(url, `CREATE SCHEMA third; SET search_path = third; ${listOfVersion(3)}`);
  const third = searching(url, 'third');
  const newest = SCHEMA_VERSION.postgres;
  assert.deepEqual(await migratePostgres(third), { from: 3, to: newest });
  assert.deepEqual(await migratePostgres(url), { from: newest, to: newest });
  for (const each of [url, second, third]) assert.deepEqual(await server.faults(each), []);
});

test('first starts together beside another list are no list elsewhere to each other [D20]', async () => {
  const url = await server.makeDatabase();
  const opened = await Promise.all(Array.from({ length: 20 }, () => openPatient(url, { connections: 1 })));
  for (const store of opened) await store[Symbol.asyncDispose]();
});

test('a list of an older version in the second schema of the path is upgraded there [D20]', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await server.execute(url, `${listOfVersion(1)}; CREATE SCHEMA ${owner}`);
  await using store = await openPatient(url);
  const { id } = await addedTo(store, 'a');
  assert.equal(await store.remove(id), 'removed');
  assert.deepEqual(await pathOf(url), ['search_path=public, pg_temp']);
  assert.ok(await isEmpty(url, owner));
  assert.deepEqual(await server.faults(url), []);
});

test('a schema that an extension keeps from the role stops a migration with the right that mends it', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  const superuser = url.replace(owner, 'postgres');
  // As pglogical does without an event trigger.
  await server.execute(
    superuser,
    `CREATE SCHEMA "of others"; CREATE TABLE "of others".seen (i integer); GRANT SELECT ON "of others".seen TO PUBLIC;
    CREATE FUNCTION looks() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM FROM "of others".seen; END $$;
    CREATE EVENT TRIGGER looks ON ddl_command_end EXECUTE FUNCTION looks()`,
  );
  const grant = `GRANT USAGE ON SCHEMA "of others" TO ${owner}`;
  await assert.rejects(migratePostgres(url), {
    message: new RegExp(`: permission denied for schema of others \\(.*\\): ${grant}$`),
  });
  await server.execute(superuser, grant);
  await migratePostgres(url);
  await server.execute(superuser, `REVOKE USAGE ON SCHEMA "of others" FROM ${owner}`);
  await using operator = await openPostgresMaintenance(url);
  const { facts, faults } = await operator.inspect();
  assert.match(String(facts.definitions), /^not compared: permission denied for schema of others \(/);
  assert.deepEqual(faults, []);
});

for (const [what, sql, parts] of [
  [
    'functions without tables',
    'DROP TABLE todos, categories, todo_schema, todo_tombstones, todo_purged, idempotency_keys CASCADE',
    'todo_changed(), todo_removed(), todo_unseen(pg_snapshot, integer)',
  ],
  [
    'tables without todo_schema',
    'DROP TABLE todo_schema',
    'categories, idempotency_keys, idempotency_keys_at, todo_changed(), todo_purge(), todo_purged, todo_removed(), ' +
      'todo_tombstones, todo_tombstones_changed, todo_unseen(pg_snapshot, integer), todos, todos_changed',
  ],
  [
    'a table of another program',
    'DROP TABLE todos, todo_schema, todo_tombstones, todo_purged, idempotency_keys CASCADE; ' +
      'DROP FUNCTION todo_changed, todo_removed, todo_unseen',
    'categories',
  ],
  [
    'an index of a table that was renamed',
    'DROP TABLE categories, todo_schema, todo_tombstones, todo_purged, idempotency_keys CASCADE; ' +
      'ALTER TABLE todos RENAME TO kept; DROP FUNCTION todo_changed, todo_removed, todo_unseen CASCADE',
    'todos_changed',
  ],
  [
    'a schema without its rows',
    'DELETE FROM todo_schema; DROP TABLE todos, todo_tombstones, idempotency_keys CASCADE; DROP FUNCTION todo_changed',
    'categories, todo_purged, todo_removed(), todo_unseen(pg_snapshot, integer)',
  ],
] as const) {
  test(`${what} and no version: migrate, start, check and the rest name what is there and what to do, and make nothing`, async () => {
    const url = await server.makeMigrated();
    await server.execute(url, sql);
    const there = 'SELECT oid FROM pg_class UNION ALL SELECT oid FROM pg_proc ORDER BY 1';
    const before = await server.execute(url, there);
    const refused = refusedAs(
      `its schema public has no "todo_schema" with a version, but parts of a restore that failed, or of another program: ${parts}. Restore into an empty database, drop them if nobody needs them, or set another "search_path"`,
    );
    for (const open of [
      () => openPatient(url),
      () => openPatient(url, { migrate: false }),
      () => migratePostgres(url),
      () => openPostgresMaintenance(url),
      () => openExport(url),
      () => openImport(url),
    ])
      await assert.rejects(open(), { ...refused, reason: 'unavailable' });
    assert.deepEqual(await server.execute(url, there), before);
    await server.execute(url, 'CREATE SCHEMA empty');
    const elsewhere = searching(url, 'empty');
    await migratePostgres(elsewhere, true);
    assert.deepEqual(await server.faults(elsewhere), []);
  });
}

/** As pg_createsubscriber makes it. */
const PUBLICATION = 'CREATE PUBLICATION all_tables FOR ALL TABLES';

const OLD_TOMBSTONE = "INSERT INTO todo_tombstones VALUES (1, '1', now() - interval '25 hours')";

for (const [what, sql, from] of [
  ['no list', '', 0],
  ['a list of version 4', `${listOfVersion(4)}; ${OLD_TOMBSTONE}`, 4],
  [
    'a list of version 4 that was restored from another server',
    `${listOfVersion(4)}; ${OLD_TOMBSTONE}; UPDATE todo_purged SET changed = '99999999999'`,
    4,
  ],
] as const) {
  test(`${what} where all tables are published: migrate, check, every write and the purge work`, async () => {
    const { owner, url } = await server.makeOwnedDatabase();
    await server.execute(url, sql);
    await server.execute(url.replace(owner, 'postgres'), PUBLICATION);
    assert.deepEqual(await migratePostgres(url), { from, to: SCHEMA_VERSION.postgres });
    assert.deepEqual(await server.faults(url), []);
    if (from === 0) await server.execute(url, OLD_TOMBSTONE);
    const told: string[] = [];
    await using store = await openPatient(url, { logEvent: ({ event }) => told.push(event) });
    assert.deepEqual(await server.execute(url, 'SELECT id FROM todo_tombstones'), []);
    const { id } = await addedTo(store, 'a', 1, once('key'));
    assert.equal(await store.replace(id, replacement('b', true, 1)), 'replaced');
    assert.equal(await store.remove(id), 'removed');
    assert.deepEqual(await listed(store), []);
    assert.deepEqual(told, []);
  });
}

test('check names the twin rows that a restore of the data alone leaves, and its lines mend them', async () => {
  const url = await server.makeMigrated();
  const whole = await server.execute(url, 'SELECT * FROM todo_schema');
  await server.execute(
    url,
    `INSERT INTO todo_schema SELECT version - twin, oldest_program FROM todo_schema, (VALUES (0), (1)) AS twins (twin);
    INSERT INTO todo_purged VALUES ('0'), ('0')`,
  );
  await using operator = await openPostgresMaintenance(url);
  const { facts, faults } = await operator.inspect();
  assert.equal(facts['schema version'], SCHEMA_VERSION.postgres);
  assert.deepEqual(
    faults.map((fault) => fault.slice(0, fault.indexOf(': '))),
    ['"todo_schema" must have one row, received 3', '"todo_purged" must have one row, received 3'],
  );
  for (const fault of faults) await server.execute(url, fault.slice(fault.indexOf('DELETE')));
  assert.deepEqual(await server.faults(url), []);
  assert.deepEqual(await server.execute(url, 'SELECT * FROM todo_schema'), whole);
});
