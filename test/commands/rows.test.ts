import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newPath } from '../storage/new-files.ts';
import { engines, printed, refused, run, server } from './engines.ts';

/** Rows that the schema takes and an import does not: a blank title, a name of two lines, a key that is no digest. */
const ROWS = `INSERT INTO todos (title, category_id) VALUES ('a', 1), (' ', 1), ('b', 1);
  UPDATE categories SET name = 'L' || chr(10) || 'ife' WHERE id = 2;
  INSERT INTO idempotency_keys (key, body, todo_id) VALUES ('k', 'b', 1)`;

const FAULTS = [
  'row 2 of categories: "name" must be 1 to 100 characters on one line, without white space around them',
  'row 2 of todos: "title" must not be empty or only white space',
  'row "k" of idempotency_keys: "key" must be a SHA-256 in base64url, 43 characters',
];

const indented = (faults: readonly string[]) => faults.map((fault) => `  ${fault}\n`).join('');
const REFUSED = `an import would refuse these rows. Mend them first:\n${indented(FAULTS)}`;

for (const [name, { makeMigrated, execute, nameOf }] of Object.entries(engines)) {
  const make = async () => {
    const database = await makeMigrated();
    await execute(database, name === 'SQLite' ? ROWS.replace('chr(', 'char(') : ROWS);
    return database;
  };

  test(`${name}: check names the rows that an import refuses, and export and its file are refused: 65 [E1]`, async () => {
    const database = await make();
    const checking = () => run(database, ['check']);
    const { code, stdout } = await (name === 'SQLite' ? checking() : server.whileSyncing(checking));
    assert.equal(code, 1);
    assert.ok(stdout.endsWith(`\n${FAULTS.map((fault) => `FAULT  ${fault}\n`).join('')}`), stdout);
    const folder = newPath('exports');
    mkdirSync(folder);
    const stderr = `Cannot export: ${REFUSED}`;
    await refused(database, ['export', join(folder, 'e.jsonl')], { code: 65, stderr });
    assert.deepEqual(readdirSync(folder), []);
    const piped = await run(database, ['export']);
    assert.deepEqual({ code: piped.code, stderr: piped.stderr }, { code: 65, stderr });
    assert.doesNotMatch(piped.stdout, /sha256/);
  });

  test(`${name}: of more than 100 rows that an import refuses 100 are named, and all are counted [E1]`, async () => {
    const database = await makeMigrated();
    const blank = Array.from({ length: 250 }, () => `(' ', 1)`);
    await execute(database, `INSERT INTO todos (title, category_id) VALUES ${blank}`);
    const { code, stderr } = await run(database, ['export', newPath('e.jsonl')]);
    const lines = stderr.split('\n');
    assert.equal(code, 65);
    assert.deepEqual(lines.length, 1 + 100 + 2);
    assert.equal(lines[100], '  row 100 of todos: "title" must not be empty or only white space');
    assert.equal(lines[101], '  150 more rows');
    assert.equal(nameOf(database).includes(':'), true);
  });
}

test('PostgreSQL: a backup is an export, and is refused for the same rows: 65, without a file [E7]', async () => {
  const database = await server.makeMigrated();
  await server.execute(database, ROWS);
  const file = newPath('copy.jsonl');
  const stderr = `Cannot back up: ${REFUSED}`;
  await refused(database, ['backup', file], { code: 65, stderr });
  assert.equal(existsSync(file), false);
});

test('SQLite: a backup keeps rows that an import refuses, names them and is restored; so does a restore [E3; E7]', async () => {
  const database = await engines.SQLite.makeMigrated();
  engines.SQLite.execute(
    database,
    `${ROWS.replace('chr(', 'char(')}; UPDATE todos SET category_id = 9 WHERE id = 3`,
  );
  const stderr = `The copy is whole, but an import would refuse these rows:\n${indented([
    ...FAULTS.slice(0, 2),
    'row 3 of todos: "category_id" must be the id of a category, received 9',
    ...FAULTS.slice(2),
  ])}`;
  const copy = newPath('copy.db');
  const backup = await run(database, ['backup', copy]);
  assert.deepEqual({ code: backup.code, stderr: backup.stderr }, { code: 0, stderr });
  const target = await engines.SQLite.make();
  const restore = await run(target, ['restore', copy]);
  assert.deepEqual({ code: restore.code, stderr: restore.stderr }, { code: 0, stderr });
  assert.match(restore.stdout, /: todos 3, categories 2, keys of creates 1,/);
});

for (const [what, column, sql] of [
  ['a title', 'title', "INSERT INTO todos (title, category_id) VALUES (CAST(x'436166e9' AS text), 1)"],
  ['a name', 'name', "UPDATE categories SET name = CAST(x'c0af' AS text) WHERE id = 1"],
  [
    'a title of half a surrogate pair',
    'title',
    "INSERT INTO todos (title, category_id) VALUES (CAST(x'eda080' AS text), 1)",
  ],
] as const) {
  test(`SQLite: ${what} that is not UTF-8 is named by check and export, and never replaced [E1]`, async () => {
    const database = await engines.SQLite.makeMigrated();
    engines.SQLite.execute(database, sql);
    const fault = `row 1 of ${column === 'name' ? 'categories' : 'todos'}: "${column}" must be text in UTF-8`;
    const { code, stdout } = await run(database, ['check']);
    assert.deepEqual([code, stdout.split('\n').at(-2)], [1, `FAULT  ${fault}`]);
    const stderr = `Cannot export: an import would refuse these rows. Mend them first:\n  ${fault}\n`;
    await refused(database, ['export', newPath('e.jsonl')], { code: 65, stderr });
  });
}

test('SQLite: U+FFFD and text of a UTF-16 file are no fault: an export has them as they are [E1]', async () => {
  const database = await engines.SQLite.make();
  engines.SQLite.execute(database, "PRAGMA encoding = 'UTF-16le'; CREATE TABLE own (a)");
  engines.SQLite.execute(database, 'DROP TABLE own');
  await printed(database, ['migrate']);
  engines.SQLite.execute(database, "INSERT INTO todos (title, category_id) VALUES ('\ufffd\u{1F95B}é', 1)");
  assert.match(await printed(database, ['export']), /"title":"\ufffd\u{1F95B}é"/u);
});

test('SQLite: a next id that is out of range is a fault of an export [E1]', async () => {
  const database = await engines.SQLite.makeMigrated();
  engines.SQLite.execute(database, "INSERT INTO sqlite_sequence VALUES ('todos', 2147483648)");
  const fault = 'the highest id that was given out must be at most 2147483647, received 2147483648';
  assert.equal((await run(database, ['check'])).stdout.split('\n').at(-2), `FAULT  ${fault}`);
});
