import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../folder.ts';
import { runProgram } from '../start.ts';
import { SCHEMA_VERSION } from '../storage/todos.ts';
import { post, serve, titles } from './served.ts';
import { describeCommands } from './suite.ts';

const folder = await temporaryFolder();
after(() => folder[Symbol.asyncDispose]());
let made = 0;

function newFile(): string {
  made += 1;
  return join(folder.path, `${made}.db`);
}

function execute(path: string, sql: string): void {
  using database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  database.exec(sql);
}

describeCommands('SQLite', {
  make: async () => `sqlite:${newFile()}`,
  schemaVersion: SCHEMA_VERSION.sqlite,
  migrations: 'src/store/sqlite/migrations',
  nameOf: (database) => database,
});

test('migrate refuses with 75 while a service owns the file, and names it', async () => {
  const database = `sqlite:${newFile()}`;
  await using service = await serve(database);
  const { code, stderr } = await runProgram(['migrate', '--database', database]);
  assert.equal(code, 75);
  assert.match(
    stderr,
    new RegExp(
      `^Cannot migrate: [^\n]* served by process ${service.pid} on \\S+ since \\S+Z\\. One SQLite file is served by one process\n$`,
    ),
  );
});

test('a backup that is made while todos are added has those that were answered before, and serves', async () => {
  const database = `sqlite:${newFile()}`;
  const copy = newFile();
  await using service = await serve(database);
  const before = Array.from({ length: 20 }, (_, index) => `before ${index}`);
  for (const title of before) await post(service, { title });
  const adding = Promise.all(Array.from({ length: 50 }, () => post(service, { title: 'during' })));
  const backup = await runProgram(['backup', copy, '--database', database]);
  await adding;
  assert.equal(backup.code, 0, backup.stderr);
  const { size, mode } = await stat(copy);
  assert.equal((mode & 0o777).toString(8), '600');
  await using restored = await serve(`sqlite:${copy}`);
  const found = await titles(restored);
  assert.deepEqual(found.slice(0, 20), before);
  assert.equal(backup.stdout, `${copy}: ${size} bytes, ${found.length} todos, checked\n`);
  await post(restored);
});

test('a backup counts one todo in the singular', async () => {
  const path = newFile();
  const copy = newFile();
  await runProgram(['migrate', '--database', `sqlite:${path}`]);
  execute(path, "INSERT INTO todos (title, category_id) VALUES ('a', 1)");
  const { stdout } = await runProgram(['backup', copy, '--database', `sqlite:${path}`]);
  assert.match(stdout, / bytes, 1 todo, checked\n$/);
});

test('a backup leaves nothing but its file beside it', async () => {
  await using target = await temporaryFolder();
  const database = `sqlite:${newFile()}`;
  await runProgram(['migrate', '--database', database]);
  await runProgram(['backup', join(target.path, 'copy.db'), '--database', database]);
  assert.deepEqual(await readdir(target.path), ['copy.db']);
});

test('a backup never replaces what is there: 1', async () => {
  const path = newFile();
  const copy = newFile();
  await runProgram(['migrate', '--database', `sqlite:${path}`]);
  writeFileSync(copy, 'precious');
  const { code, stderr } = await runProgram(['backup', copy, '--database', `sqlite:${path}`]);
  assert.equal(code, 1);
  assert.equal(stderr, `Cannot back up "${path}" to "${copy}": there is something of this name already\n`);
  assert.equal((await stat(copy)).size, 8);
});

test('check finds a todo whose category does not exist: 1, and a backup of it is refused', async () => {
  const path = newFile();
  await runProgram(['migrate', '--database', `sqlite:${path}`]);
  execute(path, "INSERT INTO todos (title, category_id) VALUES ('a', 9), ('b', 9)");
  const { code, stdout } = await runProgram(['check', '--database', `sqlite:${path}`]);
  assert.equal(code, 1);
  assert.match(
    stdout,
    /\nFAULT {2}row 1 of todos names a category that does not exist\nFAULT {2}row 2 of todos names a category that does not exist\n$/,
  );
  const backup = await runProgram(['backup', newFile(), '--database', `sqlite:${path}`]);
  assert.equal(backup.code, 1);
});

