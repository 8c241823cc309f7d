import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Operator } from '../../src/store/operator.ts';
import { IdsExhausted, type TodoStore } from '../../src/store/store.ts';
import { cases } from '../cases.ts';
import { todo } from '../todo.ts';
import { describeList } from './contract-list.ts';
import { describeOnce } from './contract-once.ts';
import { describeOperator } from './contract-operator.ts';
import { describePreconditions } from './contract-preconditions.ts';
import { describeWorkingTogether } from './contract-together.ts';
import { addedTo, found, listed, listText, newTodo, replacement, titles } from './todos.ts';

/** One engine under test. Every call of `open` begins with an empty database. */
export interface Engine {
  readonly open: () => Promise<TodoStore>;
  /** Opens another instance on the same database, where the engine allows that. */
  readonly openAgain?: () => Promise<TodoStore>;
  /** Opens the current database as an operator does. */
  readonly openOperator: () => Operator | Promise<Operator>;
  /** Runs SQL behind the store's back. */
  readonly execute: (sql: string) => Promise<void>;
  /** Of this program's schema. */
  readonly schemaVersion: number;
  /** SQL after which the 24 hours of every key are over. */
  readonly ageKeys: string;
  /** How many keys of creates are kept in the current database. */
  readonly countKeys: () => Promise<number>;
  /** SQL after which 2147483647 is the last id given out. */
  readonly useUpIds: string;
}

/** What every `TodoStore` promises, on a real engine. */
export function describeTodoStore(name: string, engine: Engine): void {
  describe(`${name}: reading and writing`, () => describeReadingAndWriting(engine));
  describe(`${name}: ids`, () => describeIds(engine));
  describe(`${name}: titles`, () => describeTitles(engine));
  describe(`${name}: the list`, () => describeList(engine));
  describe(`${name}: preconditions`, () => describePreconditions(engine));
  describe(`${name}: creates that may be repeated`, () => describeOnce(engine));
  describe(`${name}: operators`, () => describeOperator(engine));
  describe(`${name}: working together`, () => describeWorkingTogether(engine));
}

