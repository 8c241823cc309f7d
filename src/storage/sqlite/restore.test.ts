import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { put } from '../../../test/storage/damage.ts';
import { exportOf } from '../../../test/storage/moving.ts';
import { execute, newDatabase, newPath, titlesOf } from '../../../test/storage/new-files.ts';
import type { BackupProgress } from '../maintenance.ts';
import { backupSqlite } from './maintenance.ts';
import { lockFile } from './owner-lock.ts';
import { kindOf, Restore } from './restore.ts';

/** The path of a database with a todo of this title. */
async function databaseOf(title: string): Promise<string> {
  const path = await newDatabase();
  execute(path, `INSERT INTO todos (title, category_id) VALUES ('${title}', 1)`);
  return path;
}

/** The path of a backup with a todo of this title. */
async function backupOf(title: string): Promise<string> {
  const path = newPath('backup.db');
  await backupSqlite(await databaseOf(title), path);
  return path;
}

const ignored = () => {};

/**
 * Restores, and tells the steps.
 *
 * @param copying What another program does when the backup is about to be copied.
 * @param deciding What it does when the restore is about to be done.
 */
async function restore(
  path: string,
  file: string,
  { highestOf = (highest: number) => highest, copying = ignored, deciding = ignored } = {},
) {
  const steps: (BackupProgress | string | object)[] = [];
  const restored = await new Restore().run(path, file, {
    highestOf,
    onProgress(progress) {
      if (steps.length === 0) copying();
      steps.push(progress);
    },
    onDeciding() {
      deciding();
      steps.push('deciding');
    },
    logEvent: (event) => steps.push(event),
  });
  return { ...restored, steps };
}

const namesBeside = (path: string) => readdirSync(dirname(path)).filter((name) => !name.endsWith('-owner'));

test('the kind of a backup is seen by its first bytes', async () => {
  const file = newPath('x');
  writeFileSync(file, 'SQLite format 3\0 and more');
  assert.equal(await kindOf(file), 'database');
  for (const text of ['SQLite format 2\0', 'SQLite format 3']) {
    writeFileSync(file, text);
    assert.equal(await kindOf(file), 'export');
  }
  await assert.rejects(kindOf(newPath('none')), {
    name: 'BackupRefused',
    reason: 'no-input',
    message: /ENOENT/,
  });
});

for (const [kind, make] of [
  ['a backup', () => backupOf('saved')],
  [
    'an export',
    async () => {
      const file = newPath('x.jsonl');
      writeFileSync(
        file,
        exportOf([1], () => 'saved'),
      );
      return file;
    },
  ],
] as const) {
  test(`where there is no database, ${kind} becomes one, durable and for its user alone [E3]`, async () => {
    const path = newPath();
    const { counts, highestId, old, steps } = await restore(path, await make());
    assert.deepEqual(counts, { categories: 2, todos: 1, keys: 0 });
    assert.deepEqual([highestId, old], [1, undefined]);
    assert.deepEqual(steps.slice(-2), ['checking', 'deciding']);
    assert.deepEqual(namesBeside(path), ['todos.db']);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(titlesOf(path), ['saved']);
    using database = new DatabaseSync(path);
    assert.equal(database.prepare('PRAGMA journal_mode').get()?.journal_mode, 'wal');
  });

  test(`${kind} replaces a database, which is kept under a dated name [E3]`, async () => {
    const path = await databaseOf('mine');
    execute(
      path,
      "INSERT INTO todos (title, category_id) VALUES ('gone', 1); DELETE FROM todos WHERE id = 2",
    );
    const { ino } = statSync(path);
    const { old, steps } = await restore(path, await make());
    assert.deepEqual(titlesOf(path), ['saved']);
    assert.equal(statSync(path).ino, ino);
    assert.equal(old?.highestId, 2);
    assert.match(basename(old?.path ?? ''), /^todos\.db\.\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z$/);
    assert.deepEqual(titlesOf(old?.path ?? ''), ['mine']);
    assert.equal(steps.filter((step) => step === 'deciding').length > 0, true);
    assert.deepEqual(
      namesBeside(path).filter((name) => name.includes('partial')),
      [],
    );
  });
}

test('a file that is no database is kept too, with its log, and replaced [E3]', async () => {
  const path = newPath();
  writeFileSync(path, 'no database at all'.repeat(100));
  writeFileSync(`${path}-wal`, 'its log');
  const { old, steps } = await restore(path, await backupOf('saved'));
  assert.deepEqual(titlesOf(path), ['saved']);
  assert.equal(old?.highestId, undefined);
  assert.equal(readFileSync(old?.path ?? '', 'utf8'), 'no database at all'.repeat(100));
  assert.equal(readFileSync(`${old?.path}-wal`, 'utf8'), 'its log');
  assert.deepEqual(steps.slice(-1), ['deciding']);
});

