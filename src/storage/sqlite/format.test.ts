import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { put } from '../../../test/storage/damage.ts';
import { newDatabase, newPath } from '../../../test/storage/new-files.ts';
import { openSqliteMaintenance } from './maintenance.ts';
import { Restore } from './restore.ts';
import { openSqliteStore } from './store.ts';

const options = { patienceMs: 0, cacheBytes: 0, logEvent: () => {} };

/** A database with a log whose header names a version, and has the checksum of that. */
async function withLog(version: number): Promise<string> {
  const [path, copy] = [await newDatabase(), newPath()];
  using database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; INSERT INTO todos (title, category_id) VALUES ('a', 1)");
  const log = readFileSync(`${path}-wal`);
  log.writeUInt32BE(version, 4);
  const isBig = log.readUInt32BE(0) === 0x377f0683;
  const word = (at: number) => (isBig ? log.readUInt32BE(at) : log.readUInt32LE(at));
  let [one, two] = [0, 0];
  for (let at = 0; at < 24; at += 8) {
    one = (one + word(at) + two) >>> 0;
    two = (two + word(at + 4) + one) >>> 0;
  }
  log.writeUInt32BE(one, 24);
  log.writeUInt32BE(two, 28);
  writeFileSync(copy, readFileSync(path));
  writeFileSync(`${copy}-wal`, log);
  return copy;
}

async function withVersions(write: number, read: number): Promise<string> {
  const path = await newDatabase();
  writeFileSync(path, put(readFileSync(path), 18, Buffer.of(write, read)));
  return path;
}

for (const [what, make, message] of [
  [
    "a database in Turso's mvcc",
    () => withVersions(255, 255),
    /: it is in the journal mode "mvcc" of Turso: run "PRAGMA journal_mode = 'wal'" on it with Turso$/,
  ],
  ['a database that SQLite does not read', () => withVersions(2, 9), /: it is of version 9 of the format, /],
  [
    'a log of another version',
    () => withLog(3_007_001),
    /: "todos.db-wal" is a log of version 3007001, and SQLite reads 3007000: /,
  ],
] as const) {
  test(`${what} is named as what it is, and stays as it was: 65 [D15]`, async () => {
    const path = await make();
    const before = readFileSync(path);
    await assert.rejects(openSqliteStore(path, options), { reason: 'bad-data', message });
    assert.deepEqual(readFileSync(path), before);
  });
}

test('a log of this version is read [D15]', async () => {
  await using store = await openSqliteStore(await withLog(3_007_000), options);
  assert.equal((await store.find(1))?.id, 1);
});

for (const suffix of ['-shm', '-wal', '-journal']) {
  test(`a folder with the name of todos.db${suffix} refuses a start and a restore, which change nothing [E3]`, async () => {
    const [path, backup] = [newPath(), await newDatabase()];
    mkdirSync(path + suffix);
    const message = `Cannot open the database "${path}": "todos.db${suffix}" is a folder: remove it`;
    await assert.rejects(openSqliteStore(path, options), { reason: 'unavailable', message });
    const restoring = new Restore().run(path, backup, {
      highestOf: (highest) => highest,
      onProgress: () => {},
      onDeciding: () => {},
      logEvent: () => {},
    });
    await assert.rejects(restoring, { reason: 'unavailable', message });
  });
}

test('check does not see a version that SQLite reads and does not write, as limits.md says', async () => {
  await using maintenance = openSqliteMaintenance(await withVersions(3, 2));
  assert.deepEqual((await maintenance.inspect()).faults, []);
});
