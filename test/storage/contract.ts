import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { IdsExhausted, type TodoStore } from '../../src/store/store.ts';
import type { Preconditions } from '../../src/store/todo.ts';
import { cases } from '../cases.ts';
import { todo } from '../todo.ts';
import { describeOnce } from './contract-once.ts';
import { describeWorkingTogether } from './contract-together.ts';
import { addedTo, addMany, bytesOf, found, listed, listText, newTodo, replacement, titles } from './todos.ts';

/** One engine under test. Every call of `open` begins with an empty database. */
export interface Engine {
  readonly open: () => Promise<TodoStore>;
  /** Opens another instance on the same database, where the engine allows that. */
  readonly openAgain?: () => Promise<TodoStore>;
  /** Runs SQL behind the store's back. */
  readonly execute: (sql: string) => Promise<void>;
  /** SQL after which the 24 hours of every key are over. */
  readonly ageKeys: string;
  /** How many keys of creates are kept in the current database. */
  readonly countKeys: () => Promise<number>;
  /** SQL after which 2147483647 is the last id given out. */
  readonly useUpIds: string;
}

/**
 * What every `TodoStore` promises, on a real engine, beyond what a client of the service sees: the conformance suite
 * shows that, on each engine.
 */
export function describeTodoStore(name: string, engine: Engine): void {
  describe(`${name}: reading and writing`, () => describeReadingAndWriting(engine));
  describe(`${name}: the list`, () => describeList(engine));
  describe(`${name}: preconditions`, () => describePreconditions(engine));
  describe(`${name}: creates that may be repeated`, () => describeOnce(engine));
  describe(`${name}: working together`, () => describeWorkingTogether(engine));
}

function describeReadingAndWriting({ open, execute, useUpIds }: Engine): void {
  test('of todos that are asked for together, each is the one that was asked for', async () => {
    await using store = await open();
    const [a, b, c] = [await addedTo(store, 'a'), await addedTo(store, 'b', 2), await addedTo(store, 'c')];
    const together = await Promise.all([3, 1, 3, 9, 2, 1].map((id) => store.find(id)));
    assert.deepEqual(together, [c, a, c, undefined, b, a]);
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

  test('no todo has the id 0, one below it, or the highest', async () => {
    await using store = await open();
    for (const id of [0, -1, -2_147_483_648, 2_147_483_647]) {
      assert.equal(await store.find(id), undefined);
      assert.equal(await store.replace(id, replacement('a', false, 1)), 'todo-missing');
      assert.equal(await store.remove(id), 'todo-missing');
    }
  });

  test('when the 32-bit range is used up, adding rejects and everything else goes on', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    await execute(useUpIds);
    await assert.rejects(store.add(newTodo('b', 1)), IdsExhausted);
    assert.equal(await store.replace(1, replacement('c', true, 1)), 'replaced');
    assert.deepEqual(await listed(store), [todo(1, 'c', true)]);
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

/** The list as clients see it from `GET /todos`. */
function describeList({ open }: Engine): void {
  test('what was answered is in every list that is asked for later', async () => {
    await using store = await open();
    const counts = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const { id } = await addedTo(store, `todo ${index}`);
        const todos = await listed(store);
        assert.ok(todos.some((todo) => todo.id === id));
        return todos.length;
      }),
    );
    assert.equal(Math.max(...counts), 20);
  });

  test('an unchanged list is in the same buffers with the same tag, together and later', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    const [first, second] = await Promise.all([store.list(), store.list()]);
    for (const other of [second, await store.list()]) {
      assert.equal(other.body, first.body);
      assert.equal(other.etag, first.etag);
    }
  });

  test('a list that became what it was before has the tag it had before', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    const { etag } = await store.list();
    await store.replace(1, replacement('b', false, 1));
    assert.notEqual((await store.list()).etag, etag);
    await store.replace(1, replacement('a', false, 1));
    assert.equal((await store.list()).etag, etag);
  });

  test('a long list that is asked for again comes in gzip to those who read it, with a tag of its own', async () => {
    await using store = await open();
    for (let index = 0; index < 20; index += 1) await addedTo(store, 'a'.repeat(50));
    const plain = await store.list({ gzip: true });
    const twin = await store.list({ gzip: true });
    assert.equal(plain.coding, 'identity');
    assert.equal(twin.coding, 'gzip');
    assert.notEqual(twin.etag, plain.etag);
    assert.deepEqual(gunzipSync(bytesOf(twin)), bytesOf(plain));
    assert.equal((await store.list({ gzip: false })).coding, 'identity');
  });

  test('changes everywhere in a long list are in it, in order', async () => {
    await using store = await open();
    await addMany(
      store,
      Array.from({ length: 1_000 }, (_, index) => `todo ${index}`),
    );
    await changedAndListed(store, [1, 63, 64, 65, 127, 128, 700, 999, 1_000]);
    await changedAndListed(store, [2, 300]);
    await addedTo(store, 'last');
    assert.equal((await listed(store)).at(-1)?.title, 'last');
  });
}

