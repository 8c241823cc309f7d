import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { newPath } from '../../../test/storage/new-files.ts';
import { makeDurable } from './durability.ts';

test('a commit is synced to a write-ahead log, on macOS through the drive’s cache', () => {
  using database = new DatabaseSync(newPath());
  makeDurable(database);
  const read = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {});
  assert.deepEqual(read('journal_mode'), ['wal']);
  assert.deepEqual(read('synchronous'), [2]);
  assert.deepEqual(read('fullfsync'), [1]);
  assert.deepEqual(read('checkpoint_fullfsync'), [1]);
});

test('a database that cannot keep a write-ahead log is refused', () => {
  using database = new DatabaseSync(':memory:');
  assert.throws(() => makeDurable(database), {
    message: 'its journal mode must be "wal", received "memory"',
  });
});
