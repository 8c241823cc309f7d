import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { newDatabase } from '../../../test/storage/new-files.ts';
import { replacement } from '../../../test/storage/todos.ts';
import { prepareBatches } from './writer-thread.ts';

const GONE = { failure: 'broken', state: 'gone', message: 'it was deleted' } as const;

test('prepareBatches looks for the file before a batch, and when it is committed before it is acknowledged', async () => {
  const path = await newDatabase();
  using database = new DatabaseSync(path);
  using other = new DatabaseSync(path);
  const seen: unknown[] = [];
  const commit = prepareBatches(
    database,
    () => {},
    () => {
      seen.push(other.prepare('SELECT count(*) AS todos FROM todos').get()?.todos);
      return seen.length === 1 ? undefined : GONE;
    },
  );
  const added = { kind: 'add', todo: replacement('a', false, 1), once: undefined } as const;
  assert.deepEqual(commit([added]), { ...GONE, failure: 'unknown' });
  assert.deepEqual(seen, [0, 1]);
  assert.deepEqual(commit([added]), GONE);
  assert.deepEqual(seen, [0, 1, 1]);
});