/** Replaces or removes todos, then compares the list with every single todo. */
async function changedAndListed(store: TodoStore, ids: readonly number[]): Promise<void> {
  await store.list();
  for (const id of ids) {
    if (id % 3 === 0) assert.equal(await store.remove(id), 'removed');
    else assert.equal(await store.replace(id, replacement(`changed ${id}`, true, 2)), 'replaced');
  }
  const single: string[] = [];
  for (let id = 1; id <= 1_001; id += 1) {
    const todo = await store.find(id);
    if (todo !== undefined) single.push(todo.json);
  }
  assert.equal(await listText(store), `[${single.join(',')}]`);
}

const OTHER = '"0123456789abcdef0123456789abcdef"';

/** Preconditions by the tag of the stored todo, and whether they admit a write. RFC 9110 §13.1.1, §13.1.2. */
const table: readonly [name: string, make: (etag: string) => Preconditions, admitted: boolean][] = [
  ['If-Match: its tag', (etag) => ({ ifMatch: [etag] }), true],
  ['If-Match: a list with its tag', (etag) => ({ ifMatch: [OTHER, etag] }), true],
  ['If-Match: *', () => ({ ifMatch: '*' }), true],
  ['If-Match: another tag', () => ({ ifMatch: [OTHER] }), false],
  ['If-Match: its tag, weak', (etag) => ({ ifMatch: [`W/${etag}`] }), false],
  ['If-None-Match: another tag', () => ({ ifNoneMatch: [OTHER] }), true],
  ['If-None-Match: its tag', (etag) => ({ ifNoneMatch: [etag] }), false],
  ['If-None-Match: its tag, weak', (etag) => ({ ifNoneMatch: [OTHER, `W/${etag}`] }), false],
  ['If-None-Match: *', () => ({ ifNoneMatch: '*' }), false],
  ['If-Match: its tag, If-None-Match: its tag', (etag) => ({ ifMatch: [etag], ifNoneMatch: [etag] }), false],
];

/** Decided inside the write itself: contract, Order of checks 5. */
function describePreconditions({ open }: Engine): void {
  test('a write is made where its preconditions admit it, else it is refused and changes nothing', async () => {
    await using store = await open();
    for (const [name, make, admitted] of table) {
      const before = await addedTo(store, 'a');
      const { id } = before;
      const outcome = await store.replace(id, replacement('b', true, 2), make(before.etag));
      assert.equal(outcome, admitted ? 'replaced' : 'precondition-failed', name);
      const after = await store.find(id);
      assert.equal(after?.json, admitted ? JSON.stringify(todo(id, 'b', true, 2)) : before.json, name);
      const removal = await store.remove(id, make(after?.etag ?? ''));
      assert.equal(removal, admitted ? 'removed' : 'precondition-failed', name);
      assert.deepEqual(await store.find(id), admitted ? undefined : before, name);
    }
  });

  test('a missing todo and a missing category are said before a failed precondition', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    const stale = { ifMatch: [OTHER] };
    assert.equal(await store.replace(9, replacement('b', true, 9), stale), 'todo-missing');
    assert.equal(await store.replace(1, replacement('b', true, 9), stale), 'category-missing');
    assert.equal(await store.replace(1, replacement('b', true, 2), stale), 'precondition-failed');
    assert.equal(await store.remove(9, stale), 'todo-missing');
  });

  test('whatever the title, the tag that was read is the tag that is compared', async () => {
    await using store = await open();
    await fc.assert(
      fc.asyncProperty(titles, async (title) => {
        const { id, etag } = await addedTo(store, title);
        assert.equal((await store.find(id))?.etag, etag);
        assert.equal(await store.remove(id, { ifMatch: [etag] }), 'removed');
      }),
    );
  });
}
