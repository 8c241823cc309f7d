import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { migratePostgres, openPostgresOperator } from '../../src/store/postgres/operator.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { PostgresServer } from './postgres-server.ts';
import { addedTo, SCHEMA_VERSION } from './todos.ts';

/** Time enough for a second operator to look, before the first has written. */
const SLOW_WRITES = `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END $$;
  CREATE TRIGGER wait BEFORE INSERT OR UPDATE ON categories FOR EACH ROW EXECUTE FUNCTION wait()`;

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

test('after a migration, an instance that may not migrate serves, and a second migration changes nothing', async () => {
  const url = await server.makeMigrated();
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
    message: new RegExp(
      `its schema must be version ${SCHEMA_VERSION.postgres}, received 0: run "todo-service migrate" first$`,
    ),
  });
});

test('two operators who add the same name at the same moment add it once', async () => {
  const url = await server.makeMigrated();
  await server.execute(url, SLOW_WRITES);
  await using one = await openPostgresOperator(url);
  await using other = await openPostgresOperator(url);
  const outcomes = await Promise.all([one.addCategory('Garden'), other.addCategory('Garden')]);
  assert.equal(outcomes.filter((outcome) => outcome === 'name-taken').length, 1);
  assert.equal((await one.listCategories()).length, 3);
});

test('two operators who give two categories the same name at the same moment give it to one', async () => {
  const url = await server.makeMigrated();
  await server.execute(url, SLOW_WRITES);
  await using one = await openPostgresOperator(url);
  await using other = await openPostgresOperator(url);
  const outcomes = await Promise.all([one.renameCategory(1, 'Garden'), other.renameCategory(2, 'Garden')]);
  assert.equal(outcomes.filter((outcome) => outcome === 'name-taken').length, 1);
});

test('an inspection says that a server does not sync', async () => {
  const url = await server.makeMigrated();
  await using operator = await openPostgresOperator(url);
  const { facts, faults } = await operator.inspect();
  assert.equal(facts.fsync, 'off');
  assert.deepEqual(faults, ['"fsync" must be "on", received "off": a power cut may lose answered writes']);
});

/** What `check` finds in a database of this version after a statement, but that this server does not sync. */
async function faultsAfter(url: string, statement: string): Promise<readonly string[]> {
  await server.execute(url, statement);
  await using operator = await openPostgresOperator(url);
  const { faults } = await operator.inspect();
  return faults.filter((fault) => !fault.startsWith('"fsync"'));
}

/** A fault ends with what mends it. */
function mendOf(fault = ''): string {
  return fault.slice(fault.indexOf('ALTER TABLE'));
}

test('a table that a crash of the server empties is a fault and refuses a start, and its line mends it', async () => {
  const url = await server.makeMigrated();
  const [fault, ...others] = await faultsAfter(
    url,
    'ALTER TABLE idempotency_keys SET UNLOGGED; ALTER TABLE todos SET UNLOGGED; ALTER TABLE categories SET UNLOGGED',
  );
  assert.deepEqual(others, []);
  const wanted =
    'its tables must not be "UNLOGGED", because a crash of the server empties them: ALTER TABLE categories SET LOGGED; ' +
    'ALTER TABLE idempotency_keys SET LOGGED; ALTER TABLE todos SET LOGGED';
  assert.equal(fault, wanted);
  for (const migrate of [true, false]) {
    await assert.rejects(openPostgresStore(url, { migrate }), (error: Error) => {
      assert.equal(error.name, 'StoreNotOpened');
      assert.ok(error.message.endsWith(`": ${wanted}`), error.message);
      return true;
    });
  }
  assert.deepEqual(await faultsAfter(url, mendOf(fault)), []);
  await using store = await openPostgresStore(url);
  await addedTo(store, 'a');
});

for (const [how, statement] of [
  ['that are off', 'ALTER TABLE todos DISABLE TRIGGER USER'],
  [
    'as "pg_restore --disable-triggers" leaves them',
    'ALTER TABLE todos DISABLE TRIGGER ALL; ALTER TABLE todos ENABLE TRIGGER ALL',
  ],
] as const) {
  test(`triggers ${how} are a fault, and its line mends them`, async () => {
    const url = await server.makeMigrated();
    const [fault, ...others] = await faultsAfter(url, statement);
    assert.deepEqual(others, []);
    assert.equal(
      fault,
      'its triggers must be "ENABLE ALWAYS", else creates may fail, and every list reads all todos: ' +
        'ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_changed; ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_removed; ' +
        'ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_renumbered',
    );
    assert.deepEqual(await faultsAfter(url, mendOf(fault)), []);
    await using store = await openPostgresStore(url);
    await addedTo(store, 'a');
  });
}

test('a foreign key whose triggers are off is a fault, and its line mends it', async () => {
  const url = await server.makeMigrated();
  const off = 'ALTER TABLE todos DISABLE TRIGGER ALL; ALTER TABLE categories DISABLE TRIGGER ALL';
  const faults = await faultsAfter(url, off);
  assert.equal(faults.length, 2);
  const fault = faults.find((each) => each.includes('foreign key'));
  assert.match(
    fault ?? '',
    /^the triggers of its foreign keys must be on, else a todo may name a category that is not there: (?:ALTER TABLE (?:todos|categories) ENABLE TRIGGER "RI_ConstraintTrigger_[ac]_\d+"(?:; )?){4}$/,
  );
  assert.deepEqual(await faultsAfter(url, faults.map(mendOf).join('; ')), []);
});

test('a constraint and an index that are not valid are faults', async () => {
  const url = await server.makeDatabase();
  await migratePostgres(url);
  const spoil = `ALTER TABLE todos ADD CONSTRAINT low CHECK (id < 1000) NOT VALID;
    UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'todos_changed'::regclass`;
  assert.deepEqual(await faultsAfter(url, spoil), ['low is not valid', 'todos_changed is not valid']);
});

test('a trigger that is missing is a fault', async () => {
  const url = await server.makeMigrated();
  assert.deepEqual(await faultsAfter(url, 'DROP TRIGGER todo_removed ON todos'), [
    'its trigger "todo_removed" is missing, so every list reads all todos: create it as the migration 0002-changes.sql does',
  ]);
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
