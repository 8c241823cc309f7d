import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { compileDisk, noDisk, runOnDisk } from '../../../test/storage/disk.ts';
import { execute, newDatabase, newPath, titlesOf } from '../../../test/storage/new-files.ts';
import type { ExportSource, Kind, Rows, StoredRow } from '../transfer/contents.ts';
import { readExport } from '../transfer/read-export.ts';
import { exportParts } from '../transfer/write-export.ts';
import { MIGRATIONS } from './schema.ts';
import { openExport, openImport } from './transfer.ts';

const skip = noDisk();
const library = skip === false ? await compileDisk(dirname(newPath())) : {};

const NO_ROWS: Rows = { categories: [], todos: [], keys: [] };
const digest = (letter: string) => letter.repeat(43);
const key = (letter: string, at = 'unixepoch()') =>
  `INSERT INTO idempotency_keys (key, body, todo_id, at) VALUES ('${digest(letter)}', '${digest('b')}', 3, ${at});`;

/** Todos 1 and 3 of which the first is done, a category more, keys of today, of yesterday and of tomorrow; id 7 was given out. */
const FILLED = `INSERT INTO categories (id, name) VALUES (5, 'Home');
  DELETE FROM categories WHERE id = 2;
  INSERT INTO todos (id, title, done, category_id) VALUES (1, 'one', 1, 5), (3, 'three', 0, 1), (7, 'gone', 0, 1);
  DELETE FROM todos WHERE id = 7;
  ${key('A')} ${key('B', 'unixepoch() - 86401')} ${key('C', 'unixepoch() + 1000')}`;

async function filled(sql = FILLED): Promise<string> {
  const path = await newDatabase();
  execute(path, sql);
  return path;
}

async function rowsOf(source: ExportSource, kind: Kind): Promise<readonly StoredRow[]> {
  return (await Array.fromAsync(source.parts(kind))).flat();
}

async function textOf(source: ExportSource): Promise<string> {
  const parts = await Array.fromAsync(exportParts(source));
  return parts.map(({ text }) => text).join('');
}

const ignored = () => {};

async function importText(text: string, path: string): Promise<number> {
  async function* bytes() {
    yield Buffer.from(text);
  }
  await using target = await openImport(path, ignored);
  return await target.commit(await readExport(bytes(), (rows) => target.add(rows)));
}

test('an export has what counts of a database, and no key that is over [E1]', async () => {
  await using source = await openExport(await filled());
  assert.deepEqual(source.counts, { categories: 2, todos: 2, keys: 2 });
  assert.equal(source.highestId, 7);
  const [, ...lines] = (await textOf(source)).split('\n').map((line) => line && JSON.parse(line));
  assert.deepEqual(lines.slice(0, 4), [
    { id: 1, name: 'Work' },
    { id: 5, name: 'Home' },
    { id: 1, title: 'one', done: true, categoryId: 5 },
    { id: 3, title: 'three', done: false, categoryId: 1 },
  ]);
  assert.deepEqual(
    lines.slice(4, 6).map(({ key, body, todoId }) => [key, body, todoId]),
    [
      [digest('A'), digest('b'), 3],
      [digest('C'), digest('b'), 3],
    ],
  );
});

test('an older schema is exported as it is, without keys before it had them [E1]', async () => {
  for (const version of [1, 2]) {
    const path = newPath();
    execute(
      path,
      `${MIGRATIONS.from(0).slice(0, version).join('')}
        PRAGMA application_id = 0x746f646f; PRAGMA user_version = ${version};
        INSERT INTO categories (name) VALUES ('Work'); INSERT INTO todos (title, category_id) VALUES ('one', 1);
        ${version === 1 ? '' : key('A')}`,
    );
    await using source = await openExport(path);
    assert.deepEqual(source.counts, { categories: 1, todos: 1, keys: version - 1 });
    assert.equal(source.highestId, version === 1 ? 1 : 3);
    assert.equal((await rowsOf(source, 'todos'))[0]?.title, 'one');
    assert.equal((await rowsOf(source, 'keys')).length, version - 1);
  }
});

