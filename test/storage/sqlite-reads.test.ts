import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { buffersOf } from '../../src/lib/answer-body.ts';
import { StoreUnavailable, type TodoStore } from '../../src/shared-list/store.ts';
import { knownFile } from '../../src/storage/sqlite/file.ts';
import { DatabaseHealth } from '../../src/storage/sqlite/health.ts';
import { SqliteList } from '../../src/storage/sqlite/list.ts';
import { cases } from '../support/cases.ts';
import { execute, fill, newDatabase, newPath } from './new-files.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { addedTo, bytesOf, found, listed, listText, newTodo, replacement } from './todos.ts';

/** One or more writes that are asked for together, then a look at every todo. */
type Step = (store: TodoStore) => Promise<unknown>;

const id = fc.integer({ min: -1, max: 12 });
const category = fc.integer({ min: 1, max: 3 });
const title = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
/** The tag that the todo has when the write is asked for, or one that it never has. */
const tagged = fc.boolean();

const write: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(title, category).map(
    ([text, of]) =>
      (store: TodoStore) =>
        store.add(newTodo(text, of)),
  ),
  fc.tuple(id, title, fc.boolean(), category).map(
    ([which, text, done, of]) =>
      (store: TodoStore) =>
        store.replace(which, replacement(text, done, of)),
  ),
  fc.tuple(id, title, tagged).map(([which, text, current]) => async (store: TodoStore) => {
    const etag = current ? (await store.find(which))?.etag : undefined;
    return store.replace(which, replacement(text, true, 1), { ifMatch: [etag ?? '"other"'] });
  }),
  id.map((which) => (store: TodoStore) => store.remove(which)),
);

/** What a store answers to writes that are asked for together, and then to reads of each todo and of all. */
async function answersOf(store: TodoStore, steps: readonly (readonly Step[])[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const together of steps) {
    answers.push(await Promise.all(together.map((step) => step(store))));
    for (let which = -1; which <= 14; which += 1) {
      answers.push(await store.find(which));
    }
    answers.push(await listText(store));
  }
  return answers;
}

for (const [name, cacheBytes] of [
  ['a cache', 2 ** 20],
  ['a cache that is always too small', 1_500],
] as const) {
  test(`with ${name} and without, generated operations have the same answers`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(write, { maxLength: 5 }), { maxLength: 6 }), async (steps) => {
        await using plain = await openSqliteStore(newPath(), { cacheBytes: 0 });
        await using cached = await openSqliteStore(newPath(), { cacheBytes });
        assert.deepEqual(await answersOf(cached, steps), await answersOf(plain, steps));
      }),
      { numRuns: cases(8, 40) },
    );
  });
}

test('ids without a todo take no room in the cache: nobody pushes todos out by asking for them', async () => {
  await using store = await openSqliteStore(newPath());
  await addedTo(store, 'a');
  assert.equal(titleOf(store, 1), 'a');
  const { cache } = store.sizes();
  assert.ok(cache !== undefined && cache > 0);
  for (let missing = 2; missing < 1_000; missing += 1) assert.equal(titleOf(store, missing), undefined);
  assert.equal(store.sizes().cache, cache);
});

test('who asks for a todo before it is added finds it from its commit on', async () => {
  const path = newPath();
  await using store = await openSqliteStore(path);
  await addedTo(store, 'a');
  using other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const adding = addedTo(store, 'b');
  await setImmediate();
  assert.equal(titleOf(store, 2), undefined);
  other.exec('ROLLBACK');
  const committed = other.prepare('SELECT 1 FROM todos WHERE id = 2');
  block(() => committed.get() !== undefined);
  assert.equal(titleOf(store, 2), 'b');
  await adding;
  assert.equal(titleOf(store, 2), 'b');
});

test('who sees one change of a batch that is under way sees them all', async () => {
  await using store = await openSqliteStore(newPath());
  for (const each of ['a', 'b']) await addedTo(store, each);
  // The first is kept, the second is not.
  await store.find(1);
  const writes = [1, 2].map((each) => store.replace(each, replacement('new', false, 1)));
  await setImmediate();
  block(() => titleOf(store, 2) === 'new');
  assert.deepEqual([titleOf(store, 2), titleOf(store, 1)], ['new', 'new']);
  await Promise.all(writes);
});

const CLOCK = new Int32Array(new SharedArrayBuffer(4));

/** While this thread waits, a batch is committed and nobody hears of it. */
function block(isOver: () => boolean): void {
  const deadline = performance.now() + 600_000;
  while (!isOver() && performance.now() < deadline) Atomics.wait(CLOCK, 0, 0, 1);
}

/** Now, without a turn of the event loop. */
function titleOf(store: TodoStore, which: number): unknown {
  const todo = store.find(which);
  return todo === undefined || todo instanceof Promise ? todo : JSON.parse(todo.json).title;
}

test('what the sqlite3 shell changes, adds and removes is seen', { timeout: 600_000 }, async () => {
  const path = newPath();
  await using store = await openSqliteStore(path);
  for (const each of ['a', 'b']) await addedTo(store, each);
  for (const each of [1, 2, 3]) await store.find(each);
  execute(
    path,
    `BEGIN; UPDATE todos SET title = 'changed' WHERE id = 1; DELETE FROM todos WHERE id = 2;
      INSERT INTO todos (title, category_id) VALUES ('added', 1); COMMIT`,
  );
  while ((await found(store, 1))?.title === 'a') await sleep(1);
  assert.equal((await found(store, 1))?.title, 'changed');
  assert.equal(await found(store, 2), undefined);
  assert.equal((await found(store, 3))?.title, 'added');
});

