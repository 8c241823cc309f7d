import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RecentCache } from './recent-cache.ts';

const lengthOf = (_key: unknown, value: string): number => value.length;

test('what was put in comes out', () => {
  const kept = new RecentCache<number, string>(10, lengthOf);
  kept.set(1, 'a');
  kept.set(2, 'b');
  assert.equal(kept.get(1), 'a');
  assert.equal(kept.get(2), 'b');
  assert.equal(kept.get(3), undefined);
});

test('what is asked for stays, what is not is forgotten', () => {
  const kept = new RecentCache<string, string>(10, lengthOf);
  kept.set('asked', '12');
  kept.set('unasked', '12');
  for (const key of ['a', 'b', 'c', 'd', 'e']) {
    kept.set(key, '12');
    assert.equal(kept.get('asked'), '12');
  }
  assert.equal(kept.get('unasked'), undefined);
});

test('its weight is that of what is in it, never above the limit, and nothing when all is deleted', () => {
  const both = new RecentCache<number, string>(20, lengthOf);
  both.set(1, 'four');
  both.set(2, 'sevenly');
  assert.equal(both.weight, 11);
  const changes = fc.array(fc.tuple(fc.nat(9), fc.option(fc.string({ maxLength: 9 }))));
  fc.assert(
    fc.property(changes, (steps) => {
      const kept = new RecentCache<number, string>(20, lengthOf);
      for (const [key, value] of steps) {
        if (value === null) kept.delete(key);
        else kept.set(key, value);
        kept.get((key + 1) % 10);
        assert.ok(kept.weight <= 20);
      }
      for (let key = 0; key < 10; key += 1) kept.delete(key);
      assert.equal(kept.weight, 0);
    }),
  );
});

test('what weighs more than half of the limit is not kept', () => {
  const kept = new RecentCache<string, string>(10, lengthOf);
  kept.set('half', '12345');
  kept.set('more', '123456');
  assert.equal(kept.get('half'), '12345');
  assert.equal(kept.get('more'), undefined);
});

test('both maps together never weigh more than the limit, and hold at least half of it', () => {
  const kept = new RecentCache<number, string>(100, lengthOf);
  for (let key = 0; key < 50; key += 1) kept.set(key, '0123456789');
  const found = Array.from({ length: 50 }, (_, key) => kept.get(key)).filter((value) => value !== undefined);
  assert.ok(found.length <= 10 && found.length >= 5, String(found.length));
});

test('a limit of 0 keeps nothing', () => {
  const kept = new RecentCache<string, string>(0, lengthOf);
  kept.set('a', '1');
  assert.equal(kept.get('a'), undefined);
});

test('after clearing there is nothing, and room for as much as before', () => {
  const kept = new RecentCache<string, string>(4, lengthOf);
  kept.set('a', '12');
  kept.clear();
  assert.equal(kept.get('a'), undefined);
  kept.set('b', '12');
  assert.equal(kept.get('b'), '12');
});

test('whatever is done, it never gives an old value', () => {
  const key = fc.integer({ min: 0, max: 9 });
  const step = fc.oneof(
    fc.tuple(fc.constant('set' as const), key, fc.string({ maxLength: 12 })),
    fc.tuple(fc.constant('delete' as const), key, fc.constant('')),
    fc.tuple(fc.constant('get' as const), key, fc.constant('')),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const kept = new RecentCache<number, string>(20, lengthOf);
      const truth = new Map<number, string>();
      for (const [kind, id, value] of steps) {
        if (kind === 'set') {
          kept.set(id, value);
          truth.set(id, value);
        } else if (kind === 'delete') {
          kept.delete(id);
          truth.delete(id);
        }
        const given = kept.get(id);
        assert.ok(given === undefined || given === truth.get(id));
      }
    }),
  );
});