function describeReadingAndWriting({ open }: Engine): void {
  test('a list without todos is empty', async () => {
    await using store = await open();
    assert.deepEqual(await listed(store), []);
  });

  test('the first start makes the categories 1 and 2, and no third', async () => {
    await using store = await open();
    assert.equal(typeof (await store.add(newTodo('a', 1))), 'object');
    assert.equal(typeof (await store.add(newTodo('b', 2))), 'object');
    assert.equal(await store.add(newTodo('c', 3)), 'category-missing');
  });

  test('an added todo is not done and is found by its id', async () => {
    await using store = await open();
    const added = await addedTo(store, 'Buy milk', 2);
    assert.equal(added.id, 1);
    assert.equal(added.json, '{"id":1,"title":"Buy milk","done":false,"categoryId":2}');
    assert.deepEqual(await store.find(1), added);
  });

  test('the list is ordered by id ascending', async () => {
    await using store = await open();
    for (const title of ['c', 'a', 'b']) await addedTo(store, title);
    await store.replace(1, replacement('z', true, 2));
    assert.equal(await listText(store), JSON.stringify([todo(1, 'z', true, 2), todo(2, 'a'), todo(3, 'b')]));
  });

  test('a category that is missing refuses a new todo', async () => {
    await using store = await open();
    assert.equal(await store.add(newTodo('a', 2_147_483_647)), 'category-missing');
    assert.deepEqual(await listed(store), []);
  });

  test('replacing stores title, done and category', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    assert.equal(await store.replace(1, replacement('b', true, 2)), 'replaced');
    assert.deepEqual(await found(store, 1), todo(1, 'b', true, 2));
  });

  test('a missing category refuses a replacement and changes nothing', async () => {
    await using store = await open();
    const added = await addedTo(store, 'a');
    assert.equal(await store.replace(1, replacement('b', true, 9)), 'category-missing');
    assert.deepEqual(await store.find(1), added);
  });

  test('a missing todo is said before a missing category', async () => {
    await using store = await open();
    assert.equal(await store.replace(1, replacement('b', true, 9)), 'todo-missing');
  });

  test('of todos that are asked for together, each is the one that was asked for', async () => {
    await using store = await open();
    const [a, b, c] = [await addedTo(store, 'a'), await addedTo(store, 'b', 2), await addedTo(store, 'c')];
    const together = await Promise.all([3, 1, 3, 9, 2, 1].map((id) => store.find(id)));
    assert.deepEqual(together, [c, a, c, undefined, b, a]);
  });

  test('a todo is removed once', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    assert.equal(await store.remove(1), 'removed');
    assert.equal(await store.remove(1), 'todo-missing');
    assert.equal(await store.find(1), undefined);
  });

  test('of two removals at once, one removes', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    const outcomes = await Promise.all([store.remove(1), store.remove(1)]);
    assert.deepEqual(outcomes.sort(), ['removed', 'todo-missing']);
  });

  test('a refused write fails none of those that arrive with it', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    const outcomes = await Promise.all([
      store.replace(1, replacement('b', true, 1)),
      store.add(newTodo('c', 9)),
      store.replace(1, replacement('d', true, 9)),
      store.remove(7),
      store.add(newTodo('e', 2)),
    ]);
    const [first, second, third, fourth, fifth] = outcomes;
    assert.deepEqual(
      [first, second, third, fourth],
      ['replaced', 'category-missing', 'category-missing', 'todo-missing'],
    );
    assert.ok(typeof fifth === 'object' && 'id' in fifth);
    assert.deepEqual(await listed(store), [todo(1, 'b', true), todo(fifth.id, 'e', false, 2)]);
  });
}

function describeIds({ open, execute, useUpIds }: Engine): void {
  test('the id of a removed todo is not given out again', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    await store.remove(1);
    assert.ok((await addedTo(store, 'b')).id > 1);
  });

  for (const id of [0, -1, -2_147_483_648, 2_147_483_647]) {
    test(`no todo has the id ${id}`, async () => {
      await using store = await open();
      assert.equal(await store.find(id), undefined);
      assert.equal(await store.replace(id, replacement('a', false, 1)), 'todo-missing');
      assert.equal(await store.remove(id), 'todo-missing');
    });
  }

  test('when the 32-bit range is used up, adding rejects and everything else goes on', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    await execute(useUpIds);
    await assert.rejects(store.add(newTodo('b', 1)), IdsExhausted);
    assert.equal(await store.replace(1, replacement('c', true, 1)), 'replaced');
    assert.deepEqual(await listed(store), [todo(1, 'c', true)]);
  });
}

function describeTitles({ open }: Engine): void {
  test('a title of 100 times U+10FFFF comes back as it was', async () => {
    await using store = await open();
    const title = '\u{10FFFF}'.repeat(100);
    await addedTo(store, title);
    assert.equal((await found(store, 1))?.title, title);
  });

  test('generated titles come back byte for byte', async () => {
    await using store = await open();
    const expected: string[] = [];
    for (const sample of batches(fc.sample(titles, cases(1_000, 10_000)), 40)) {
      const added = await Promise.all(sample.map((title) => addedTo(store, title)));
      const read = await Promise.all(added.map(({ id }) => found(store, id)));
      assert.deepEqual(
        read.map((todo) => todo?.title),
        sample,
      );
      expected.push(...added.map(({ json }) => json));
    }
    const list = await listed(store);
    assert.deepEqual(list.map((todo) => JSON.stringify(todo)).toSorted(), expected.toSorted());
  });
}

function* batches<T>(all: readonly T[], size: number): Iterable<readonly T[]> {
  for (let from = 0; from < all.length; from += size) yield all.slice(from, from + size);
}