test('a change behind the store’s back fails the precondition of who has not seen it, who then sees it', async () => {
  const path = newPath();
  await using store = await openSqliteStore(path);
  const { etag } = await addedTo(store, 'a');
  await store.find(1);
  execute(path, "UPDATE todos SET title = 'changed'");
  assert.equal(
    await store.replace(1, replacement('b', false, 1), { ifMatch: [etag] }),
    'precondition-failed',
  );
  assert.equal((await found(store, 1))?.title, 'changed');
});

test('a change that another program makes right after the start is seen', { timeout: 600_000 }, async () => {
  const path = newPath();
  {
    await using store = await openSqliteStore(path);
    await addedTo(store, 'a');
  }
  await using store = await openSqliteStore(path);
  assert.equal((await found(store, 1))?.title, 'a');
  execute(path, "UPDATE todos SET title = 'changed'");
  while ((await found(store, 1))?.title === 'a') await sleep(1);
  assert.equal((await found(store, 1))?.title, 'changed');
});

test('fifty versions of a list of 1.4 MB, a change between each, hold less than 10 MB together, and in gzip, each one member, 2 MB', async () => {
  const path = await newDatabase();
  fill(path, 20_000, 'hex(randomblob(13))');
  await using store = await openSqliteStore(path);
  const [held, heldInGzip] = [new Set<ArrayBufferLike>(), new Set<ArrayBufferLike>()];
  const tags = new Set<string>();
  for (let version = 1; version <= 50; version += 1) {
    await store.replace(version * 397, replacement(`version ${version}`, true, 2));
    const plain = await store.list('gzip');
    const list = await store.list('gzip');
    assert.deepEqual([plain.coding, list.coding], ['identity', 'gzip']);
    assert.ok(bytesOf(plain).length > 1_400_000);
    assert.deepEqual(gunzipSync(bytesOf(list)), bytesOf(plain));
    for (const { buffer } of buffersOf(plain.body)) held.add(buffer);
    for (const { buffer } of buffersOf(list.body)) heldInGzip.add(buffer);
    tags.add(plain.etag);
  }
  assert.equal(tags.size, 50);
  const [bytes = 0, bytesInGzip = 0] = [held, heldInGzip].map((buffers) =>
    [...buffers].reduce((sum, { byteLength }) => sum + byteLength, 0),
  );
  assert.ok(bytes < 10 * 2 ** 20, `${bytes} bytes`);
  assert.ok(bytesInGzip < 2 * 2 ** 20, `${bytesInGzip} bytes`);
});

test('writes that were refused and changed nothing keep the list at hand', async () => {
  await using store = await openSqliteStore(newPath());
  await addedTo(store, 'a');
  const list = await store.list();
  assert.equal(await store.replace(7, replacement('b', true, 1)), 'todo-missing');
  assert.equal(await store.replace(1, replacement('b', true, 7)), 'category-missing');
  assert.equal(await store.remove(1, { ifMatch: ['"other"'] }), 'precondition-failed');
  assert.equal(await store.add(newTodo('b', 7)), 'category-missing');
  assert.equal(store.list(), list);
  assert.equal(await store.replace(1, replacement('b', true, 1)), 'replaced');
  assert.notEqual(store.list(), list);
});

test('a batch that could not be committed keeps the list at hand', async () => {
  const path = newPath();
  await using store = await openSqliteStore(path);
  await addedTo(store, 'a');
  const list = await store.list();
  using other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  await assert.rejects(store.remove(1), StoreUnavailable);
  assert.equal(store.list(), list);
});

test('who sees a change of a batch that is under way sees it in the list too', async () => {
  const path = await newDatabase();
  // What is at the end is always read.
  fill(path, 300);
  await using store = await openSqliteStore(path, { cacheBytes: 0 });
  for (const [id, write] of [
    [1, () => store.replace(1, replacement('new', false, 1))],
    [301, () => store.add(newTodo('new', 1))],
  ] as const) {
    await store.list();
    const writing = write();
    await setImmediate();
    block(() => titleOf(store, id) === 'new');
    const list = store.list();
    assert.equal(JSON.parse(String(bytesOf(await list)))[id - 1].title, 'new');
    await writing;
  }
});

test('what another program changes while the list is read is asked for again', async () => {
  const path = newPath();
  await using store = await openSqliteStore(path);
  await addedTo(store, 'a');
  using reader = new DatabaseSync(path);
  using health = new DatabaseHealth(knownFile(path, path), reader, () => {});
  await using list = new SqliteList(health, { ids: new Set(), adds: false });
  await list.current();
  list.forget('all');
  const reading = list.current();
  await setImmediate();
  list.forget('all');
  const version = await reading;
  assert.ok(list.current() instanceof Promise);
  assert.equal(await list.current(), version);
});

test('a todo that is removed while the list is read is not in the next list', {
  timeout: 600_000,
}, async () => {
  const path = await newDatabase();
  fill(path, 50_000);
  await using store = await openSqliteStore(path);
  await store.remove(1);
  await store.list();
  using other = new DatabaseSync(path);
  other.exec('UPDATE todos SET done = 1 WHERE id = 50000');
  let reading = store.list();
  while (!(reading instanceof Promise)) {
    await sleep(1);
    reading = store.list();
  }
  await store.remove(2);
  await reading;
  assert.equal((await listed(store))[0]?.id, 3);
});
