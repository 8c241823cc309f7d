import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { migratePostgres, openPostgresOperator } from '../../src/store/postgres/operator.ts';
import { openPostgresStore } from '../../src/store/postgres/store.ts';
import { temporaryFolder } from '../folder.ts';
import { Ledger } from './ledger.ts';
import { moveThereAndBack } from './moving.ts';
import { noPgBouncer, PgBouncer } from './pgbouncer.ts';
import { openPool } from './postgres-pool.ts';
import { PostgresServer } from './postgres-server.ts';
import { addedTo, found, listed } from './todos.ts';
import { writeUntil } from './writers.ts';

const server = await PostgresServer.start();
after(() => server[Symbol.asyncDispose]());

const NEEDED = ["statement_timeout = '1200ms'", "client_connection_check_interval = '2000ms'"];

/** A database whose role brings the settings that a pooler does not let through. */
async function database(settings: readonly string[] = NEEDED) {
  const { owner, url } = await server.makeOwnedDatabase();
  for (const setting of settings) await server.execute(server.url, `ALTER ROLE ${owner} SET ${setting}`);
  return { owner, url };
}

describe('PgBouncer in transaction mode', { skip: noPgBouncer() }, () => {
  for (const ignored of ['', 'ignore_startup_parameters = options, statement_timeout']) {
    test(`a start is refused while the role does not bring its settings, with what brings them (${ignored || 'none is ignored'})`, async () => {
      const { owner, url } = await database([]);
      await using bouncer = await PgBouncer.start(server, [owner, 'postgres'], ignored);
      await assert.rejects(openPostgresStore(bouncer.through(url), { patienceMs: 0 }), (error: Error) => {
        const alter = NEEDED.map((setting) => `ALTER ROLE ${owner} SET ${setting}`).join('; ');
        assert.equal(error.name, 'StoreNotOpened');
        assert.ok(
          error.message.endsWith(
            `: settings cannot be made through the pooler, so its role must bring them: ${alter}`,
          ),
          error.message,
        );
        return true;
      });
    });
  }

  test('a limit that is looser than that of the service is no limit', async () => {
    const { owner, url } = await database([
      "statement_timeout = '2s'",
      "client_connection_check_interval = '1s'",
    ]);
    await using bouncer = await PgBouncer.start(server, [owner, 'postgres']);
    await assert.rejects(openPostgresStore(bouncer.through(url), { patienceMs: 0 }), {
      message: new RegExp(`must bring them: ALTER ROLE ${owner} SET statement_timeout = '1200ms'$`),
    });
  });

  test('a role that hides warnings is refused: one of them says that a commit is not replicated', async () => {
    const { owner, url } = await database([...NEEDED, 'client_min_messages = error']);
    await using bouncer = await PgBouncer.start(server, [owner, 'postgres']);
    await assert.rejects(openPostgresStore(bouncer.through(url), { patienceMs: 0 }), {
      message: new RegExp(`must bring them: ALTER ROLE ${owner} SET client_min_messages = warning$`),
    });
  });

  test('a role whose idle sessions are ended is refused', async () => {
    const { owner, url } = await database([...NEEDED, "idle_session_timeout = '1min'"]);
    await using bouncer = await PgBouncer.start(server, [owner, 'postgres']);
    await assert.rejects(openPostgresStore(bouncer.through(url), { patienceMs: 0 }), {
      message: new RegExp(`must bring them: ALTER ROLE ${owner} SET idle_session_timeout = 0$`),
    });
  });

  test('todos are written, read and listed by more clients than it has connections', async () => {
    const { owner, url } = await database();
    await using bouncer = await PgBouncer.start(server, [owner, 'postgres']);
    await using store = await openPostgresStore(bouncer.through(url));
    await using there = await openPostgresStore(bouncer.through(url));
    const ledger = new Ledger();
    const stop = new AbortController();
    const writers = [store, there].flatMap((each, instance) =>
      Array.from({ length: 4 }, (_, client) =>
        writeUntil(each, `${instance} ${client}`, ledger, stop.signal),
      ),
    );
    while (ledger.acknowledged < 300) await listed(there);
    stop.abort();
    await Promise.all(writers);
    assert.deepEqual(ledger.compare(await listed(store)), []);
    const { id } = await addedTo(store, 'a');
    assert.equal((await found(there, id))?.title, 'a');
    await store.check();
  });

  test('E1, E2 · an import and an export are one transaction each', async () => {
    const { owner, url } = await database();
    await using bouncer = await PgBouncer.start(server, [owner, 'postgres']);
    await using folder = await temporaryFolder();
    await moveThereAndBack(11, join(folder.path, 'todos.db'), bouncer.through(url));
  });

  test('a statement that is given up is cancelled at the server', async () => {
    const { owner, url } = await database(["statement_timeout = '10min'", ...NEEDED.slice(1)]);
    await using bouncer = await PgBouncer.start(server, [owner, 'postgres']);
    await using pool = openPool(bouncer.through(url), { answerMs: 500 });
    await assert.rejects(pool.read({ text: 'SELECT pg_sleep(600)' }), /no answer in 500 ms/);
    const asleep =
      "SELECT FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND state = 'active' AND pid <> pg_backend_pid()";
    while ((await server.execute(url, asleep)).length > 0);
  });

  test('a pool_mode that ends each transaction with its first statement is refused', async () => {
    const { owner, url } = await database();
    await using inTransactions = await PgBouncer.start(server, [owner, 'postgres']);
    await migratePostgres(inTransactions.through(url));
    await using bouncer = await PgBouncer.start(server, [owner, 'postgres'], 'pool_mode = statement');
    await assert.rejects(openPostgresStore(bouncer.through(url), { patienceMs: 0 }), {
      name: 'StoreNotOpened',
      message:
        /: its pooler must keep a transaction on one connection, as PgBouncer does with "pool_mode = transaction": transaction blocks not allowed in statement pooling mode$/,
    });
  });

  test('operators migrate, look and add through it', async () => {
    const { owner, url } = await database([]);
    await using bouncer = await PgBouncer.start(server, [owner, 'postgres']);
    await migratePostgres(bouncer.through(url));
    await using operator = await openPostgresOperator(bouncer.through(url));
    await operator.addCategory('Garden');
    assert.equal((await operator.listCategories()).length, 3);
    assert.equal((await operator.inspect()).facts.todos, 0);
  });
});

for (const [prepare, count] of [
  [true, 1],
  [false, 0],
] as const) {
  test(`without a pooler, ${count} statements with a name stay prepared when that is ${prepare ? 'left open' : 'switched off'}`, async () => {
    await using pool = openPool(await server.makeDatabase(), { prepare });
    await pool.read({ name: 'look', text: 'SELECT 1' });
    const [prepared] = await pool.read({ text: 'SELECT count(*)::int AS count FROM pg_prepared_statements' });
    assert.equal(prepared?.count, count);
  });
}
