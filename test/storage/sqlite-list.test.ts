import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { piecesOf } from '../../src/http/message/answer.ts';
import { knownFile } from '../../src/store/sqlite/file.ts';
import { FileHealth } from '../../src/store/sqlite/health.ts';
import { SqliteList } from '../../src/store/sqlite/list.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { StoreUnavailable, type TodoStore } from '../../src/store/store.ts';
import { fill, newDatabase, newPath } from './new-files.ts';
import { addedTo, bytesOf, listed, newTodo, replacement } from './todos.ts';

test('fifty versions of a list of 1.4 MB, a change between each, hold less than 10 MB together, and in gzip, each one member, 2 MB', async () => {
  const path = await newDatabase();
  fill(path, 20_000, 'hex(randomblob(13))');
  await using store = await openSqliteStore(path);
  const [held, heldInGzip] = [new Set<ArrayBufferLike>(), new Set<ArrayBufferLike>()];
  const tags = new Set<string>();
  for (let version = 1; version <= 50; version += 1) {
    await store.replace(version * 397, replacement(`version ${version}`, true, 2));
    const plain = await store.list({ gzip: true });
    const list = await store.list({ gzip: true });
    assert.deepEqual([plain.coding, list.coding], ['identity', 'gzip']);
    assert.ok(bytesOf(plain).length > 1_400_000);
    assert.deepEqual(gunzipSync(bytesOf(list)), bytesOf(plain));
    for (const { buffer } of piecesOf(plain.body)) held.add(buffer);
    for (const { buffer } of piecesOf(list.body)) heldInGzip.add(buffer);
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
  await store.list();
  const writing = store.replace(1, replacement('new', false, 1));
  await setImmediate();
  // While this thread waits, the batch is committed and nobody hears of it.
  const deadline = performance.now() + 10_000;
  while (!isNew(store.find(1)) && performance.now() < deadline) Atomics.wait(CLOCK, 0, 0, 1);
  const list = store.list();
  assert.equal(JSON.parse(String(bytesOf(await list)))[0].title, 'new');
  await writing;
});

const CLOCK = new Int32Array(new SharedArrayBuffer(4));

function isNew(todo: ReturnType<TodoStore['find']>): boolean {
  return todo !== undefined && !(todo instanceof Promise) && todo.json.includes('"new"');
}

test('what another program changes while the list is read is asked for again', async () => {
  const path = newPath();
  await using store = await openSqliteStore(path);
  await addedTo(store, 'a');
  const file = knownFile(path, path);
  await using health = new FileHealth(file, path, () => {});
  await using list = new SqliteList(file, health);
  await list.current();
  list.invalidate();
  const reading = list.current();
  await setImmediate();
  list.invalidate();
  const version = await reading;
  assert.ok(list.current() instanceof Promise);
  assert.equal(await list.current(), version);
});

test('a todo that is removed while the list is read is not in the next list', {
  timeout: 20_000,
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
    await pause(1);
    reading = store.list();
  }
  await store.remove(2);
  await reading;
  assert.equal((await listed(store))[0]?.id, 3);
});
