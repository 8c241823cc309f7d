import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TodoCache } from './cache.ts';
import { timed } from './commit-clock.ts';

test('a batch is counted with its writes; one that only asks whether the disk takes writes is not', () => {
  const counted: number[] = [];
  const watcher = timed(new TodoCache(0), (writes) => counted.push(writes));
  for (const ids of [[1, 2], [], [3]]) {
    watcher.batchSent(ids.map((id) => ({ kind: 'remove', id, preconditions: {} })));
    watcher.batchDone([]);
  }
  assert.deepEqual(counted, [2, 1]);
});
