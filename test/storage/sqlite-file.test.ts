import assert from 'node:assert/strict';
import { linkSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { migrateSqlite, openSqliteOperator } from '../../src/store/sqlite/operator.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { temporaryFolder } from '../folder.ts';
import { todo } from '../todo.ts';
import { addedTo, addMany, listed, SCHEMA_VERSION } from './todos.ts';

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test('folders are made with mode 0700, and every file with 0600', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'outer', 'inner', 'todos.db');
  await using store = await openSqliteStore(path);
  await addedTo(store, 'a');
  assert.equal(mode(join(folder.path, 'outer')), '700');
  assert.equal(mode(join(folder.path, 'outer', 'inner')), '700');
  for (const suffix of ['', '-wal', '-shm', '-owner']) assert.equal(mode(path + suffix), '600');
});

test('D7, What the service does 3 · the first start makes the categories Work (1) and Life (2), a second start no more', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  using database = new DatabaseSync(path);
  const categories = database.prepare('SELECT id, name FROM categories').all();
  assert.deepEqual(categories.map(Object.values), [
    [1, 'Work'],
    [2, 'Life'],
  ]);
});

test('a category that an operator added is kept, and usable at once', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using store = await openSqliteStore(path);
  using database = new DatabaseSync(path);
  database.exec("INSERT INTO categories (name) VALUES ('Garden')");
  assert.equal((await addedTo(store, 'a', 3)).json, JSON.stringify(todo(1, 'a', false, 3)));
});

test('todos and given-out ids survive a restart', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  {
    await using store = await openSqliteStore(path);
    await addedTo(store, 'a');
    await addedTo(store, 'b');
    await store.remove(2);
  }
  await using store = await openSqliteStore(path);
  assert.deepEqual(await listed(store), [todo(1, 'a')]);
  assert.equal((await addedTo(store, 'c')).id, 3);
});

test('the tables are STRICT, hold foreign keys and never reuse an id', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using store = await openSqliteStore(path);
  await store.list();
  using database = new DatabaseSync(path);
  const refused = (sql: string, reason: RegExp): void => assert.throws(() => database.exec(sql), reason);
  refused("INSERT INTO todos (title, category_id) VALUES ('a', 'Work')", /cannot store TEXT value/);
  refused("INSERT INTO todos (title, category_id, done) VALUES ('a', 1, 2)", /CHECK constraint failed/);
  refused("INSERT INTO todos (title, category_id) VALUES ('', 1)", /CHECK constraint failed/);
  refused('INSERT INTO todos (title, category_id) VALUES (NULL, 1)', /NOT NULL constraint failed/);
  refused("INSERT INTO todos (title, category_id) VALUES ('a', 3)", /FOREIGN KEY constraint failed/);
  refused(
    "INSERT INTO todos (id, title, category_id) VALUES (2147483648, 'a', 1)",
    /CHECK constraint failed: ids_exhausted/,
  );
  refused("INSERT INTO categories VALUES (2147483648, 'a')", /CHECK constraint failed: ids_exhausted/);
});

test('a file with a newer schema that is not for this program is refused, and left as it is', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  using database = new DatabaseSync(path);
  database.exec('PRAGMA user_version = 99; UPDATE todo_schema SET oldest_program = 98');
  await assert.rejects(openSqliteStore(path), {
    name: 'StoreNotOpened',
    reason: 'unusable',
    message:
      `Cannot open the database "${path}": its schema must be version ${SCHEMA_VERSION.sqlite} or older, received 99, for programs from 98 on: ` +
      'start the newer todo-service that made it, or export with that one and import with this one',
  });
  assert.equal(database.prepare('PRAGMA user_version').get()?.user_version, 99);
});

test('a database of another program is refused, and left as it is', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'notes.db');
  using database = new DatabaseSync(path);
  database.exec('CREATE TABLE notes (text)');
  await assert.rejects(openSqliteStore(path), {
    name: 'StoreNotOpened',
    reason: 'unusable',
    message: `Cannot open the database "${path}": it belongs to another program`,
  });
  assert.deepEqual(database.prepare('SELECT name FROM sqlite_schema').all().map(Object.values), [['notes']]);
});

