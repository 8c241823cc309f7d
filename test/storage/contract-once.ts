import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Once, TodoStore } from '../../src/store/store.ts';
import { todo } from '../todo.ts';
import type { Engine } from './contract.ts';
import { addedTo, listed, newTodo, replacement } from './todos.ts';

/** A key, for the body with which tests use it. */
export function once(key: string, body = 'milk'): Once {
  return { key, body, patienceMs: 10_000 };
}

const MILK = newTodo('milk', 2);

/** Creates that may be repeated: contract I1 to I6. */
export function describeOnce({ open, openAgain, execute, ageKeys, countKeys }: Engine): void {
  test('I2 · also when the todo, or its category, was deleted since', async () => {
    await using store = await open();
    const added = await store.add(MILK, once('a'));
    await store.remove(1);
    assert.deepEqual(await store.add(MILK, once('a')), { repeated: added });
    await execute('DELETE FROM categories WHERE id = 2');
    assert.deepEqual(await store.add(MILK, once('a')), { repeated: added });
    assert.deepEqual(await listed(store), []);
    assert.equal(await store.find(1), undefined);
  });

  test('I2 · what a todo is now is not taken for what it was', async () => {
    await using store = await open();
    await store.add(MILK, once('a'));
    await store.replace(1, replacement('bread', true, 1));
    await store.add(MILK, once('a'));
    assert.equal((await store.find(1))?.json, JSON.stringify(todo(1, 'bread', true)));
  });

  test('I2 · a key that has its 24 hours behind it is free, swept or not', async () => {
    await using store = await open();
    await store.add(MILK, once('a'));
    await execute(ageKeys);
    const again = await store.add(newTodo('bread', 1), once('a', 'bread'));
    assert.ok(typeof again === 'object' && 'id' in again);
    assert.ok(again.id > 1);
    assert.deepEqual(await store.add(newTodo('bread', 1), once('a', 'bread')), { repeated: again });
  });

  test('I2 · keys whose time is over go, a few with each key that comes, and no other', async () => {
    await using store = await open();
    for (let key = 0; key < 20; key += 1) await store.add(MILK, once(`old ${key}`));
    await execute(ageKeys);
    await store.add(MILK, once('new 0'));
    assert.ok((await countKeys()) > 1, 'all at once');
    let added = 1;
    for (; added < 100 && (await countKeys()) > added; added += 1)
      await store.add(MILK, once(`new ${added}`));
    assert.equal(await countKeys(), added);
    assert.equal((await listed(store)).length, 20 + added);
  });

  test('I2 · a create without a key sweeps nothing', async () => {
    await using store = await open();
    await store.add(MILK, once('a'));
    await execute(ageKeys);
    await addedTo(store, 'bread');
    assert.equal(await countKeys(), 1);
  });

  test('I3 · of sixteen creates with one key at once, with whatever instance, one makes the todo', async () => {
    await using first = await open();
    await using second = openAgain === undefined ? undefined : await openAgain();
    for (let round = 0; round < 20; round += 1) {
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, (_, client) =>
          (client % 2 === 0 ? first : (second ?? first)).add(MILK, once(`round ${round}`)),
        ),
      );
      const made = outcomes.filter((outcome) => typeof outcome === 'object' && 'id' in outcome);
      assert.equal(made.length, 1);
      for (const outcome of outcomes)
        if (outcome !== made[0]) assert.deepEqual(outcome, { repeated: made[0] });
    }
    assert.equal((await listed(first)).length, 20);
  });

  test('I4 · of two bodies for one key at once, one is made and the other refused', async () => {
    await using store = await open();
    for (let round = 0; round < 10; round += 1) {
      const outcomes = await Promise.all([
        store.add(MILK, once(`round ${round}`)),
        store.add(newTodo('bread', 1), once(`round ${round}`, 'bread')),
      ]);
      assert.equal(outcomes.filter((outcome) => outcome === 'key-reused').length, 1);
    }
    assert.equal((await listed(store)).length, 10);
  });

  test('I6 · a refused create leaves the keys of those alone that arrive with it', async () => {
    await using store = await open();
    const outcomes = await Promise.all([
      store.add(MILK, once('a')),
      store.add(newTodo('b', 9), once('b')),
      store.add(MILK, once('c')),
    ]);
    assert.deepEqual(outcomes.map(kindOf), ['object', 'category-missing', 'object']);
    assert.deepEqual(await again(store, ['a', 'c']), [{ repeated: outcomes[0] }, { repeated: outcomes[2] }]);
    assert.equal(await countKeys(), 2);
  });
}

function kindOf(outcome: unknown): unknown {
  return typeof outcome === 'object' ? 'object' : outcome;
}

function again(store: TodoStore, keys: readonly string[]) {
  return Promise.all(keys.map((key) => store.add(MILK, once(key))));
}
