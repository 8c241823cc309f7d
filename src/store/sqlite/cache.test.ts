import assert from 'node:assert/strict';
import { test } from 'node:test';
import { represent } from '../todo.ts';
import { TodoCache } from './cache.ts';
import type { UnderWay } from './writer.ts';

const ROOM = 2 ** 20;
const SEVEN = () => 7;
const noBatch = (): UnderWay => ({ ids: new Set(), adds: false });

const todo = (id: number, title = 'a') => represent({ id, title, done: false, categoryId: 1 });

test('what was read is known', () => {
  const cache = new TodoCache(ROOM, noBatch(), SEVEN);
  assert.equal(cache.get(1), undefined);
  cache.set(1, todo(1));
  assert.deepEqual(cache.get(1), todo(1));
  cache.set(2, 'missing');
  assert.equal(cache.get(2), 'missing');
});

test('ids that were never given out are known to be missing', () => {
  const cache = new TodoCache(ROOM, noBatch(), SEVEN);
  assert.equal(cache.get(8), undefined);
  cache.set(1, todo(1));
  assert.equal(cache.get(8), 'missing');
  assert.equal(cache.get(2_147_483_647), 'missing');
  assert.equal(cache.get(0), 'missing');
  assert.equal(cache.get(-1), 'missing');
  assert.equal(cache.get(7), undefined);
});

test('the highest id only rises', () => {
  const cache = new TodoCache(ROOM, noBatch(), SEVEN);
  cache.set(1, todo(1));
  cache.forget([5]);
  assert.equal(cache.get(7), undefined);
});

test('while a change of a todo is under way, it is neither known nor remembered', () => {
  const underWay = noBatch();
  const cache = new TodoCache(ROOM, underWay, SEVEN);
  cache.set(1, todo(1));
  cache.set(2, todo(2));
  underWay.ids.add(1);
  assert.equal(cache.get(1), undefined);
  cache.set(1, todo(1));
  assert.equal(cache.get(1), undefined);
  assert.deepEqual(cache.get(2), todo(2));
  cache.forget([1]);
  underWay.ids.clear();
  assert.equal(cache.get(1), undefined);
  cache.set(1, 'missing');
  assert.equal(cache.get(1), 'missing');
});

test('what was read while a change was under way is not remembered, whatever came of the change', () => {
  const underWay = noBatch();
  const cache = new TodoCache(ROOM, underWay, SEVEN);
  underWay.ids.add(1);
  cache.set(1, todo(1));
  underWay.ids.clear();
  assert.equal(cache.get(1), undefined);
});

test('a todo that a batch did not change is known again when the batch is done', () => {
  const underWay = noBatch();
  const cache = new TodoCache(ROOM, underWay, SEVEN);
  cache.set(1, todo(1));
  underWay.ids.add(1);
  underWay.ids.clear();
  assert.deepEqual(cache.get(1), todo(1));
});

test('while a todo is being added, no new id is known to be missing', () => {
  const underWay = noBatch();
  const cache = new TodoCache(ROOM, underWay, SEVEN);
  cache.set(1, todo(1));
  underWay.adds = true;
  assert.equal(cache.get(8), undefined);
  cache.forget([8]);
  underWay.adds = false;
  assert.equal(cache.get(8), undefined);
  assert.equal(cache.get(9), 'missing');
});

test('an id at which there was no todo is asked of SQLite once one got it', () => {
  const cache = new TodoCache(ROOM, noBatch(), SEVEN);
  cache.set(8, 'missing');
  cache.forget([8]);
  assert.equal(cache.get(8), undefined);
  assert.equal(cache.get(9), 'missing');
});

test('when another program changes the file, nothing is known any more', () => {
  let highest = 7;
  const cache = new TodoCache(ROOM, noBatch(), () => highest);
  cache.set(1, todo(1));
  cache.forget('all');
  assert.equal(cache.get(1), undefined);
  assert.equal(cache.get(8), undefined);
  highest = 8;
  cache.set(1, todo(1));
  assert.equal(cache.get(8), undefined);
  assert.equal(cache.get(9), 'missing');
});

test('a limit of 0 bytes knows nothing', () => {
  const cache = new TodoCache(0, noBatch(), SEVEN);
  cache.set(1, todo(1));
  assert.equal(cache.get(1), undefined);
  assert.equal(cache.get(8), undefined);
});

test('what weighs more than the limit is forgotten', () => {
  const cache = new TodoCache(10_000, noBatch(), () => 1_000);
  for (let id = 1; id <= 1_000; id += 1) cache.set(id, todo(id));
  const known = Array.from({ length: 1_000 }, (_, index) => cache.get(index + 1)).filter(
    (each) => each !== undefined,
  );
  assert.ok(known.length > 0);
  assert.ok(known.length * 256 <= 10_000);
});