for (const [what, sql, highestId] of [
  [
    'a todo',
    "INSERT INTO todos (id, title, category_id) VALUES (4, 'a', 1); DELETE FROM sqlite_sequence;",
    4,
  ],
  ['the id that SQLite keeps', "UPDATE sqlite_sequence SET seq = 8 WHERE name = 'todos';", 8],
  ['a key', `DELETE FROM sqlite_sequence; ${key('A')}`, 3],
  ['nothing', 'DELETE FROM sqlite_sequence;', 0],
] as const) {
  test(`the highest id of an export may be that of ${what} [D5]`, async () => {
    await using source = await openExport(await filled(sql));
    assert.equal(source.highestId, highestId);
  });
}

test('an import makes the same rows, and the same next ids; a key of tomorrow is one of now, and an old one is not taken [E2]', async () => {
  const [from, into] = [await filled(), newPath()];
  await using source = await openExport(from);
  const text = (await textOf(source)).replaceAll(/"at":"[^"]*"\}/g, '"at":"9999-01-01T00:00:00Z"}');
  const lines = text.replace('"keys":2', '"keys":3').split('\n').slice(0, -2);
  lines.push(lines.at(-1)?.replace(digest('C'), digest('D')).replace('9999', '2001') ?? '');
  const body = lines.map((line) => `${line}\n`).join('');
  const sealed = `${body}{"sha256":"${createHash('sha256').update(body).digest('hex')}"}\n`;
  assert.equal(await importText(sealed, into), 2);
  assert.deepEqual(titlesOf(into), ['one', 'three']);
  using database = new DatabaseSync(into);
  const rows = (sql: string) => database.prepare(sql).all().map(Object.values);
  assert.deepEqual(rows('SELECT id, name FROM categories ORDER BY id'), [
    [1, 'Work'],
    [5, 'Home'],
  ]);
  assert.deepEqual(rows('SELECT name, seq FROM sqlite_sequence ORDER BY name'), [
    ['categories', 5],
    ['todos', 7],
  ]);
  assert.deepEqual(rows('SELECT key, abs(at - unixepoch()) < 60 FROM idempotency_keys ORDER BY key'), [
    [digest('A'), 1],
    [digest('C'), 1],
  ]);
});

test('the next category of an import is one above its own, whatever a first start has had [E2]', async () => {
  const into = newPath();
  await using source = await openExport(await filled('DELETE FROM categories WHERE id = 2'));
  await importText(await textOf(source), into);
  execute(into, "INSERT INTO categories (name) VALUES ('Home')");
  using database = new DatabaseSync(into);
  const ids = database.prepare('SELECT id FROM categories ORDER BY id').all();
  assert.deepEqual(ids.map(Object.values), [[1], [2]]);
});

