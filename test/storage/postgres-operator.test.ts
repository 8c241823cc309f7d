import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { migratePostgres, openPostgresOperator } from '../../src/store/postgres/operator.ts';
import { PostgresServer } from './postgres-server.ts';
import { addedTo } from './todos.ts';

/** Time enough for a second operator to look, before the first has added. */
const SLOW_INSERTS = `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$;
  CREATE TRIGGER wait BEFORE INSERT ON categories FOR EACH ROW EXECUTE FUNCTION wait()`;

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

test('after a migration, an instance that may not migrate serves, and a second migration changes nothing', async () => {
  const url = await server.makeDatabase();
  await migratePostgres(url);
  await using store = await openPostgresStore(url, { migrate: false });
  await addedTo(store, 'a');
  await migratePostgres(url);
  await using operator = await openPostgresOperator(url);
  assert.equal((await operator.inspect()).facts.todos, 1);
});

test('an operator does not change the schema', async () => {
  const url = await server.makeDatabase();
  await assert.rejects(openPostgresOperator(url), {
    name: 'StoreNotOpened',
    message: /its schema must be version 3, received 0: run "todo-service migrate" first$/,
  });
});

test('two operators who add the same name at the same moment add it once', async () => {
  const url = await server.makeDatabase();
  await migratePostgres(url);
  await server.execute(url, SLOW_INSERTS);
  await using one = await openPostgresOperator(url);
  await using other = await openPostgresOperator(url);
  const outcomes = await Promise.all([one.addCategory('Garden'), other.addCategory('Garden')]);
  assert.equal(outcomes.filter((outcome) => outcome === 'name-taken').length, 1);
  assert.equal((await one.listCategories()).length, 3);
});

test('an inspection says that a server does not sync', async () => {
  const url = await server.makeDatabase();
  await migratePostgres(url);
  await using operator = await openPostgresOperator(url);
  const { facts, faults } = await operator.inspect();
  assert.equal(facts.fsync, 'off');
  assert.deepEqual(faults, ['"fsync" must be "on", received "off": a power cut may lose answered writes']);
});

test('a database whose commits do not wait for the disk is refused', async () => {
  const url = await server.makeDatabase();
  const database = new URL(url).pathname.slice(1);
  await server.execute(url, `ALTER DATABASE ${database} SET synchronous_commit = off`);
  await assert.rejects(openPostgresStore(url), {
    name: 'StoreNotOpened',
    message: /its "synchronous_commit" must not be "off" for this user and database$/,
  });
});
