import assert from 'node:assert/strict';
import { linkSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { newDatabase, newPath } from '../../../test/storage/new-files.ts';
import { lockFile } from './owner-lock.ts';

const ignored = () => {};
const SELF = new RegExp(
  `^process ${process.pid} on ${hostname().replaceAll('.', '\\.')} since \\d{4}-[-\\d]+T[\\d:.]+Z$`,
);

test('without patience nothing is said of a wait', async () => {
  const path = await newDatabase();
  using _lock = await lockFile(path, 0, ignored);
  await assert.rejects(lockFile(path, 0, ignored), { message: /since \S+Z\. One SQLite file/ });
});

test('who waits gets the database when its owner leaves [D6]', async () => {
  const path = await newDatabase();
  const first = await lockFile(path, 0, ignored);
  let waits = 0;
  using _second = await lockFile(path, 60_000, (owner) => {
    waits += 1;
    assert.match(owner, SELF);
    first[Symbol.dispose]();
  });
  assert.equal(waits, 1);
});

test('an owner that is writing its name is another process', async () => {
  const path = await newDatabase();
  using other = new DatabaseSync(`${path}-owner`);
  other.exec('BEGIN EXCLUSIVE');
  await assert.rejects(lockFile(path, 0, ignored), { message: /it is served by another process\. / });
});

test('while a program reads the lock for long, the last owner is named, and not the one who waits', async () => {
  const path = await newDatabase();
  using reader = new DatabaseSync(`${path}-owner`);
  reader.exec("UPDATE owner SET host = 'earlier'; BEGIN; SELECT 1 FROM owner");
  await assert.rejects(lockFile(path, 0, ignored), { message: /process \d+ on earlier since / });
});

for (const [what, make] of [
  ['damaged', (path: string) => writeFileSync(path, 'no database'.repeat(1_000))],
  [
    'has a write-ahead log',
    (path: string) => {
      using sidecar = new DatabaseSync(path);
      sidecar.exec('PRAGMA journal_mode = WAL; CREATE TABLE a (b)');
    },
  ],
  [
    'forgets its owner',
    (path: string) => {
      using sidecar = new DatabaseSync(path);
      sidecar.exec('CREATE TRIGGER forget AFTER INSERT ON owner BEGIN DELETE FROM owner; END');
    },
  ],
  [
    'has another table of this name',
    (path: string) => {
      using sidecar = new DatabaseSync(path);
      sidecar.exec('DROP TABLE owner; CREATE TABLE owner (a)');
    },
  ],
] as const) {
  test(`a lock that is ${what}, and nobody holds, is emptied in place [D6]`, async () => {
    const path = await newDatabase();
    const sidecar = `${path}-owner`;
    make(sidecar);
    const { ino } = statSync(sidecar);
    using _lock = await lockFile(path, 0, ignored);
    assert.equal(statSync(sidecar).ino, ino);
    // With a rollback journal: https://www.sqlite.org/fileformat.html#file_format_version_numbers
    assert.deepEqual([...readFileSync(sidecar).subarray(18, 20)], [1, 1]);
    await assert.rejects(lockFile(path, 0, ignored), { message: /is served by process / });
  });
}

test('of a lock that was emptied no descriptor stays open', {
  skip: process.platform !== 'linux' && 'needs /proc',
}, async () => {
  const open = () => readdirSync('/proc/self/fd').length;
  const path = await newDatabase();
  writeFileSync(`${path}-owner`, 'no database');
  const before = open();
  (await lockFile(path, 0, ignored))[Symbol.dispose]();
  assert.equal(open(), before);
});

for (const [what, make] of [
  [
    'a list of todos',
    (path: string) => {
      using list = new DatabaseSync(path);
      list.exec('PRAGMA application_id = 0x746f646f; CREATE TABLE owner (a)');
    },
  ],
  [
    'a file with a second name',
    (path: string) => {
      writeFileSync(path, 'no database'.repeat(1_000));
      linkSync(path, `${path}2`);
    },
  ],
] as const) {
  test(`${what} in the place of the lock stays as it is [D6]`, async () => {
    const path = newPath();
    const sidecar = `${path}-owner`;
    make(sidecar);
    const before = readFileSync(sidecar);
    await assert.rejects(lockFile(path, 0, ignored), {
      message: '"todos.db-owner" is no lock of this program: move it away while no process serves todos',
    });
    assert.deepEqual(readFileSync(sidecar), before);
  });
}

test('a lock that cannot be taken when it is empty either is an error [D6]', async () => {
  const path = await newDatabase();
  // In the place of the journal that a write needs.
  symlinkSync('elsewhere', `${path}-owner-journal`);
  await assert.rejects(lockFile(path, 0, ignored), { message: 'unable to open database file' });
});