test('the highest id is the one that was chosen, and its refusal leaves everything as it was', async () => {
  const path = newPath();
  const file = await backupOf('saved');
  assert.equal((await restore(path, file, { highestOf: (highest) => highest + 41 })).highestId, 42);
  using database = new DatabaseSync(path);
  assert.equal(database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'todos'").get()?.seq, 42);
  const highestOf = () => {
    throw new Error('no such id');
  };
  const other = newPath();
  await assert.rejects(restore(other, file, { highestOf }), /no such id/);
  assert.deepEqual(namesBeside(other), []);
});

test('a database of another page size takes the backup all the same, which decides in its last 4,096 pages [E3]', async () => {
  const [made, file] = [await databaseOf('mine'), await backupOf('saved')];
  execute(made, 'PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM; PRAGMA journal_mode = WAL');
  execute(file, 'CREATE TABLE large (a); INSERT INTO large VALUES (zeroblob(3000000))');
  const { steps } = await restore(made, file);
  assert.deepEqual(titlesOf(made), ['saved']);
  assert.equal(steps.filter((step) => step === 'deciding').length, 1);
});

/** A path of 500 bytes: SQLite opens it, and none that is longer by five. */
function longPath(): string {
  const folder = join(dirname(newPath()), 'a'.repeat(200), 'b'.repeat(150));
  mkdirSync(folder, { recursive: true });
  return join(folder, 'c'.repeat(499 - folder.length));
}

test('a path that leaves no room for that of a copy is refused', async () => {
  const path = longPath();
  await assert.rejects(restore(path, await backupOf('saved')), {
    name: 'OperatorError',
    message: /\.partial" must have at most 504 bytes for SQLite/,
  });
  assert.deepEqual(readdirSync(dirname(path)), []);
});

/** A file that a function writes. */
const madeBy = (write: (file: string) => void) => async () => {
  const file = newPath('x');
  write(file);
  return file;
};

for (const [what, make, wanted] of [
  [
    'has a path that is too long for SQLite',
    async () => {
      const file = `${longPath()}.copy`;
      writeFileSync(file, 'SQLite format 3\0');
      return file;
    },
    { name: 'BackupRefused', reason: 'no-input', message: /must have at most 504 bytes for SQLite/ },
  ],
  ['is not there', async () => newPath('none'), { name: 'BackupRefused', reason: 'no-input' }],
  ['is empty', madeBy((file) => writeFileSync(file, '')), { name: 'BackupRefused', reason: 'bad-data' }],
  [
    'is of another program',
    madeBy((file) => execute(file, 'CREATE TABLE other (a)')),
    { name: 'BackupRefused', reason: 'bad-data', message: 'it belongs to another program' },
  ],
  [
    'has no tables',
    madeBy((file) => execute(file, 'CREATE TABLE a (b); DROP TABLE a')),
    { name: 'BackupRefused', reason: 'bad-data', message: 'it has no schema, and no todos' },
  ],
  [
    'has a damaged page',
    async () => {
      const file = await backupOf('saved');
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.fill(0xff, 4_096, 8_192));
      return file;
    },
    { name: 'BackupRefused', reason: 'bad-data' },
  ],
  [
    'the machine does not open',
    async () => {
      const file = await backupOf('saved');
      // As one that a program has open.
      execute(file, 'PRAGMA journal_mode = WAL');
      writeFileSync(`${file}-wal`, '');
      symlinkSync('elsewhere', `${file}-shm`);
      return file;
    },
    { name: 'StoreUnavailable', message: 'unable to open database file' },
  ],
] as const) {
  test(`a backup that ${what} is refused, and the database stays as it was [E3]`, async () => {
    const path = await databaseOf('mine');
    await assert.rejects(restore(path, await make()), wanted);
    assert.deepEqual(titlesOf(path), ['mine']);
    assert.deepEqual(namesBeside(path), ['todos.db']);
  });
}

test('a backup that is changed while it is read is refused [E3]', async () => {
  const [path, file] = [newPath(), await backupOf('saved')];
  const copying = () => execute(file, 'DELETE FROM todos');
  await assert.rejects(restore(path, file, { copying }), {
    name: 'BackupRefused',
    reason: 'bad-data',
    message: 'it was changed while it was read',
  });
  assert.deepEqual(namesBeside(path), []);
});

