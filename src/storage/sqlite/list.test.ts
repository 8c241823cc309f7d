import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { execute, fill, newDatabase } from '../../../test/storage/new-files.ts';
import { buffersOf } from '../../lib/answer-body.ts';
import type { ListVersion } from '../list/version.ts';
import { knownFile } from './file.ts';
import { DatabaseHealth } from './health.ts';
import { SqliteList } from './list.ts';

/** The list of a file with so many todos, and what a batch may change now. */
async function listOf(todos: number) {
  await using parts = new AsyncDisposableStack();
  const path = await newDatabase();
  if (todos > 0) fill(path, todos);
  const database = parts.use(new DatabaseSync(path));
  database.exec('SELECT 1 FROM sqlite_schema');
  const health = parts.use(new DatabaseHealth(knownFile(path, path), database, () => {}));
  const underWay = { ids: new Set<number>(), adds: false };
  const list = parts.use(new SqliteList(health, underWay));
  const opened = parts.move();
  return { path, list, underWay, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function titlesOf(version: ListVersion | Promise<ListVersion>): Promise<readonly string[]> {
  const { body } = await (await version).select();
  const todos: readonly { readonly title: string }[] = JSON.parse(String(Buffer.concat(buffersOf(body))));
  return todos.map(({ title }) => title);
}

const change = (path: string, id: number) => execute(path, `UPDATE todos SET title = 'new' WHERE id = ${id}`);

test('the list is read once, until a todo is changed', async () => {
  await using parts = await listOf(2);
  const { list, path } = parts;
  assert.equal(list.bytes, 0);
  assert.deepEqual(await titlesOf(list.current()), ['Todo 1', 'Todo 2']);
  assert.ok(list.bytes > 0);
  change(path, 1);
  assert.deepEqual(await titlesOf(list.current()), ['Todo 1', 'Todo 2']);
  list.forget([1]);
  assert.deepEqual(await titlesOf(list.current()), ['new', 'Todo 2']);
});

test('only the chunks of changed todos and the last one are read again, or every one', async () => {
  await using parts = await listOf(900);
  const { list, path } = parts;
  await list.current();
  for (const id of [1, 300, 600, 900]) change(path, id);
  const changed = async () => {
    const titles = await titlesOf(list.current());
    return [1, 300, 600, 900].filter((id) => titles[id - 1] === 'new');
  };
  list.forget([300]);
  assert.deepEqual(await changed(), [300, 900]);
  list.forget('all');
  list.forget([300]);
  assert.deepEqual(await changed(), [1, 300, 600, 900]);
});

test('chunks that have lost their todos are gone', async () => {
  await using parts = await listOf(900);
  const { list, path } = parts;
  await list.current();
  for (const [sql, changed, left] of [
    ['DELETE FROM todos WHERE id BETWEEN 256 AND 511', [300], 644],
    ['DELETE FROM todos WHERE id > 200', 'all', 200],
    ['DELETE FROM todos', [1], 0],
  ] as const) {
    execute(path, sql);
    list.forget(changed);
    assert.equal((await titlesOf(list.current())).length, left);
  }
});

test('a list that is known is there at once', async () => {
  await using parts = await listOf(1);
  const { list } = parts;
  const version = await list.current();
  assert.equal(list.current(), version);
});

test('while a batch is under way, what it may change is read', async () => {
  await using parts = await listOf(600);
  const { list, path, underWay } = parts;
  await list.current();
  change(path, 1);
  underWay.ids.add(1);
  assert.equal((await titlesOf(list.current()))[0], 'new');
  underWay.ids.clear();
  underWay.adds = true;
  fill(path, 1);
  assert.equal((await titlesOf(list.current())).length, 601);
});

for (const changed of [[1], 'all'] as const) {
  test(`a change of ${changed === 'all' ? 'all todos' : 'a todo'} that comes while the list is read is in the next list`, async () => {
    await using parts = await listOf(1);
    const { list, path } = parts;
    await list.current();
    list.forget([1]);
    const reading = list.current();
    // The flight begins by sending the order; the change comes behind it.
    list.forget(changed);
    await reading;
    change(path, 1);
    assert.deepEqual(await titlesOf(list.current()), ['new']);
  });
}

test('all who ask while the list is read get one list of what was written before they asked', async () => {
  await using parts = await listOf(1);
  const { list } = parts;
  const [first, second, third] = await Promise.all([list.current(), list.current(), list.current()]);
  assert.equal(first, second);
  assert.equal(second, third);
});

test('a list that could not be read is read again by a check, until it can be, with what has changed', async () => {
  await using parts = await listOf(600);
  const { list, path } = parts;
  await list.check();
  assert.equal(list.bytes, 0);
  await list.current();
  change(path, 1);
  list.forget([1]);
  execute(path, 'ALTER TABLE todos RENAME TO lost');
  await assert.rejects(async () => list.current(), { name: 'StoreBroken' });
  await assert.rejects(list.check(), { name: 'StoreBroken' });
  execute(path, 'ALTER TABLE lost RENAME TO todos');
  await list.check();
  assert.equal((await titlesOf(list.current()))[0], 'new');
});
