import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migratePostgres } from '../../src/store/postgres/operator.ts';
import { sizeOf } from '../../src/store/postgres/schema.ts';
import { openPool } from './postgres-pool.ts';
import { PostgresServer } from './postgres-server.ts';

test('the size of the tables is asked for once a minute, and unknown again when the server does not say it', async () => {
  await using server = await PostgresServer.start();
  const url = await server.makeDatabase();
  await migratePostgres(url);
  await using pool = openPool(url);
  let now = 0;
  const size = sizeOf(pool, () => now);
  const known = async () => {
    size();
    // The pool has one connection: this is answered after the size.
    await pool.read({ text: 'SELECT' });
    return size();
  };
  const first = await known();
  assert.ok(first !== undefined && first > 0);
  const fill = 'INSERT INTO todos (title, category_id) SELECT i, 1 FROM generate_series(1, 10000) AS i';
  await server.execute(url, fill);
  now = 59_999;
  assert.equal(await known(), first);
  now = 60_000;
  const second = await known();
  assert.ok(second !== undefined && second > first + 500_000);
  await server.execute(url, 'DROP TABLE idempotency_keys');
  now = 120_000;
  assert.equal(await known(), undefined);
});
