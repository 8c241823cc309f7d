import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { buffersOf } from '../../src/lib/answer-body.ts';
import { describeTodoStore } from './contract.ts';
import { openPatient } from './postgres-pool.ts';
import { PostgresServer } from './postgres-server.ts';
import { bytesOf, replacement } from './todos.ts';

const server = await PostgresServer.startForAll();

let current = '';

describeTodoStore('PostgreSQL', {
  open: async () => {
    current = await server.makeMigrated();
    return openPatient(current);
  },
  openAgain: () => openPatient(current),
  severalInstances: true,
  execute: async (sql) => {
    await server.execute(current, sql);
  },
  ageKeys: (seconds) => `UPDATE idempotency_keys SET at = at - interval '${seconds} s'`,
  countKeys: async () => {
    const [row] = await server.execute(current, 'SELECT count(*) FROM idempotency_keys');
    return Number(row?.count);
  },
  useUpIds: "SELECT setval(pg_get_serial_sequence('todos', 'id'), 2147483647)",
  refuse: (change, when) =>
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
     CREATE TRIGGER refuse AFTER ${change} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION refuse()`,
  admit: (table) => `DROP TRIGGER refuse ON ${table}`,
});

test('versions of a long list share what did not change', async () => {
  const url = await server.makeDatabase();
  await using store = await openPatient(url);
  await server.execute(
    url,
    "INSERT INTO todos (title, category_id) SELECT lpad('', 100, 'a'), 1 FROM generate_series(1, 2000)",
  );
  const [, first] = buffersOf((await store.list()).body);
  await store.replace(2_000, replacement('changed', true, 2));
  const changed = await store.list();
  assert.equal(JSON.parse(bytesOf(changed).toString())[1_999].title, 'changed');
  assert.equal(buffersOf(changed.body)[1]?.buffer, first?.buffer);
  assert.ok((first?.length ?? 0) > 20_000);
  assert.ok(store.sizes().list > 200_000, `${store.sizes().list} bytes are kept of it`);
  // The first look asks, and does not wait.
  while (store.sizes().database.length === 0) await setImmediate();
  assert.ok((store.sizes().database[0]?.bytes ?? 0) > 200_000);
});
