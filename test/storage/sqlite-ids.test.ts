import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { temporaryFolder } from '../folder.ts';
import { addedTo, found } from './todos.ts';

/** A file with three todos, the last one made with a key and removed, to which `sql` was done by hand. */
async function spoiled(folder: string, sql: string): Promise<string> {
  const path = join(folder, 'todos.db');
  {
    await using store = await openSqliteStore(path);
    for (const title of ['a', 'b']) await addedTo(store, title);
    await addedTo(store, 'c', 1, { key: 'k', body: 'c', patienceMs: 0 });
    await store.remove(3);
  }
  using database = new DatabaseSync(path);
  database.exec(sql);
  return path;
}

for (const [name, sql] of [
  ['gone', 'DELETE FROM sqlite_sequence'],
  ['set back', 'UPDATE sqlite_sequence SET seq = 0'],
] as const) {
  test(`D12 · where the highest id that SQLite keeps is ${name}, todos are found, and no id comes again that a key knows`, async () => {
    await using folder = await temporaryFolder();
    await using store = await openSqliteStore(await spoiled(folder.path, sql));
    assert.equal((await found(store, 1))?.title, 'a');
    assert.equal((await found(store, 2))?.title, 'b');
    assert.equal((await addedTo(store, 'd')).id, 4);
    assert.equal((await found(store, 4))?.title, 'd');
  });
}

test('D12 · todos are found while the highest id that SQLite keeps is set back under the service', async () => {
  await using folder = await temporaryFolder();
  const path = await spoiled(folder.path, '');
  await using store = await openSqliteStore(path);
  {
    using database = new DatabaseSync(path);
    database.exec('DELETE FROM sqlite_sequence');
  }
  assert.equal((await found(store, 1))?.title, 'a');
  assert.equal((await found(store, 2))?.title, 'b');
});

test('D12 · a start leaves the highest id where it is above all that is known', async () => {
  await using folder = await temporaryFolder();
  await using store = await openSqliteStore(
    await spoiled(folder.path, "UPDATE sqlite_sequence SET seq = 9 WHERE name = 'todos'"),
  );
  assert.equal((await addedTo(store, 'd')).id, 10);
});
