import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Maintenance } from '../../src/storage/maintenance.ts';
import { openPostgresMaintenance } from '../../src/storage/postgres/maintenance.ts';
import { runCommand } from '../support/run-command.ts';
import { openPatient } from './postgres-pool.ts';
import { PASSWORD, PostgresServer } from './postgres-server.ts';
import { addedTo, listed, newTodo } from './todos.ts';

const server = await PostgresServer.startForAll('fsync=on');

/** The one line with which a start is refused. */
async function faultOf(url: string, options = {}): Promise<string> {
  const refused = await openPatient(url, { patienceMs: 0, ...options }).then(
    () => assert.fail('must be refused'),
    (error: Error) => error,
  );
  assert.equal(refused.name, 'OperatorError');
  assert.doesNotMatch(refused.message, /secret|\n/);
  return refused.message;
}

test('twenty instances that start together all serve, and make the categories Work (1) and Life (2) once [D7]', async () => {
  const url = await server.makeDatabase();
  await using stores = new AsyncDisposableStack();
  const all = await Promise.all(Array.from({ length: 20 }, () => openPatient(url, { connections: 1 })));
  for (const store of all) stores.use(store);
  for (const [index, store] of all.entries()) await addedTo(store, `todo ${index}`, 1 + (index % 2));
  for (const store of all) assert.equal((await listed(store)).length, 20);
  assert.deepEqual(await server.execute(url, 'SELECT id, name FROM categories ORDER BY id'), [
    { id: 1, name: 'Work' },
    { id: 2, name: 'Life' },
  ]);
});

test('a database that is not there, or not to be had, is named in one line without user and password [D9]', async () => {
  const url = await server.makeDatabase();
  await server.execute(url, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
  const named = (name: string) => url.replace(/\/todos_\d+$/, `/${name}`);
  for (const [address, reason] of [
    [named('nowhere'), /"postgres:\/\/127\.0\.0\.1:\d+\/nowhere": database "nowhere"/],
    [named('latin'), /its encoding must be "UTF8", received "LATIN1"$/],
    [url.replace(`:${PASSWORD}@`, ':secret@'), /authentication failed for user "postgres"$/],
  ] as const)
    assert.match(await faultOf(address), reason);
});

test('a server without a connection to spare is waited for', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await server.limitConnections(owner, 0);
  assert.match(await faultOf(url), /too many connections for role "role_\d+"$/);
  const opening = openPatient(url, { patienceMs: 60_000 });
  await sleep(100);
  await server.limitConnections(owner, -1);
  await using store = await opening;
  assert.deepEqual(await listed(store), []);
});

/** What a fault says after its last colon but those of the statements: what an operator pastes. */
const grantsIn = (message: string): string => /GRANT .*$/.exec(message)?.[0] ?? '';

test('a role that may not make the schema is told what to grant, and that --no-migrate needs less', async () => {
  const database = await server.makeDatabase();
  const { role, url } = await server.makeRole(database);
  const message = await faultOf(url);
  assert.match(
    message,
    /: permission denied for schema public\. To migrate, its role needs GRANT CREATE ON SCHEMA public TO /,
  );
  assert.match(
    message,
    /; else run "todo-service migrate" as the owner of the schema, and serve with --no-migrate, which needs less: GRANT /,
  );
  await server.execute(database, `GRANT CREATE ON SCHEMA public TO ${role}`);
  await using store = await openPatient(url);
  assert.deepEqual(await listed(store), []);
});

test('a role that may not change the schema of an older version is told to let the owner do it', async () => {
  const database = await server.makeMigrated();
  await server.execute(database, 'UPDATE todo_schema SET version = 1');
  const { role, url } = await server.makeRole(database);
  await server.execute(
    database,
    `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}; GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
  );
  assert.match(
    await faultOf(url),
    /: must be owner of table todos\. To migrate, its role needs the ownership of the tables; else run /,
  );
});

const FREEZE = `CREATE FUNCTION stop() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
    RAISE 'changes are frozen' USING ERRCODE = '42501', HINT = E'ask\\n the DBA'; END $$;
  CREATE EVENT TRIGGER stop ON ddl_command_start EXECUTE FUNCTION stop()`;

test('a migration that another rule refuses is told what that says, and no grant that its role has [D9]', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  const astray = await server.makeMigrated();
  await server.execute(astray, 'ALTER FUNCTION todo_removed() SET search_path = pg_catalog');
  for (const [database, migrates] of [
    [url.replace(owner, 'postgres'), url],
    [astray, astray],
  ] as const) {
    await server.execute(database, FREEZE);
    const { code, stderr } = await runCommand(['migrate'], { env: { TODO_DATABASE: migrates } });
    const said = 'changes are frozen (PL/pgSQL function stop() line 2 at RAISE';
    const name = `postgres://127.0.0.1:${server.port}${new URL(database).pathname}`;
    assert.ok(stderr.startsWith(`Cannot migrate: Cannot open the database "${name}": ${said}`), stderr);
    assert.match(stderr, /; ask the DBA\)\n$/);
    assert.equal(code, 69);
  }
});