test('a file that is no database is refused in one line', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  writeFileSync(path, 'Dear diary, '.repeat(1000));
  await assert.rejects(openSqliteStore(path), {
    name: 'StoreNotOpened',
    reason: 'unusable',
    message: `Cannot open the database "${path}": file is not a database`,
  });
});

test('a path below a file is refused in one line', async () => {
  await using folder = await temporaryFolder();
  writeFileSync(join(folder.path, 'file'), '');
  await assert.rejects(openSqliteStore(join(folder.path, 'file', 'todos.db')), {
    name: 'StoreNotOpened',
    reason: 'unusable',
    message: /^Cannot open the database ".*todos\.db": [^\n]*$/,
  });
});

test('a folder that cannot be made is refused in one line', async () => {
  await assert.rejects(openSqliteStore('/proc/todo/data/todos.db'), {
    name: 'StoreNotOpened',
    reason: 'unusable',
    message: /^Cannot open the database "\/proc\/todo\/data\/todos\.db": [^\n]*mkdir[^\n]*$/,
  });
});

for (const path of ['', ':memory:']) {
  test(`the path "${path}" is refused: it is no file`, async () => {
    await assert.rejects(openSqliteStore(path), {
      name: 'StoreNotOpened',
      reason: 'unusable',
      message: `Cannot open the database "${path}": it must be a file`,
    });
  });
}

test('a file that is empty is refused in one line: it is an interrupted copy rather than a wish', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  writeFileSync(path, '');
  const refused = {
    name: 'StoreNotOpened',
    reason: 'unusable',
    message: `Cannot open the database "${path}": it is empty, as after an interrupted copy: restore a backup, or remove it to begin with no todos`,
  };
  await assert.rejects(openSqliteStore(path), refused);
  await assert.rejects(migrateSqlite(path), refused);
  assert.throws(() => openSqliteOperator(path), refused);
  assert.equal(statSync(path).size, 0);
});

test('a file with two names is refused: by the other name, SQLite would not see its log', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  linkSync(path, join(folder.path, 'other.db'));
  const refused = {
    name: 'StoreNotOpened',
    reason: 'unusable',
    message: `Cannot open the database "${path}": it has 2 names (hard links), and SQLite keeps another log for each: remove all but one`,
  };
  await assert.rejects(openSqliteStore(path), refused);
  assert.throws(() => openSqliteOperator(path), refused);
  unlinkSync(join(folder.path, 'other.db'));
  await using store = await openSqliteStore(path);
  assert.deepEqual(await listed(store), []);
});

test('a first start that was killed leaves nothing that the next one refuses', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  for (const left of ['', '-journal', '-wal', '-shm']) writeFileSync(`${path}.new${left}`, 'half a database');
  await using store = await openSqliteStore(path);
  await addedTo(store, 'a');
  const names = ['todos.db', 'todos.db-owner', 'todos.db-shm', 'todos.db-wal'];
  assert.deepEqual(readdirSync(folder.path).sort(), names);
});

for (const suffix of ['-wal', '-journal']) {
  test(`todos.db${suffix} without its database is kept under another name, and not read into the new one`, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'todos.db');
    writeFileSync(path + suffix, 'what is left of another file');
    const moved: string[] = [];
    await using store = await openSqliteStore(path, {
      tell: (event) => event.event === 'log-moved' && moved.push(event.path),
    });
    assert.deepEqual(await listed(store), []);
    assert.equal(moved.length, 1);
    assert.match(moved[0] ?? '', new RegExp(`todos\\.db${suffix}\\.\\d+$`));
    assert.equal(readFileSync(moved[0] ?? '', 'utf8'), 'what is left of another file');
  });
}

test('a log that grew under a long reader is cut back', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using store = await openSqliteStore(path, { cacheBytes: 0 });
  const size = () => statSync(`${path}-wal`).size;
  {
    using reader = new DatabaseSync(path);
    reader.exec('BEGIN; SELECT 1 FROM todos LIMIT 1');
    while (size() < 12 * 2 ** 20)
      await addMany(
        store,
        Array.from({ length: 2_000 }, () => 'a'.repeat(100)),
      );
  }
  // The first write begins the log anew, and the next checkpoint has nobody to wait for.
  for (const title of ['b', 'c']) await addedTo(store, title);
  assert.ok(size() <= 4 * 2 ** 20, `${size()} bytes`);
});
