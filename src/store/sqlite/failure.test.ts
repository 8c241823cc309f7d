import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureByEnd } from './failure.ts';
import { ThreadEnded } from './thread.ts';

test('a thread that could not begin because the file is damaged says so; one that ended for another reason has changed nothing', () => {
  const corrupt = Object.assign(new Error('database disk image is malformed'), { errcode: 11 });
  assert.deepEqual(failureByEnd(new ThreadEnded('ended', false, corrupt), 'unknown'), {
    failure: 'broken',
    trouble: 'damaged',
    message: 'database disk image is malformed',
  });
  assert.deepEqual(failureByEnd(new ThreadEnded('ended', false), 'unknown'), {
    failure: 'unavailable',
    message: 'ended',
  });
});

test('a thread that ended with an order in hand leaves a write unknown, and a read undone', () => {
  const ended = new ThreadEnded('ended', true);
  assert.equal(failureByEnd(ended, 'unknown').failure, 'unknown');
  assert.equal(failureByEnd(ended, 'unavailable').failure, 'unavailable');
});
