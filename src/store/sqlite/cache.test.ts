import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CategoryId, represent, type Title } from '../todo.ts';
import { TodoCache } from './cache.ts';
import type { Write } from './writer-thread.ts';

const ROOM = 2 ** 20;
const SEVEN = () => 7;

const todo = (id: number, title = 'a') => represent({ id, title, done: false, categoryId: 1 });
const removal = (id: number): Write => ({ kind: 'remove', id, preconditions: {} });
const addition: Write = { kind: 'add', title: 'a' as Title, categoryId: 1 as CategoryId, once: undefined };

test('what was read is known', () => {
  const cache = new TodoCache(ROOM, SEVEN);
  assert.equal(cache.get(1), undefined);
  cache.set(1, todo(1));
  assert.deepEqual(cache.get(1), todo(1));
  cache.set(2, 'missing');
  assert.equal(cache.get(2), 'missing');
});

test('ids that were never given out are known to be missing', () => {
  const cache = new TodoCache(ROOM, SEVEN);
  assert.equal(cache.get(8), undefined);
  cache.set(1, todo(1));
  assert.equal(cache.get(8), 'missing');
  assert.equal(cache.get(2_147_483_647), 'missing');
  assert.equal(cache.get(0), 'missing');
  assert.equal(cache.get(-1), 'missing');
  assert.equal(cache.get(7), undefined);
});

test('the highest id only rises', () => {
  const cache = new TodoCache(ROOM, SEVEN);
  cache.set(1, todo(1));
  cache.batchDone([5]);
  assert.equal(cache.get(7), undefined);
});

test('while a change of a todo is under way, it is neither known nor remembered', () => {
  const cache = new TodoCache(ROOM, SEVEN);
  cache.set(1, todo(1));
  cache.set(2, todo(2));
  cache.batchSent([removal(1)]);
  assert.equal(cache.get(1), undefined);
  cache.set(1, todo(1));
  assert.equal(cache.get(1), undefined);
  assert.deepEqual(cache.get(2), todo(2));
  cache.batchDone([1]);
  assert.equal(cache.get(1), undefined);
  cache.set(1, 'missing');
  assert.equal(cache.get(1), 'missing');
});

test('what was read while a change was under way is not remembered, whatever came of the change', () => {
  const cache = new TodoCache(ROOM, SEVEN);
  cache.batchSent([removal(1)]);
  cache.set(1, todo(1));
  cache.batchDone([]);
  assert.equal(cache.get(1), undefined);
});

test('a todo that a batch did not change is known again when the batch is done', () => {
  const cache = new TodoCache(ROOM, SEVEN);
  cache.set(1, todo(1));
  cache.batchSent([removal(1)]);
  cache.batchDone([]);
  assert.deepEqual(cache.get(1), todo(1));
});

test('while a todo is being added, no new id is known to be missing', () => {
  const cache = new TodoCache(ROOM, SEVEN);
  cache.set(1, todo(1));
  cache.batchSent([addition]);
  assert.equal(cache.get(8), undefined);
  cache.batchDone([8]);
  assert.equal(cache.get(8), undefined);
  assert.equal(cache.get(9), 'missing');
});

test('an id at which there was no todo is asked of SQLite once one got it', () => {
  const cache = new TodoCache(ROOM, SEVEN);
  cache.set(8, 'missing');
  cache.batchDone([8]);
  assert.equal(cache.get(8), undefined);
  assert.equal(cache.get(9), 'missing');
});

test('when another program changes the file, nothing is known any more', () => {
  let highest = 7;
  const cache = new TodoCache(ROOM, () => highest);
  cache.set(1, todo(1));
  cache.invalidate();
  assert.equal(cache.get(1), undefined);
  assert.equal(cache.get(8), undefined);
  highest = 8;
  cache.set(1, todo(1));
  assert.equal(cache.get(8), undefined);
  assert.equal(cache.get(9), 'missing');
});

test('a limit of 0 bytes knows nothing', () => {
  const cache = new TodoCache(0, SEVEN);
  cache.set(1, todo(1));
  assert.equal(cache.get(1), undefined);
  assert.equal(cache.get(8), undefined);
});

test('what weighs more than the limit is forgotten', () => {
  const cache = new TodoCache(10_000, () => 1_000);
  for (let id = 1; id <= 1_000; id += 1) cache.set(id, todo(id));
  const known = Array.from({ length: 1_000 }, (_, index) => cache.get(index + 1)).filter(
    (each) => each !== undefined,
  );
  assert.ok(known.length > 0);
  assert.ok(known.length * 256 <= 10_000);
});
