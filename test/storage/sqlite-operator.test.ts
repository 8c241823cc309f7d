import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { backupSqlite } from '../../src/store/sqlite/backup.ts';
import { migrateSqlite, openSqliteOperator } from '../../src/store/sqlite/operator.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { openExport } from '../../src/store/sqlite/transfer.ts';
import { temporaryFolder } from '../folder.ts';
import { addedTo, listed, SCHEMA_VERSION } from './todos.ts';

test('a backup that is made while todos are added holds every todo that was answered before', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const copy = join(folder.path, 'copy.db');
  await using store = await openSqliteStore(path);
  await Promise.all(Array.from({ length: 500 }, (_, index) => addedTo(store, `before ${index}`)));
  const during = Promise.all(Array.from({ length: 500 }, (_, index) => addedTo(store, `during ${index}`)));
  const { todos: count } = await backupSqlite(path, copy);
  await during;
  assert.ok(count >= 500);
  assert.equal((statSync(copy).mode & 0o777).toString(8), '600');
  await using restored = await openSqliteStore(copy);
  assert.deepEqual(await listed(restored), (await listed(store)).slice(0, count));
});

test('a backup never replaces a file', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const copy = join(folder.path, 'copy.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  writeFileSync(copy, 'precious');
  await assert.rejects(backupSqlite(path, copy), {
    name: 'BackupFailed',
    message: new RegExp(`^Cannot back up "${path}" to "${copy}": there is something of this name already$`),
  });
  assert.equal(statSync(copy).size, 8);
});

test('a backup of a damaged file is refused, and leaves no copy', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const copy = join(folder.path, 'copy.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  loseCategory(path);
  await assert.rejects(backupSqlite(path, copy), {
    name: 'BackupFailed',
    message: /row 1 of todos names a category that does not exist$/,
  });
  assert.equal(existsSync(copy), false);
});

test('a backup tells how far it is', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  const told: unknown[] = [];
  await backupSqlite(path, join(folder.path, 'copy.db'), (progress) => told.push(progress));
  assert.deepEqual(told[0], { copied: 0, total: statSync(path).size });
  assert.equal(told.at(-1), 'checking');
});

test('an inspection reads the durability settings back and says what is wrong with the file', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  {
    await using operator = openSqliteOperator(path);
    const { facts, faults } = await operator.inspect();
    assert.equal(facts.journal_mode, 'wal');
    assert.equal(facts.synchronous, 'full');
    assert.equal(facts.foreign_keys, 'on');
    assert.deepEqual(faults, []);
  }
  loseCategory(path);
  await using operator = openSqliteOperator(path);
  assert.deepEqual((await operator.inspect()).faults, [
    'row 1 of todos names a category that does not exist',
  ]);
});

test('an operator does not make a database, nor change its schema', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  assert.throws(() => openSqliteOperator(path), {
    name: 'StoreNotOpened',
    message: `Cannot open the database "${path}": there is no such file, "todo-service serve" makes it`,
  });
  using database = new DatabaseSync(path);
  database.exec('PRAGMA application_id = 0x746f646f');
  assert.throws(() => openSqliteOperator(path), {
    name: 'StoreNotOpened',
    message: `Cannot open the database "${path}": its schema must be version ${SCHEMA_VERSION.sqlite}, received 0: run "todo-service migrate" first`,
  });
  assert.equal(database.prepare('PRAGMA user_version').get()?.user_version, 0);
});

/** In a process of its own: the name is relative, and threads have no other working folder than their process. */
const OPEN_BY_NAME = `
  import { backupSqlite } from '${new URL('../../src/store/sqlite/backup.ts', import.meta.url)}';
  import { openSqliteStore } from '${new URL('../../src/store/sqlite/store.ts', import.meta.url)}';
  import { openSqliteOperator } from '${new URL('../../src/store/sqlite/operator.ts', import.meta.url)}';
  const name = 'file:todos.db?mode=memory';
  {
    await using store = await openSqliteStore(name);
    await store.add({ title: 'a', categoryId: 1 });
  }
  await using operator = openSqliteOperator(name);
  const { todos } = (await operator.inspect()).facts;
  const copy = await backupSqlite(name, 'file:copy.db');
  console.log(JSON.stringify([todos, copy.todos]));`;

test('a name that SQLite would take for a URI is the name of a file, for the service and for operators', async () => {
  await using folder = await temporaryFolder();
  writeFileSync(join(folder.path, 'open.mjs'), OPEN_BY_NAME);
  const { stdout } = spawnSync(process.execPath, ['open.mjs'], { cwd: folder.path, encoding: 'utf8' });
  assert.equal(stdout, '[1,1]\n');
  for (const name of ['file:todos.db?mode=memory', 'file:copy.db'])
    assert.ok(existsSync(join(folder.path, name)));
});

test('a backup that fails leaves nothing behind', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const copies = join(folder.path, 'copies');
  mkdirSync(copies);
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  loseCategory(path);
  await assert.rejects(backupSqlite(path, join(copies, 'copy.db')), { name: 'BackupFailed' });
  assert.deepEqual(readdirSync(copies), []);
});

/** Adds a todo whose category does not exist, as only a program without foreign keys can. */
function loseCategory(path: string): void {
  using database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  database.exec("INSERT INTO todos (title, category_id) VALUES ('a', 9)");
}

test('E1 · an export of a file that nobody has open is of no use once somebody has changed it', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await migrateSqlite(path);
  await using source = openExport(path);
  await source.check();
  {
    await using store = await openSqliteStore(path);
    await addedTo(store, 'a');
  }
  await assert.rejects(source.check(), {
    name: 'StoreUnavailable',
    message: /^the file was changed while it was read, /,
  });
});
