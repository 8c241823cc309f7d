import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { entityTag, type Preconditions } from '../../src/shared-list/entity-tags.ts';
import type { Todo } from '../../src/shared-list/members.ts';
import { IdsExhausted, type TodoStore } from '../../src/shared-list/store.ts';
import { cases } from '../support/cases.ts';
import { todo } from '../support/todo.ts';
import { isLinearizable, type Operation } from './linearizable.ts';
import {
  addedTo,
  addMany,
  bytesOf,
  found,
  listed,
  listText,
  newTodo,
  once,
  replacement,
  titles,
} from './todos.ts';

/** One engine under test. Every call of `open` begins with an empty database. */
export interface Engine {
  readonly open: () => Promise<TodoStore>;
  /** Opens the current database once more. */
  readonly openAgain: () => Promise<TodoStore>;
  /** Whether that may be another instance beside the first. */
  readonly severalInstances: boolean;
  /** Runs SQL behind the store's back. */
  readonly execute: (sql: string) => Promise<void>;
  /** SQL after which every key is so many seconds older. */
  readonly ageKeys: (seconds: number) => string;
  /** How many keys of creates are kept in the current database. */
  readonly countKeys: () => Promise<number>;
  /** SQL after which 2147483647 is the last id given out. */
  readonly useUpIds: string;
  /** SQL after which this change of a row fails, where the condition holds, and nothing else does. */
  readonly refuse: (change: `${'INSERT' | 'UPDATE' | 'DELETE'} ON ${string}`, when: string) => string;
  /** SQL after which it succeeds again. */
  readonly admit: (table: string) => string;
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
  describe(`${name}: a statement that fails`, () => describeFailingStatements(engine));
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
    const plain = await store.list('gzip');
    const twin = await store.list('gzip');
    assert.equal(plain.coding, 'identity');
    assert.equal(twin.coding, 'gzip');
    assert.notEqual(twin.etag, plain.etag);
    assert.deepEqual(gunzipSync(bytesOf(twin)), bytesOf(plain));
    assert.equal((await store.list()).coding, 'identity');
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

/** Decided inside the write itself (contract Order 5). */
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

/** Two clients of one empty database, with instances of their own where the engine allows that. */
async function openBoth({ open, openAgain, severalInstances }: Engine) {
  const parts = new AsyncDisposableStack();
  const first = parts.use(await open());
  const second = severalInstances ? parts.use(await openAgain()) : first;
  const storeOf = (client: number): TodoStore => (client % 2 === 0 ? first : second);
  return { first, storeOf, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const MILK = newTodo('milk', 2);

const DAY_S = 86_400;

/** Creates that may be repeated (contract I1 to I6). */
function describeOnce(engine: Engine): void {
  const { open, openAgain, execute, ageKeys, countKeys } = engine;

  /** A store with todos of these keys, whose time is over. What each of them sweeps has ended before they age. */
  async function openWithOld(...keys: readonly string[]): Promise<TodoStore> {
    {
      await using first = await open();
      for (const key of keys) await first.add(MILK, once(key));
    }
    await execute(ageKeys(DAY_S));
    return openAgain();
  }

  test('the key again gives the todo as it was made, also when it or its category was deleted since [I2]', async () => {
    await using store = await open();
    const added = await store.add(MILK, once('a'));
    await store.remove(1);
    assert.deepEqual(await store.add(MILK, once('a')), { repeated: added });
    await execute('DELETE FROM categories WHERE id = 2');
    assert.deepEqual(await store.add(MILK, once('a')), { repeated: added });
    assert.deepEqual(await listed(store), []);
    assert.equal(await store.find(1), undefined);
  });

  test('a key that has its 24 hours behind it is free, swept or not [I2]', async () => {
    await using store = await openWithOld('a');
    const again = await store.add(newTodo('bread', 1), once('a', 'bread'));
    assert.ok(typeof again === 'object' && 'id' in again);
    assert.ok(again.id > 1);
    assert.deepEqual(await store.add(newTodo('bread', 1), once('a', 'bread')), { repeated: again });
  });

  test('one second before its 24 hours are over a key is kept, and one second after it is free [I2]', async () => {
    await using store = await open();
    const second = () => Math.floor(Date.now() / 1_000);
    const addedAgain = async (key: string, seconds: number) => {
      const began = second();
      await store.add(MILK, once(key));
      await execute(ageKeys(seconds));
      return { outcome: await store.add(MILK, once(key)), at: second() - began };
    };
    let kept = await addedAgain('kept 0', DAY_S - 1);
    // SQLite counts whole seconds: what a slow machine does in two of them says nothing.
    for (let tries = 1; kept.at > 0; tries += 1) kept = await addedAgain(`kept ${tries}`, DAY_S - 1);
    assert.ok(typeof kept.outcome === 'object' && 'repeated' in kept.outcome);
    const { outcome } = await addedAgain('over', DAY_S + 1);
    assert.ok(typeof outcome === 'object' && 'id' in outcome);
  });

  test('keys whose time is over go, a few with each key that comes, and no other [I2]', async () => {
    await using store = await openWithOld(...Array.from({ length: 20 }, (_, key) => `old ${key}`));
    await store.add(MILK, once('new 0'));
    assert.ok((await countKeys()) > 1, 'all at once');
    let added = 1;
    for (; added < 100 && (await countKeys()) > added; added += 1)
      await store.add(MILK, once(`new ${added}`));
    assert.equal(await countKeys(), added);
    assert.equal((await listed(store)).length, 20 + added);
  });

  test('a create without a key sweeps nothing [I2]', async () => {
    await using store = await openWithOld('a');
    await addedTo(store, 'bread');
    assert.equal(await countKeys(), 1);
  });

  test('of sixteen creates with one key at once, with whatever instance, one makes the todo [I3]', async () => {
    await using both = await openBoth(engine);
    const { first, storeOf } = both;
    for (let round = 0; round < 20; round += 1) {
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, (_, client) => storeOf(client).add(MILK, once(`round ${round}`))),
      );
      const made = outcomes.filter((outcome) => typeof outcome === 'object' && 'id' in outcome);
      assert.equal(made.length, 1);
      for (const outcome of outcomes)
        if (outcome !== made[0]) assert.deepEqual(outcome, { repeated: made[0] });
    }
    assert.equal((await listed(first)).length, 20);
  });

  test('of two bodies for one key at once, one is made and the other refused [I4]', async () => {
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

  test('a refused create leaves the keys of those alone that arrive with it [I6]', async () => {
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

/** A write, and what one of its statements does: it fails. Todo 1 is there. */
const failing: readonly [
  what: string,
  change: Parameters<Engine['refuse']>[0],
  when: string,
  write: (store: TodoStore) => Promise<unknown>,
][] = [
  [
    'a create: its key',
    'INSERT ON idempotency_keys',
    "NEW.key = 'refused'",
    (store) => store.add(MILK, once('refused')),
  ],
  [
    'a create with a key: its todo',
    'INSERT ON todos',
    "NEW.title = 'refused'",
    (store) => store.add(newTodo('refused', 1), once('refused')),
  ],
  ['a create', 'INSERT ON todos', "NEW.title = 'refused'", (store) => store.add(newTodo('refused', 1))],
  [
    'a replace',
    'UPDATE ON todos',
    "NEW.title = 'refused'",
    (store) => store.replace(1, replacement('refused', true, 2)),
  ],
  ['a removal', 'DELETE ON todos', 'OLD.id = 1', (store) => store.remove(1)],
];

/** Each write is made whole, or leaves nothing (contract D9; I1). */
function describeFailingStatements({ open, execute, refuse, admit, countKeys }: Engine): void {
  for (const [what, change, when, write] of failing) {
    test(`a statement of ${what} fails: nothing of the write is stored, alone or beside others, which are [D9; I1; I6]`, async () => {
      await using store = await open();
      const first = await addedTo(store, 'first', 1, once('first'));
      await execute(refuse(change, when));

      await assert.rejects(write(store), /refused/);
      assert.equal(await listText(store), `[${first.json}]`);
      assert.equal(await countKeys(), 1);

      const [before, refused, after, changed] = await Promise.allSettled([
        store.add(MILK, once('before')),
        write(store),
        store.add(newTodo('bread', 1), once('after', 'bread')),
        store.replace(1, replacement('changed', true, 1)),
      ]);
      assert.equal(refused.status, 'rejected');
      assert.deepEqual(changed, { status: 'fulfilled', value: 'replaced' });
      const stored = [before, after].map((made) => made.status === 'fulfilled' && made.value);
      const [oldest, ...added] = (await listed(store)).map(({ title }) => title);
      // Which of two creates at once is first, is the engine's choice.
      assert.deepEqual([oldest, ...added.sort()], ['changed', 'bread', 'milk']);
      assert.equal(await countKeys(), 3);
      assert.deepEqual(
        [await store.add(MILK, once('before')), await store.add(newTodo('bread', 1), once('after', 'bread'))],
        stored.map((repeated) => ({ repeated })),
      );

      await execute(admit(change.split(' ON ')[1] ?? ''));
      await assert.doesNotReject(write(store));
    });
  }
}

function kindOf(outcome: unknown): unknown {
  return typeof outcome === 'object' ? 'object' : outcome;
}

function again(store: TodoStore, keys: readonly string[]) {
  return Promise.all(keys.map((key) => store.add(MILK, once(key))));
}

/** What many clients see who work at once, each with any of the instances that the engine allows. */
function describeWorkingTogether(engine: Engine): void {
  test('sixteen clients that count in one title with If-Match lose no count', async () => {
    await using both = await openBoth(engine);
    const { first, storeOf } = both;
    await addedTo(first, '0');
    const counts = await Promise.all(Array.from({ length: 16 }, (_, client) => countTo(10, storeOf(client))));
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      160,
    );
    assert.equal((await found(first, 1))?.title, '160');
  });

  test('whatever is done at once to one todo, it has an order', async () => {
    await using both = await openBoth(engine);
    const { first, storeOf } = both;
    for (let round = 0; round < 40; round += 1) {
      const { id, json } = await addedTo(first, `todo ${round}`);
      const history: Operation[] = [];
      const clients = Array.from({ length: 6 }, (_, client) =>
        workOn(storeOf(client), { id, json, client, history }),
      );
      await Promise.all(clients);
      assert.ok(isLinearizable(history, { json }), `round ${round}`);
    }
  });

  test('of sixteen removals at once, with whatever instance, one removes', async () => {
    await using both = await openBoth(engine);
    const { first, storeOf } = both;
    for (let round = 0; round < 20; round += 1) {
      const { id } = await addedTo(first, 'a');
      const outcomes = await Promise.all(
        Array.from({ length: 16 }, (_, client) => storeOf(client).remove(id)),
      );
      assert.equal(outcomes.filter((outcome) => outcome === 'removed').length, 1);
    }
  });
}

/** Adds one to the number in the title of todo 1, again and again, and counts the writes that were made. */
async function countTo(limit: number, store: TodoStore): Promise<number> {
  let made = 0;
  while (made < limit) {
    const read = await store.find(1);
    assert.ok(read !== undefined);
    const { title }: Todo = JSON.parse(read.json);
    const next = replacement(String(Number(title) + 1), false, 1);
    if ((await store.replace(1, next, { ifMatch: [read.etag] })) === 'replaced') made += 1;
  }
  return made;
}

interface Work {
  readonly id: number;
  /** The todo before anybody began. */
  readonly json: string;
  readonly client: number;
  readonly history: Operation[];
}

let events = 0;

/** A few operations one after the other, each written down with what it must have met. */
async function workOn(store: TodoStore, { id, json, client, history }: Work): Promise<void> {
  for (let step = 0; step < 3; step += 1) {
    if (Math.random() < 0.5) await sleep(Math.random() * 2);
    events += 1;
    const from = events;
    const apply = await operate(store, id, json, `client ${client} step ${step}`);
    events += 1;
    history.push({ from, until: events, apply });
  }
}

async function operate(
  store: TodoStore,
  id: number,
  first: string,
  title: string,
): Promise<Operation['apply']> {
  const dice = Math.random();
  if (dice < 0.35) {
    const seen = (await store.find(id))?.json;
    return (state) => (state?.json === seen ? state : 'impossible');
  }
  if (dice < 0.5) {
    const todos: Todo[] = JSON.parse(await listText(store));
    const todo = todos.find((each) => each.id === id);
    const seen = todo === undefined ? undefined : JSON.stringify(todo);
    return (state) => (state?.json === seen ? state : 'impossible');
  }
  if (dice < 0.6) {
    const outcome = await store.remove(id);
    return (state) => ((state === undefined) === (outcome === 'todo-missing') ? undefined : 'impossible');
  }
  const json = JSON.stringify(todo(id, title, true, 2));
  const etag = entityTag(first);
  const conditional = dice < 0.75;
  const outcome = await store.replace(
    id,
    replacement(title, true, 2),
    conditional ? { ifMatch: [etag] } : {},
  );
  return (state) => {
    if (state === undefined) return outcome === 'todo-missing' ? state : 'impossible';
    if (conditional && state.json !== first) return outcome === 'precondition-failed' ? state : 'impossible';
    return outcome === 'replaced' ? { json } : 'impossible';
  };
}
