import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { IdsExhausted, type TodoStore } from '../../src/shared-list/store.ts';
import { newTodo, replacement } from './bodies.ts';

/** One engine under test. Every call of `open` begins with an empty database. */
export interface Engine {
  readonly open: () => Promise<TodoStore>;
  /** Runs SQL behind the store's back. */
  readonly execute: (sql: string) => Promise<void>;
  /** SQL after which 2147483647 is the last id given out. */
  readonly useUpIds: string;
}

/** What every `TodoStore` promises, on a real engine. */
export function describeTodoStore(name: string, engine: Engine): void {
  describe(`${name}: the contract of a todo store`, () => {
    test('a list without todos is empty', async () => {
      await using store = await engine.open();
      assert.deepEqual(await store.list(), []);
    });

    test('the first start makes the categories 1 and 2, and no third', async () => {
      await using store = await engine.open();
      assert.equal(typeof (await store.add(newTodo('a', 1))), 'object');
      assert.equal(typeof (await store.add(newTodo('b', 2))), 'object');
      assert.equal(await store.add(newTodo('c', 3)), 'category-missing');
    });

    test('an added todo is not done and is found by its id', async () => {
      await using store = await engine.open();
      const added = await store.add(newTodo('Buy milk', 2));
      assert.deepEqual(added, { id: 1, title: 'Buy milk', done: false, categoryId: 2 });
      assert.deepEqual(await store.find(1), added);
    });

    test('the list is ordered by id ascending', async () => {
      await using store = await engine.open();
      for (const title of ['c', 'a', 'b']) await store.add(newTodo(title, 1));
      await store.replace(1, replacement('z', true, 2));
      assert.deepEqual(await store.list(), [
        { id: 1, title: 'z', done: true, categoryId: 2 },
        { id: 2, title: 'a', done: false, categoryId: 1 },
        { id: 3, title: 'b', done: false, categoryId: 1 },
      ]);
    });

    test('a category that is missing refuses a new todo and uses up nothing that is visible', async () => {
      await using store = await engine.open();
      assert.equal(await store.add(newTodo('a', 2_147_483_647)), 'category-missing');
      assert.deepEqual(await store.list(), []);
    });

    test('replacing stores title, done and category', async () => {
      await using store = await engine.open();
      await store.add(newTodo('a', 1));
      assert.equal(await store.replace(1, replacement('b', true, 2)), 'replaced');
      assert.deepEqual(await store.find(1), { id: 1, title: 'b', done: true, categoryId: 2 });
    });

    test('a missing category refuses a replacement and changes nothing', async () => {
      await using store = await engine.open();
      const added = await store.add(newTodo('a', 1));
      assert.equal(await store.replace(1, replacement('b', true, 9)), 'category-missing');
      assert.deepEqual(await store.find(1), added);
    });

    test('a missing todo is said before a missing category', async () => {
      await using store = await engine.open();
      assert.equal(await store.replace(1, replacement('b', true, 9)), 'todo-missing');
    });

    test('a todo is removed once', async () => {
      await using store = await engine.open();
      await store.add(newTodo('a', 1));
      assert.equal(await store.remove(1), 'removed');
      assert.equal(await store.remove(1), 'todo-missing');
      assert.equal(await store.find(1), undefined);
    });

    test('the id of a removed todo is not given out again', async () => {
      await using store = await engine.open();
      await store.add(newTodo('a', 1));
      await store.remove(1);
      assert.deepEqual(await store.add(newTodo('b', 1)), { id: 2, title: 'b', done: false, categoryId: 1 });
    });

    for (const id of [0, -1, -2_147_483_648, 2_147_483_647]) {
      test(`no todo has the id ${id}`, async () => {
        await using store = await engine.open();
        assert.equal(await store.find(id), undefined);
        assert.equal(await store.replace(id, replacement('a', false, 1)), 'todo-missing');
        assert.equal(await store.remove(id), 'todo-missing');
      });
    }

    test('when the 32-bit range is used up, adding rejects and everything else goes on', async () => {
      await using store = await engine.open();
      await store.add(newTodo('a', 1));
      await engine.execute(engine.useUpIds);
      await assert.rejects(store.add(newTodo('b', 1)), IdsExhausted);
      assert.equal(await store.replace(1, replacement('c', true, 1)), 'replaced');
      assert.deepEqual(await store.list(), [{ id: 1, title: 'c', done: true, categoryId: 1 }]);
    });

    test('of two removals at once, one removes', async () => {
      await using store = await engine.open();
      await store.add(newTodo('a', 1));
      const outcomes = await Promise.all([store.remove(1), store.remove(1)]);
      assert.deepEqual(outcomes.sort(), ['removed', 'todo-missing']);
    });

    test('a title of 100 times U+10FFFF comes back as it was', async () => {
      await using store = await engine.open();
      const title = '\u{10FFFF}'.repeat(100);
      await store.add(newTodo(title, 1));
      assert.equal((await store.find(1))?.title, title);
    });

    test('generated titles come back code point by code point', async () => {
      await using store = await engine.open();
      await fc.assert(
        fc.asyncProperty(fc.uniqueArray(titles, { minLength: 20, maxLength: 100 }), async (sample) => {
          const added = await Promise.all(sample.map((title) => store.add(newTodo(title, 1))));
          for (const [index, todo] of added.entries()) {
            assert.ok(todo !== 'category-missing');
            assert.equal((await store.find(todo.id))?.title, sample[index]);
          }
        }),
        { numRuns: 20 },
      );
    });
  });
}

/** 1 to 100 code points of all planes, without U+0000 and surrogates (contract B10). */
const titles = fc
  .array(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((character) => character !== '\0'),
    { minLength: 1, maxLength: 100 },
  )
  .map((characters) => characters.join(''));