test('what a role lacks to serve is granted by the line that refuses the start, and then it serves', async () => {
  const database = await server.makeMigrated();
  const { role, url } = await server.makeRole(database);
  const message = await faultOf(url, { migrate: false });
  assert.match(
    message,
    /: its role lacks rights: GRANT SELECT, INSERT, UPDATE, DELETE ON todos TO role_\d+; GRANT SELECT ON categories TO /,
  );
  await server.execute(
    database,
    `REVOKE ALL ON ALL TABLES IN SCHEMA public FROM ${role}; ${grantsIn(message)}`,
  );
  // No right to create: a schema that is up to date needs none.
  for (const migrate of [false, true]) {
    await using store = await openPatient(url, { migrate });
    const { id } = await addedTo(store, 'a');
    assert.ok((await listed(store)).some((todo) => todo.id === id));
    assert.equal(await store.remove(id), 'removed');
    const once = { key: `migrate ${migrate}`, body: 'b', patienceMs: 1_000 };
    const made = await store.add(newTodo('b', 1), once);
    assert.deepEqual(await store.add(newTodo('b', 1), once), { repeated: made });
  }
});

test('one right that is missing is named alone', async () => {
  const database = await server.makeMigrated();
  const { role, url } = await server.makeRole(database);
  await server.execute(database, grantsIn(await faultOf(url)));
  await server.execute(database, `REVOKE DELETE ON todos FROM ${role}`);
  assert.match(await faultOf(url), /: its role lacks rights: GRANT DELETE ON todos TO role_\d+$/);
});

/** Time enough for a second operator to look, before the first has written. */
const SLOW_WRITES = `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$;
  CREATE TRIGGER wait BEFORE INSERT OR UPDATE ON categories FOR EACH ROW EXECUTE FUNCTION wait()`;

for (const [what, use] of [
  ['add the same name', (operator: Maintenance) => operator.addCategory('Garden')],
  [
    'give two categories the same name',
    (operator: Maintenance, id: number) => operator.renameCategory(id, 'Garden'),
  ],
] as const) {
  test(`of two operators who ${what} at the same moment, one succeeds`, async () => {
    const url = await server.makeMigrated();
    await server.execute(url, SLOW_WRITES);
    await using one = await openPostgresMaintenance(url);
    await using other = await openPostgresMaintenance(url);
    const outcomes = await Promise.all([use(one, 1), use(other, 2)]);
    assert.equal(outcomes.filter((outcome) => outcome === undefined).length, 1);
    const names = (await one.listCategories()).map(({ name }) => name);
    assert.equal(names.filter((name) => name === 'Garden').length, 1);
  });
}

const LOGGED = ['categories', 'idempotency_keys', 'todos'].map((table) => `ALTER TABLE ${table} SET LOGGED`);
const UNLOGGED = `its tables must not be "UNLOGGED", because a crash of the server empties them: ${LOGGED.join('; ')}`;

test('check finds tables that a crash of the server empties, and its line mends that', async () => {
  const url = await server.makeMigrated();
  await server.execute(
    url,
    'ALTER TABLE idempotency_keys SET UNLOGGED; ALTER TABLE todos SET UNLOGGED; ALTER TABLE categories SET UNLOGGED',
  );
  const [fault = '', ...others] = await server.faults(url);
  assert.deepEqual([fault, others], [UNLOGGED, []]);
  await server.execute(url, fault.slice(fault.indexOf('ALTER TABLE')));
  assert.deepEqual(await server.faults(url), []);
});

test('tables that a crash of the server empties refuse a start', async () => {
  const url = await server.makeMigrated();
  for (const table of ['idempotency_keys', 'todos', 'categories'])
    await server.execute(url, `ALTER TABLE ${table} SET UNLOGGED`);
  for (const migrate of [true, false])
    assert.ok((await faultOf(url, { migrate })).endsWith(`": ${UNLOGGED}`));
});

test('a start that is refused leaves no connection', { timeout: 600_000 }, async () => {
  const url = await server.makeMigrated();
  await server.execute(url, 'ALTER TABLE todos SET UNLOGGED');
  assert.match(await faultOf(url), /UNLOGGED/);
  // The server takes a moment to forget one that has ended.
  while ((await server.backends(url)).length > 0) await sleep(20);
});

test('check finds a column of another type [D11]', async () => {
  const url = await server.makeMigrated();
  await server.execute(url, 'ALTER TABLE idempotency_keys ALTER COLUMN todo_id TYPE text');
  assert.deepEqual(await server.faults(url), [
    'the column "todo_id" of "idempotency_keys" must be integer, received text',
  ]);
});

test('a database whose commits do not wait for the disk is refused', async () => {
  const url = await server.makeDatabase();
  await server.setForDatabase(url, 'synchronous_commit', 'off');
  assert.match(await faultOf(url), /its "synchronous_commit" must not be "off" for this user and database$/);
});

for (const [what, name, body, message] of [
  [
    'an engine that is not PostgreSQL',
    'pg_backend_pid() RETURNS integer LANGUAGE plpgsql',
    `BEGIN RAISE E'no such function: ${'x'.repeat(100)}\\nin a long statement' USING ERRCODE = '90022'; END`,
    /: it must be PostgreSQL 15 or later, and answers the first question by "no such function: x{82}"$/,
  ],
  [
    'PGlite, where a setting does not hold',
    'version() RETURNS text LANGUAGE sql',
    "SELECT 'PostgreSQL 18.6 (PGlite 0.5.14)'",
    /: it is PGlite, where roles have no settings: use PostgreSQL$/,
  ],
] as const) {
  test(`${what} is refused in one sentence [D9]`, async () => {
    const url = await server.makeDatabase();
    await server.execute(
      url,
      `CREATE SCHEMA shadow; CREATE FUNCTION shadow.${name} AS $$ ${body} $$;
        CREATE FUNCTION shadow.current_setting(text) RETURNS text LANGUAGE sql AS $$
          SELECT CASE $1 WHEN 'idle_session_timeout' THEN '1h' ELSE pg_catalog.current_setting($1) END $$`,
    );
    assert.match(await faultOf(`${url}?options=-c%20search_path%3Dshadow,pg_catalog`), message);
  });
}
