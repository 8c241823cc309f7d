import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { newDatabase } from '../../../test/storage/new-files.ts';
import { replacement } from '../../../test/storage/todos.ts';
import { prepareBatches } from './writer-thread.ts';

test('whether the file is still there is looked at when the batch is committed, and before it is acknowledged', async () => {
  const path = await newDatabase();
  using database = new DatabaseSync(path);
  using other = new DatabaseSync(path);
  let seen: unknown;
  const commit = prepareBatches(
    database,
    () => {},
    () => {
      seen = other.prepare('SELECT title FROM todos').get()?.title;
      return 'it was deleted';
    },
  );
  const added = { kind: 'add', todo: replacement('a', false, 1), once: undefined } as const;
  assert.deepEqual(commit([added]), { failure: 'unknown', trouble: 'gone', message: 'it was deleted' });
  assert.equal(seen, 'a');
});
