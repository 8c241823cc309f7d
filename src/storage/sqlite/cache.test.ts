import assert from 'node:assert/strict';
import { test } from 'node:test';
import { represent } from '../../shared-list/members.ts';
import { openTodoCache } from './cache.ts';

const ROOM = 2 ** 20;
const noBatch = () => new Set<number>();

const todo = (id: number, title = 'a') => represent({ id, title, done: false, categoryId: 1 });

test('what was read is known', () => {
  const cache = openTodoCache(ROOM, noBatch());
  assert.equal(cache.get(1), undefined);
  cache.set(todo(1));
  assert.deepEqual(cache.get(1), todo(1));
});

test('while a change of a todo is under way, it is neither known nor remembered', () => {
  const underWay = noBatch();
  const cache = openTodoCache(ROOM, underWay);
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
  const cache = openTodoCache(ROOM, underWay);
  cache.set(todo(1));
  underWay.add(1);
  underWay.clear();
  assert.deepEqual(cache.get(1), todo(1));
});

test('when another program changes the file, nothing is known any more', () => {
  const cache = openTodoCache(ROOM, noBatch());
  cache.set(todo(1));
  cache.forget('all');
  assert.equal(cache.get(1), undefined);
});

test('a limit of 0 bytes knows nothing', () => {
  const cache = openTodoCache(0, noBatch());
  cache.set(todo(1));
  assert.equal(cache.get(1), undefined);
});

test('the default size holds the 170,000 todos with short titles that the settings promise, and never more than it', () => {
  const limit = 64 * 2 ** 20;
  const cache = openTodoCache(limit, noBatch());
  const known = (from: number) =>
    Array.from({ length: 170_000 }, (_, index) => cache.get(from + index)).filter(
      (each) => each !== undefined,
    ).length;
  for (const from of [1, 170_001]) {
    for (let id = from; id < from + 170_000; id += 1) cache.set(todo(id, 'Buy milk'));
    assert.ok(cache.bytes <= limit);
    assert.equal(known(from), 170_000);
  }
  assert.ok(known(1) < 10_000);
});

test('what is asked for stays, what is not is forgotten', () => {
  const cache = openTodoCache(10_000, noBatch());
  cache.set(todo(1));
  cache.set(todo(2));
  for (let id = 3; id <= 1_000; id += 1) {
    cache.set(todo(id));
    assert.deepEqual(cache.get(1), todo(1));
  }
  assert.equal(cache.get(2), undefined);
});

test('its bytes are those of what is in it: of another title other ones, of nothing none', () => {
  const cache = openTodoCache(ROOM, noBatch());
  cache.set(todo(1));
  const { bytes } = cache;
  cache.set(todo(1, 'ab'));
  assert.equal(cache.bytes, bytes + 2);
  cache.set(todo(1));
  cache.set(todo(2));
  assert.equal(cache.bytes, 2 * bytes);
  cache.forget([1, 3]);
  assert.equal(cache.bytes, bytes);
  cache.forget('all');
  assert.equal(cache.bytes, 0);
  cache.set(todo(1));
  assert.deepEqual(cache.get(1), todo(1));
});
