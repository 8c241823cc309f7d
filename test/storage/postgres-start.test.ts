import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { todo } from '../todo.ts';
import { PASSWORD, PostgresServer } from './postgres-server.ts';
import { addedTo, listed, newTodo, SCHEMA_VERSION } from './todos.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

const OWN = SCHEMA_VERSION.postgres;

const refused = (url: string, message: RegExp, options = {}) =>
  assert.rejects(openPostgresStore(url, { patienceMs: 0, ...options }), (error: Error) => {
    assert.equal(error.name, 'StoreNotOpened');
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /secret|\n/);
    return true;
  });

test('D7 · twenty instances that start together all serve, and make the categories Work (1) and Life (2) once', async () => {
  const url = await server.makeDatabase();
  await using stores = new AsyncDisposableStack();
  const all = await Promise.all(Array.from({ length: 20 }, () => openPostgresStore(url, { connections: 1 })));
  for (const store of all) stores.use(store);
  await Promise.all(all.map((store, index) => addedTo(store, `todo ${index}`, 1 + (index % 2))));
  for (const store of all) assert.equal((await listed(store)).length, 20);
  assert.deepEqual(await server.execute(url, 'SELECT id, name FROM categories ORDER BY id'), [
    { id: 1, name: 'Work' },
    { id: 2, name: 'Life' },
  ]);
});

test('todos survive a restart of the service', async () => {
  const url = await server.makeDatabase();
  {
    await using store = await openPostgresStore(url);
    await addedTo(store, 'a');
  }
  await using store = await openPostgresStore(url);
  assert.deepEqual(await listed(store), [todo(1, 'a')]);
});

test('a newer schema that is not for this program is refused, and left as it is', async () => {
  const url = await server.makeDatabase();
  await (await openPostgresStore(url))[Symbol.asyncDispose]();
  await server.execute(url, 'UPDATE todo_schema SET version = 99, oldest_program = 98');
  const message = new RegExp(
    `its schema must be version ${OWN} or older, received 99, for programs from 98 on: start the newer`,
  );
  await refused(url, message);
  await refused(url, message, { migrate: false });
  assert.deepEqual(await server.execute(url, 'SELECT version FROM todo_schema'), [{ version: 99 }]);
});

test('an instance that may not migrate refuses an older schema, names the command, and changes nothing', async () => {
  const url = await server.makeDatabase();
  await refused(
    url,
    new RegExp(`its schema must be version ${OWN}, received 0: run "todo-service migrate" first$`),
    {
      migrate: false,
    },
  );
  assert.deepEqual(await server.execute(url, "SELECT to_regclass('todos') AS found"), [{ found: null }]);
  await (await openPostgresStore(url))[Symbol.asyncDispose]();
  await (await openPostgresStore(url, { migrate: false }))[Symbol.asyncDispose]();
});

test('D9 · a database that is not there is named without user and password', async () => {
  const url = await server.makeDatabase();
  await refused(
    url.replace(/\/todos_\d+$/, '/nowhere'),
    /"postgres:\/\/127\.0\.0\.1:\d+\/nowhere": database "nowhere"/,
  );
});

test('a wrong password is refused without telling it', async () => {
  const url = await server.makeDatabase();
  await refused(url.replace(`:${PASSWORD}@`, ':secret@'), /authentication failed for user "postgres"$/);
});

test('D9 · a server that is not there is refused in one line', async () => {
  await refused(
    'postgres://postgres:secret@127.0.0.1:1/todos',
    /"postgres:\/\/127\.0\.0\.1:1\/todos": connect ECONNREFUSED/,
  );
});

test('a server without a connection to spare is waited for', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  await server.limitConnections(owner, 0);
  await refused(url, /too many connections for role "owner_\d+"$/);
  const opening = openPostgresStore(url, { patienceMs: 60_000 });
  await sleep(100);
  await server.limitConnections(owner, -1);
  await using store = await opening;
  assert.deepEqual(await listed(store), []);
});

test('a connection string that cannot be read is not quoted', async () => {
  await refused(
    'postgres://user:secret@host:port/',
    /^Cannot open the database: its connection string cannot be read$/,
  );
});

test('a database that does not keep UTF-8 is refused', async () => {
  const url = await server.makeDatabase();
  await server.execute(url, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
  await refused(url.replace(/\/todos_\d+$/, '/latin'), /its encoding must be "UTF8", received "LATIN1"$/);
});

/** What a fault says after its last colon but those of the statements: what an operator pastes. */
const grantsIn = (message: string): string => /GRANT .*$/.exec(message)?.[0] ?? '';

async function faultOf(url: string, options = {}): Promise<string> {
  return openPostgresStore(url, { patienceMs: 0, ...options }).then(
    () => assert.fail('must be refused'),
    (error: Error) => error.message,
  );
}

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
  assert.doesNotMatch(message, /\n/);
  await server.execute(database, `GRANT CREATE ON SCHEMA public TO ${role}`);
  await using store = await openPostgresStore(url);
  assert.deepEqual(await listed(store), []);
});

test('a role that may not change the schema of an older version is told to let the owner do it', async () => {
  const database = await server.makeDatabase();
  await (await openPostgresStore(database))[Symbol.asyncDispose]();
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

test('what a role lacks to serve is granted by the line that refuses the start, and then it serves', async () => {
  const database = await server.makeDatabase();
  await (await openPostgresStore(database))[Symbol.asyncDispose]();
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
    await using store = await openPostgresStore(url, { migrate });
    const { id } = await addedTo(store, 'a');
    assert.ok((await listed(store)).some((todo) => todo.id === id));
    assert.equal(await store.remove(id), 'removed');
    const once = { key: `migrate ${migrate}`, body: 'b', patienceMs: 1_000 };
    const made = await store.add(newTodo('b', 1), once);
    assert.deepEqual(await store.add(newTodo('b', 1), once), { repeated: made });
  }
});

test('one right that is missing is named alone', async () => {
  const database = await server.makeDatabase();
  await (await openPostgresStore(database))[Symbol.asyncDispose]();
  const { role, url } = await server.makeRole(database);
  await server.execute(database, grantsIn(await faultOf(url)));
  await server.execute(database, `REVOKE DELETE ON todos FROM ${role}`);
  assert.match(await faultOf(url), /: its role lacks rights: GRANT DELETE ON todos TO role_\d+$/);
});
