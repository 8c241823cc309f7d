import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openSqliteStore } from '../../src/shared-list/sqlite/open.ts';
import { temporaryFolder } from './folder.ts';
import { bytesOf, replacement } from './todos.ts';

test('fifty versions of a list of 1.4 MB, a change between each, hold less than 10 MB together', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  fill(path, 20_000);
  await using store = await openSqliteStore(path);
  const held = new Set<ArrayBufferLike>();
  const tags = new Set<string>();
  for (let version = 1; version <= 50; version += 1) {
    await store.replace(version * 397, replacement(`version ${version}`, true, 2));
    const list = await store.list();
    assert.ok(bytesOf(list).length > 1_400_000);
    for (const { buffer } of list.pieces) held.add(buffer);
    tags.add(list.etag);
  }
  assert.equal(tags.size, 50);
  const bytes = [...held].reduce((sum, { byteLength }) => sum + byteLength, 0);
  assert.ok(bytes < 10 * 2 ** 20, `${bytes} bytes`);
});

function fill(path: string, todos: number): void {
  using database = new DatabaseSync(path);
  database.exec(`INSERT INTO todos (title, category_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${todos})
    SELECT printf('Todo number %d of many', i), 1 FROM n`);
}