test('a part has at most 2,048 rows, and no row comes again behind the last, full or not [E1]', async () => {
  const rows = (most: number) =>
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${most})`;
  const path = await filled(`INSERT INTO todos (title, category_id) ${rows(4096)} SELECT 'a', 1 FROM n;
    INSERT INTO idempotency_keys (key, body, todo_id) ${rows(2100)} SELECT printf('%043d', i), '${digest('b')}', i FROM n;`);
  await using source = await openExport(path);
  for (const [kind, lengths] of [
    ['categories', [2]],
    ['todos', [2_048, 2_048]],
    ['keys', [2_048, 52]],
  ] as const) {
    const parts = await Array.fromAsync(source.parts(kind));
    assert.deepEqual(
      parts.map(({ length }) => length),
      lengths,
    );
  }
});

test('a file that nobody has open is only read, and nothing is made beside it', async () => {
  const path = await filled();
  await using source = await openExport(path);
  await rowsOf(source, 'todos');
  await source.check();
  assert.deepEqual(
    readdirSync(dirname(path)).filter((name) => !name.endsWith('-owner')),
    ['todos.db'],
  );
});

test('an export of a file that somebody opens and changes meanwhile is of no use [E1]', async () => {
  const path = await filled();
  await using source = await openExport(path);
  execute(path, "INSERT INTO todos (title, category_id) VALUES ('new', 1)");
  await assert.rejects(source.check(), {
    name: 'StoreUnavailable',
    message: 'the file was changed while it was read, so what was written is of no use',
  });
});

test('an export beside the process that has the file open is one moment of it [E1]', async () => {
  const path = await filled();
  using service = new DatabaseSync(path);
  const add = () => service.exec("INSERT INTO todos (title, category_id) VALUES ('new', 1)");
  add();
  await using source = await openExport(path);
  await rowsOf(source, 'todos');
  add();
  await source.check();
  assert.equal((await rowsOf(source, 'todos')).length, 3);
});

test('an export that is refused leaves the file closed', async () => {
  const path = newPath();
  using other = new DatabaseSync(path);
  other.exec('PRAGMA journal_mode = WAL; CREATE TABLE other (a)');
  await assert.rejects(openExport(path), { message: /it belongs to another program/ });
  other.close();
  // SQLite removes its log when the last connection ends.
  assert.equal(existsSync(`${path}-wal`), false);
});

test('what is no database of this program cannot be exported', async () => {
  const path = newPath();
  await assert.rejects(openExport(path), { name: 'OperatorError', message: /there is no such file/ });
  execute(path, 'CREATE TABLE other (a)');
  await assert.rejects(openExport(path), { name: 'OperatorError', message: /it belongs to another program/ });
});

for (const [what, sql] of [
  ['it has todos', "INSERT INTO todos (title, category_id) VALUES ('a', 1)"],
  ['it has keys of creates', key('A')],
  [
    'ids of todos were given out',
    "INSERT INTO todos (title, category_id) VALUES ('a', 1); DELETE FROM todos",
  ],
  ['it has other categories than those of a first start', "UPDATE categories SET name = 'Home' WHERE id = 1"],
] as const) {
  test(`an import is refused where ${what}, and the file stays as it was [E2]`, async () => {
    const path = await filled(sql);
    const titles = titlesOf(path);
    await assert.rejects(openImport(path, ignored), {
      name: 'StoreUnavailable',
      message: `the database must be empty, and ${what}: make a new one, and set TODO_DATABASE to it`,
    });
    assert.deepEqual(titlesOf(path), titles);
  });
}

test('an import that is not committed leaves an existing database as it was, and none where there was none [E2]', async () => {
  const [existing, made] = [await newDatabase(), newPath()];
  for (const path of [existing, made]) {
    await using target = await openImport(path, ignored);
    await target.add({ ...NO_ROWS, categories: [{ id: 9, name: 'Home' }] });
    await target.add({ ...NO_ROWS, todos: [{ id: 1, title: 'a', done: false, categoryId: 9 } as never] });
  }
  assert.deepEqual(titlesOf(existing), []);
  using database = new DatabaseSync(existing);
  assert.deepEqual(database.prepare('SELECT name FROM categories').all().map(Object.values), [
    ['Work'],
    ['Life'],
  ]);
  assert.equal(existsSync(made), false);
});

test('an import whose last sync fails is of unknown outcome, and its file stays [D9; E2]', {
  skip,
}, async () => {
  const [made, existing, broken] = [newPath(), await newDatabase(), newPath('broken')];
  const said = runOnDisk(
    { ...library, DISK_FOLDER: dirname(dirname(made)), DISK_BROKEN: broken },
    `import { rmSync, writeFileSync } from 'node:fs';
    import { openImport } from '${new URL('./transfer.ts', import.meta.url)}';
    for (const path of ['${made}', '${existing}']) {
      await using target = await openImport(path, () => {});
      writeFileSync('${broken}', '');
      const contents = { categories: 0, todos: 0, keys: 0, highestId: 0, highestCategoryId: 0 };
      await target.commit(contents).catch((error) => console.log(String(error)));
      rmSync('${broken}');
    }`,
  );
  const unknown = 'OutcomeUnknown: nobody knows whether it was done: disk I/O error';
  assert.deepEqual(said.split('\n'), [
    `${unknown}. The file stays: "todo-service check" says how many todos it has`,
    unknown,
  ]);
  assert.ok(existsSync(made));
});

test('a file into which something is imported has no other owner meanwhile [E5]', async () => {
  const path = newPath();
  await using _target = await openImport(path, ignored);
  await assert.rejects(openImport(path, ignored), { name: 'OperatorError', reason: 'in-use' });
});

test('a row that the database refuses is a failure of the store', async () => {
  await using target = await openImport(newPath(), ignored);
  const orphan = { id: 1, title: 'a', done: false, categoryId: 9 } as never;
  await assert.rejects(target.add({ ...NO_ROWS, todos: [orphan] }), {
    message: 'FOREIGN KEY constraint failed',
  });
});
