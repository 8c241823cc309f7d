import assert from 'node:assert/strict';
import { test } from 'node:test';
import { represent } from '../../todos/todo.ts';
import { TodoCache } from './cache.ts';

const ROOM = 2 ** 20;
const noBatch = () => new Set<number>();

const todo = (id: number, title = 'a') => represent({ id, title, done: false, categoryId: 1 });

test('what was read is known', () => {
  const cache = new TodoCache(ROOM, noBatch());
  assert.equal(cache.get(1), undefined);
  cache.set(todo(1));
  assert.deepEqual(cache.get(1), todo(1));
});

test('while a change of a todo is under way, it is neither known nor remembered', () => {
  const underWay = noBatch();
  const cache = new TodoCache(ROOM, underWay);
  cache.set(todo(1));
  cache.set(todo(2));
  underWay.add(1);
  assert.equal(cache.get(1), undefined);
  cache.set(todo(1));
  assert.equal(cache.get(1), undefined);
  assert.deepEqual(cache.get(2), todo(2));
  cache.forget([1]);
  underWay.clear();
  assert.equal(cache.get(1), undefined);
  cache.set(todo(1));
  assert.deepEqual(cache.get(1), todo(1));
});

test('a todo that a batch did not change is known again when the batch is done', () => {
  const underWay = noBatch();
  const cache = new TodoCache(ROOM, underWay);
  cache.set(todo(1));
  underWay.add(1);
  underWay.clear();
  assert.deepEqual(cache.get(1), todo(1));
});

test('when another program changes the file, nothing is known any more', () => {
  const cache = new TodoCache(ROOM, noBatch());
  cache.set(todo(1));
  cache.forget('all');
  assert.equal(cache.get(1), undefined);
});

test('a limit of 0 bytes knows nothing', () => {
  const cache = new TodoCache(0, noBatch());
  cache.set(todo(1));
  assert.equal(cache.get(1), undefined);
});

test('what weighs more than the limit is forgotten', () => {
  const cache = new TodoCache(10_000, noBatch());
  for (let id = 1; id <= 1_000; id += 1) cache.set(todo(id));
  const known = Array.from({ length: 1_000 }, (_, index) => cache.get(index + 1)).filter(
    (each) => each !== undefined,
  );
  assert.ok(known.length > 0);
  assert.ok(known.length * 256 <= 10_000);
});
