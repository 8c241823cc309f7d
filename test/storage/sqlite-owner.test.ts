import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { temporaryFolder } from '../folder.ts';
import { start } from './sqlite-starter.ts';
import { addedTo, listed, newTodo } from './todos.ts';

test('D6 · a second process gives up after its patience and names the first', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using first = start(path, 0);
  assert.equal((await first.said).outcome, 'open');
  await assert.rejects(openSqliteStore(path, { patienceMs: 100 }), {
    name: 'StoreNotOpened',
    reason: 'owned',
    message: new RegExp(
      `^Cannot open the database ".*": it is served by process ${first.process.pid} on \\S+ since \\S+Z, ` +
        'and was not free within 0\\.1 s\\. One SQLite file is served by one process$',
    ),
  });
});

test('D6 · a second process that waits takes over when the first leaves', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const first = await openSqliteStore(path);
  await addedTo(first, 'a');
  await using second = start(path, 60_000);
  await first[Symbol.asyncDispose]();
  assert.equal((await second.said).outcome, 'open');
});

test('an owner killed with SIGKILL frees the file at once, and a next one needs no patience', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  {
    await using first = start(path, 0);
    assert.equal((await first.said).outcome, 'open');
  }
  await using store = await openSqliteStore(path, { patienceMs: 0 });
  assert.deepEqual(await listed(store), []);
});

test('the same process cannot open one file twice', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using _store = await openSqliteStore(path);
  await assert.rejects(openSqliteStore(path, { patienceMs: 0 }), {
    reason: 'owned',
    message: new RegExp(`served by process ${process.pid} `),
  });
});

test('a symbolic link to the file is the same file', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using _store = await openSqliteStore(path);
  symlinkSync(path, join(folder.path, 'link.db'));
  await assert.rejects(openSqliteStore(join(folder.path, 'link.db'), { patienceMs: 0 }), { reason: 'owned' });
});

test('other programs may read and write the database of an owner', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using first = start(path, 0);
  assert.equal((await first.said).outcome, 'open');
  using database = new DatabaseSync(path);
  database.exec("INSERT INTO categories (name) VALUES ('Garden')");
  assert.equal(database.prepare('SELECT count(*) AS n FROM categories').get()?.n, 3);
});

test('a store that was disposed of takes no write: the file may have its next owner', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const store = await openSqliteStore(path);
  await addedTo(store, 'a');
  await store[Symbol.asyncDispose]();
  await using next = await openSqliteStore(path);
  await assert.rejects(store.add(newTodo('late', 1)), { name: 'StoreUnavailable' });
  assert.deepEqual(
    (await listed(next)).map(({ title }) => title),
    ['a'],
  );
});
