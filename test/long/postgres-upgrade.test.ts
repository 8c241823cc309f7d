import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresMaintenance } from '../../src/storage/postgres/maintenance.ts';
import { page, recipe, sh } from '../commands/recipes.ts';
import { migratePostgres, openPatient } from '../storage/postgres-pool.ts';
import { PASSWORD, PostgresServer } from '../storage/postgres-server.ts';
import { addedTo, listed, once } from '../storage/todos.ts';
import { temporaryFolder } from '../support/folder.ts';

/** The statements of the recipe, block by block. */
async function statements(): Promise<readonly (readonly string[])[]> {
  const text = await page('postgresql.md');
  const [, section = ''] = /^## A new major version of PostgreSQL\n([\s\S]*?)^## /m.exec(text) ?? [];
  const blocks = Array.from(section.matchAll(/^```sql\n([\s\S]*?)^```$/gm), ([, text = '']) => text);
  return blocks.map((text) =>
    text
      .replace(/--.*$/gm, '')
      .split(';')
      .map((statement) => statement.trim())
      .filter((statement) => statement !== ''),
  );
}

test('the recipe of a switch-over by logical replication gives out no id again, not even a deleted one [D12]', async () => {
  await using old = await PostgresServer.start('wal_level=logical');
  await using next = await PostgresServer.startNewest('fsync=on');
  const [from, to] = [await old.makeDatabase(), await next.makeDatabase()];
  const run = async (server: PostgresServer, url: string, statements: readonly string[] = []) => {
    for (const statement of statements) {
      const [row] = await server.execute(url, statement);
      if (row !== undefined) return row;
    }
    return {};
  };
  const until = async (server: PostgresServer, url: string, condition: string) => {
    while ((await run(server, url, [`SELECT (${condition}) AS done`])).done !== true) await sleep(20);
  };
  const [publish, subscribe, ask, finish] = await statements();
  const store = await openPatient(from);
  for (const title of ['a', 'b', 'deleted before']) await addedTo(store, title);
  await store.remove(3, undefined);

  await run(old, from, publish);
  await migratePostgres(to);
  const connection = `host=127.0.0.1 port=${old.port} dbname=${new URL(from).pathname.slice(1)} user=postgres password=${PASSWORD}`;
  const there = subscribe?.map((statement) => statement.replace(/'host=[^']*'/, `'${connection}'`));
  assert.notDeepEqual(there, subscribe);
  await run(next, to, there);
  await until(next, to, "SELECT bool_and(srsubstate = 'r') FROM pg_subscription_rel");
  await store.remove(1, undefined);
  const before = await listed(store);
  await store[Symbol.asyncDispose]();
  const { end } = await run(old, from, ['SELECT pg_current_wal_lsn()::text AS end']);
  await until(
    next,
    to,
    `SELECT bool_and(latest_end_lsn >= '${end}') FROM pg_stat_subscription WHERE relid IS NULL`,
  );
  const highest = Object.values(await run(old, from, ask)).join();
  assert.equal(highest, '3');
  for (const statement of finish ?? []) await next.execute(to, statement.replace('4711', highest));

  await migratePostgres(to);
  await using operator = await openPostgresMaintenance(to);
  assert.deepEqual((await operator.inspect()).faults, []);
  await using moved = await openPatient(to, { migrate: false });
  assert.deepEqual(await listed(moved), before);
  assert.equal((await addedTo(moved, 'after')).id, 4);
});

const digest = (text: string) => createHash('sha256').update(text).digest('base64url');

const { POSTGRES_PROGRAMS } = process.env;
const skip =
  POSTGRES_PROGRAMS === undefined ||
  (!existsSync(join(POSTGRES_PROGRAMS, 'pg_dump')) &&
    'POSTGRES_PROGRAMS names no folder with pg_dump and pg_restore');

test('the recipe of a restore of the data alone brings everything back, and check finds nothing', {
  skip,
}, async () => {
  await using server = await PostgresServer.start('fsync=on');
  await using folder = await temporaryFolder();
  const [from, to] = [await server.makeMigrated(), await server.makeDatabase()];
  await using store = await openPatient(from);
  for (const title of ['a', 'deleted', 'c', 'deleted'])
    await addedTo(store, title, 2, once(digest(title + Math.random()), digest(title)));
  for (const id of [2, 4]) await store.remove(id);
  await server.execute(from, "UPDATE categories SET name = 'Home' WHERE id = 2");
  const path = `${POSTGRES_PROGRAMS}:${process.env.PATH}`;
  const lines = recipe(await page('postgresql.md'), 'Sequences', /--data-only/);
  const given = lines.replace(/^export TODO_DATABASE=.*$/m, `export TODO_DATABASE='${to}'`);
  const dump = `export PATH='${path}':"$PATH"; pg_dump --format=custom --dbname='${from}' --file=todos.dump`;
  const { code, stdout, stderr } = await sh(folder.path, `${dump}\n${given}`);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(stdout, /\nAll is well\.\n$/);
  await using restored = await openPatient(to, { migrate: false });
  assert.deepEqual(await listed(restored), await listed(store));
  assert.equal((await addedTo(restored, 'after')).id, 5);
  for (const table of ['categories', 'idempotency_keys']) {
    const all = `SELECT * FROM ${table} ORDER BY 1`;
    assert.deepEqual(await server.execute(to, all), await server.execute(from, all));
  }
});
