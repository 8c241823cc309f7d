import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import fc from 'fast-check';
import { backupSqlite } from '../../src/storage/sqlite/maintenance.ts';
import { Restore } from '../../src/storage/sqlite/restore.ts';
import { damage, type Files, leftFiles, put, written } from '../storage/damage.ts';
import { execute, newDatabase, newPath, titlesOf } from '../storage/new-files.ts';
import { cases } from '../support/cases.ts';
import { refused, run } from './engines.ts';

const [copy, [closed = new Map(), ...killed]] = [await backup(), await leftFiles()];

/** A backup of one todo, `saved`. */
async function backup(): Promise<string> {
  const path = await newDatabase();
  execute(path, "INSERT INTO todos (title, category_id) VALUES ('saved', 1)");
  const copy = newPath('b.db');
  await backupSqlite(path, copy);
  return copy;
}

/** Whether SQLite reads a file that no other lies beside, and its schema. */
function isReadable(file: Buffer): boolean {
  using database = new DatabaseSync(written(new Map([['', file]])));
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return true;
  } catch {
    return false;
  }
}

test('restore: whatever happened to the files of a database, it is replaced and kept [E3]', async () => {
  const restored = async (files: Files, change: (files: Files) => Files) => {
    const damaged = change(files);
    const path = written(damaged);
    const { old } = await new Restore().run(path, copy, {
      highestOf: (highestId) => highestId,
      onProgress: () => {},
      onDeciding: () => {},
      logEvent: () => {},
    });
    assert.deepEqual(titlesOf(path), ['saved']);
    assert.ok(old !== undefined);
    const file = damaged.get('') ?? assert.fail();
    if (damaged.size === 1 && !isReadable(file)) assert.deepEqual(readFileSync(old.path), file);
    const left = readdirSync(dirname(path)).filter((name) => name.includes('partial'));
    assert.deepEqual(left, []);
  };
  await fc.assert(fc.asyncProperty(fc.constantFrom(closed, ...killed), damage, restored), {
    numRuns: cases(20, 150),
  });
});

const filled = (length: number, value: number) => Buffer.alloc(length, value);

for (const [what, at, bytes] of [
  ['its first page is zeros from byte 100', 100, filled(3_000, 0)],
  ['its format is one of a newer SQLite, by bytes 44 to 47', 44, Buffer.of(0, 0, 0, 9)],
  ['a newer SQLite must write it, by byte 18', 18, Buffer.of(3)],
  ['a newer SQLite must read it, by byte 19', 19, Buffer.of(3)],
  ['its size of pages is none', 16, Buffer.of(7, 7)],
  ['its schema is text of nobody', 4_000, filled(90, 0x53)],
  ['its application_id is that of another program', 68, Buffer.of(1, 2, 3, 4)],
  ['its application_id is 0', 68, filled(4, 0)],
  ['its user_version is 0', 60, filled(4, 0)],
] as const) {
  test(`restore: a database is replaced and kept of which ${what} [E3]`, async () => {
    const path = written(new Map([['', put(closed.get('') ?? assert.fail(), at, bytes)]]));
    const { code, stdout, stderr } = await run(`sqlite:${path}`, ['restore', copy]);
    assert.deepEqual([code, stderr], [0, '']);
    const [, old = ''] = /^The old database is (.+?)\. /m.exec(stdout) ?? [];
    assert.ok(statSync(old).size >= 28_672);
    assert.deepEqual(titlesOf(path), ['saved']);
  });
}

const EMPTY = `DROP TABLE idempotency_keys; DROP TABLE todos; DROP TABLE categories; PRAGMA application_id = 0;
  PRAGMA journal_mode = DELETE`;

for (const [whose, statement, reason] of [
  [
    'with tables that have the names of ours',
    `${EMPTY}; CREATE TABLE todos (id INTEGER PRIMARY KEY, title TEXT); CREATE TABLE categories (name TEXT)`,
    '',
  ],
  [
    'with views that have the names of ours',
    `${EMPTY}; CREATE VIEW todos AS SELECT 1 AS id; CREATE VIEW categories AS SELECT 1 AS id`,
    '',
  ],
  ['without our tables', 'DROP TABLE idempotency_keys; DROP TABLE todos; PRAGMA application_id = 1', ''],
  ['that has our tables and is open', 'PRAGMA application_id = 1', ', and a program has it open'],
] as const) {
  test(`restore: a readable database of another program ${whose} stays as it is: 65 [E3]`, async () => {
    const path = written(closed);
    execute(path, statement);
    // Before it is open: closing a descriptor would drop the locks of this process.
    const before = readFileSync(path);
    {
      using program = new DatabaseSync(path);
      program.prepare('SELECT count(*) FROM sqlite_schema').get();
      const stderr = `Cannot restore: Cannot open the database "${path}": it belongs to another program${reason}\n`;
      await refused(`sqlite:${path}`, ['restore', copy], { code: 65, stderr });
    }
    assert.deepEqual(readFileSync(path), before);
    assert.deepEqual(
      readdirSync(dirname(path)).filter((name) => !/^todos\.db(-owner|-shm|-wal)?$/.test(name)),
      [],
    );
  });
}