test('a database that is gone when it is about to be replaced is no unknown outcome, and its copy goes', async () => {
  const path = await databaseOf('mine');
  const deciding = () => {
    renameSync(path, `${path}.moved`);
    mkdirSync(path);
  };
  await assert.rejects(restore(path, await backupOf('saved'), { deciding }), {
    name: 'StoreUnavailable',
    message: 'unable to open database file',
  });
  assert.deepEqual(
    namesBeside(path).filter((name) => /partial$|Z$/.test(name)),
    [],
  );
});

for (const [what, damage] of [
  ['is damaged behind its header', (bytes: Buffer) => bytes.fill(0xff, 100)],
  ['is of a format to come', (bytes: Buffer) => put(bytes, 47, Buffer.of(9))],
] as const) {
  test(`a database that ${what} is kept as it is, and replaced [E3]`, async () => {
    const path = await databaseOf('mine');
    const damaged = damage(readFileSync(path));
    writeFileSync(path, damaged);
    const { old } = await restore(path, await backupOf('saved'));
    assert.deepEqual(titlesOf(path), ['saved']);
    assert.deepEqual(readFileSync(old?.path ?? ''), damaged);
    assert.equal(old?.highestId, undefined);
  });
}

test('a database is no backup of itself', async () => {
  const path = await databaseOf('mine');
  await assert.rejects(restore(path, path), {
    name: 'BackupRefused',
    reason: 'bad-data',
    message: 'it is the database itself',
  });
});

test('a database that is served is left alone [E3; D6]', async () => {
  const path = await databaseOf('mine');
  using _lock = await lockFile(path, 0, ignored);
  await assert.rejects(restore(path, await backupOf('saved')), { name: 'OperatorError', reason: 'in-use' });
  assert.deepEqual(titlesOf(path), ['mine']);
});

test('a database of another program is left alone [E3]', async () => {
  const path = newPath();
  execute(path, 'CREATE TABLE other (a)');
  await assert.rejects(restore(path, await backupOf('saved')), { message: /it belongs to another program$/ });
  assert.deepEqual(namesBeside(path), ['todos.db']);
});

test('a database whose mark is damaged is replaced, unless a program has it open [E3]', async () => {
  const path = await databaseOf('mine');
  execute(path, 'PRAGMA application_id = 7');
  const file = await backupOf('saved');
  {
    using other = new DatabaseSync(path);
    other.exec('SELECT 1 FROM todos');
    await assert.rejects(restore(path, file), { message: /, and a program has it open$/ });
  }
  const { old } = await restore(path, file);
  assert.deepEqual([titlesOf(path), titlesOf(old?.path ?? '')], [['saved'], ['mine']]);
});

test('while another program writes, nothing is restored', async () => {
  const path = await databaseOf('mine');
  using other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  await assert.rejects(restore(path, await backupOf('saved')), {
    name: 'OperatorError',
    message: /database is locked/,
  });
});

test('a program that writes for a moment is waited for, and what it wrote is kept [E3]', async () => {
  const path = await databaseOf('mine');
  const file = await backupOf('saved');
  // A thread, because a restore that waits holds this one.
  const writes = `
    const { DatabaseSync } = require('node:sqlite');
    const { parentPort, workerData } = require('node:worker_threads');
    const database = new DatabaseSync(workerData);
    database.exec("BEGIN IMMEDIATE; UPDATE todos SET title = 'late'");
    parentPort.postMessage('begun');
    setTimeout(() => database.exec('COMMIT'), 200);`;
  const writer = new Worker(writes, { eval: true, workerData: path });
  const ended = once(writer, 'exit');
  await once(writer, 'message');
  const { old } = await restore(path, file);
  await ended;
  assert.deepEqual([titlesOf(path), titlesOf(old?.path ?? '')], [['saved'], ['late']]);
});

test('a path that can be no database is refused', async () => {
  const folder = join(dirname(newPath()), 'folder');
  mkdirSync(folder);
  await assert.rejects(restore(folder, await backupOf('saved')), {
    name: 'OperatorError',
    message: /it must be a file/,
  });
});

test('what a run has made beside the database goes when it is taken back', async () => {
  const path = newPath();
  const run = new Restore();
  let beside: readonly string[] = [];
  await run
    .run(path, await backupOf('saved'), {
      highestOf() {
        beside = namesBeside(path);
        run.takeBack();
        assert.deepEqual(namesBeside(path), []);
        throw new Error('interrupted');
      },
      onProgress: ignored,
      onDeciding: ignored,
      logEvent: ignored,
    })
    .catch(ignored);
  assert.match(beside[0] ?? '', /^todos\.db\.[0-9a-f]{12}\.partial$/);
});