test('a backup to where no file can be is one line: 1', async () => {
  const path = newFile();
  await runProgram(['migrate', '--database', `sqlite:${path}`]);
  for (const [copy, reason] of [
    [join(path, 'copy.db'), 'ENOTDIR'],
    [newFile() + 'x'.repeat(255), 'ENAMETOOLONG'],
  ] as const) {
    const { code, stderr } = await runProgram(['backup', copy, '--database', `sqlite:${path}`]);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^Cannot back up [^\n]*: ${reason}: [^\n]*\n$`));
  }
});

for (const table of ['categories', 'todos', 'idempotency_keys']) {
  test(`check misses a table ${table} that is not there: 1, and a backup of it is refused`, async () => {
    const path = newFile();
    await runProgram(['migrate', '--database', `sqlite:${path}`]);
    execute(path, `DROP TABLE ${table}`);
    const { code, stdout, stderr } = await runProgram(['check', '--database', `sqlite:${path}`]);
    assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
    assert.match(stdout, new RegExp(`\nFAULT {2}no such table: ${table}\n$`));
    const backup = await runProgram(['backup', newFile(), '--database', `sqlite:${path}`]);
    assert.equal(backup.code, 1);
    assert.match(backup.stderr, /^Cannot back up [^\n]*: no such table: [^\n]*\n$/);
  });
}

test('check finds damaged pages beside the service that runs: 1', async () => {
  const path = newFile();
  await runProgram(['migrate', '--database', `sqlite:${path}`]);
  execute(path, manyTodos(2_000));
  overwritePage(path, 12);
  await using _service = await serve(`sqlite:${path}`);
  const { code, stdout } = await runProgram(['check', '--database', `sqlite:${path}`]);
  assert.equal(code, 1);
  assert.match(stdout, /\nFAULT {2}[^\n]*(page|malformed)[^\n]*\n/);
  assert.doesNotMatch(stdout, /All is well/);
});

test('a file that is no database is one line and 69', async () => {
  const path = newFile();
  writeFileSync(path, 'Dear reader, this is not a database.\n'.repeat(100));
  for (const words of [['migrate'], ['check'], ['categories', 'list'], ['backup', newFile()]]) {
    const { code, stderr } = await runProgram([...words, '--database', `sqlite:${path}`]);
    assert.equal(code, 69);
    assert.match(stderr, /^Cannot [^\n]*: file is not a database\n$/);
  }
});

test('a category that cannot be added because another program holds the file is one line and 69', async () => {
  const path = newFile();
  await runProgram(['migrate', '--database', `sqlite:${path}`]);
  using shell = new DatabaseSync(path);
  shell.exec('BEGIN IMMEDIATE');
  const { code, stderr } = await runProgram(['categories', 'add', 'Garden', '--database', `sqlite:${path}`]);
  assert.deepEqual({ code, stderr }, { code: 69, stderr: 'Cannot add the category: database is locked\n' });
});

function manyTodos(count: number): string {
  return `INSERT INTO todos (title, category_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    SELECT printf('%064d', i), 1 FROM n`;
}

/** Nothing of this process has the file open. */
function overwritePage(path: string, page: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4_096, 0xa5), 0, 4_096, (page - 1) * 4_096);
  closeSync(file);
}

test('a backup that a signal ends leaves nothing behind', async () => {
  const path = newFile();
  await runProgram(['migrate', '--database', `sqlite:${path}`]);
  execute(
    path,
    `INSERT INTO todos (title, category_id)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT printf('Todo %d', i), 1 FROM n`,
  );
  const copies = join(folder.path, 'copies');
  mkdirSync(copies);
  const program = fileURLToPath(new URL('../../src/start.js', import.meta.url));
  const args = [program, 'backup', join(copies, 'copy.db'), '--database', `sqlite:${path}`];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  while ((await readdir(copies)).length === 0) await pause(1);
  child.kill('SIGINT');
  const [code] = await ended;
  // It may have been complete before it heard of the signal.
  assert.deepEqual(
    { code, left: await readdir(copies) },
    code === 0 ? { code, left: ['copy.db'] } : { code: 130, left: [] },
  );
});
