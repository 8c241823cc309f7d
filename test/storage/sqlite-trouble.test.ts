import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { mock, test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Step } from '../../src/events.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { temporaryFolder } from '../folder.ts';
import { todo } from '../todo.ts';
import { addedTo, found, listed, newTodo, replacement } from './todos.ts';

test('D9 · while another program holds the write lock, reads go on, writes are refused, and then all is well', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using store = await openSqliteStore(path, { cacheBytes: 0 });
  await addedTo(store, 'a');
  using other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const writes = [store.add(newTodo('b', 1)), store.replace(1, replacement('c', true, 1)), store.remove(1)];
  const refused = Promise.all(writes.map((write) => assert.rejects(write, { name: 'StoreUnavailable' })));
  assert.equal((await found(store, 1))?.title, 'a');
  assert.equal((await listed(store)).length, 1);
  await refused;
  other.exec('ROLLBACK');
  assert.deepEqual(await listed(store), [todo(1, 'a')]);
  assert.equal(await store.remove(1), 'removed');
});

test('a lock that is gone in time is waited for', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using store = await openSqliteStore(path);
  using other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const write = addedTo(store, 'a');
  setImmediate(() => other.exec('ROLLBACK'));
  assert.equal((await write).id, 1);
});

test('D9 · a file that may not grow refuses a batch whole, goes on reading, and takes what fits', async () => {
  await using folder = await temporaryFolder();
  const script = new URL('./full-disk-process.ts', import.meta.url).pathname;
  // 1024 or 512 KiB, as the shell counts; the process that starts there never sees the signal.
  const limited = `ulimit -f 1024 && exec "$0" "$@"`;
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, script, folder.path]);
  assert.deepEqual(JSON.parse(stdout), {
    before: ['a'],
    refused: { StoreUnavailable: 20_000 },
    during: ['a'],
    after: ['a', 'b'],
  });
});

test('a batch is marked with its writes; one that only asks whether the disk takes writes is not', async () => {
  await using folder = await temporaryFolder();
  const marked: Step[] = [];
  await using store = await openSqliteStore(join(folder.path, 'todos.db'));
  const add = () => store.add(newTodo('a', 1), undefined, (step) => marked.push(step));
  await store.check();
  await Promise.all([add(), add()]);
  await add();
  const [first, second, third] = marked.map((step) => step.name === 'commit' && step.writes);
  assert.deepEqual([first, second, third, marked.length], [2, 2, 1, 3]);
  assert.equal(marked[0], marked[1]);
});

test('a file that may not be written is refused in one line', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  allowReadingAlone(path);
  await assert.rejects(openSqliteStore(path), {
    name: 'StoreNotOpened',
    reason: 'unusable',
    message: `Cannot open the database "${path}": attempt to write a readonly database`,
  });
});

/**
 * Writes a file format version to the header that no library knows how to write, which holds for root as
 * well: https://www.sqlite.org/fileformat.html §1.3.3
 */
function allowReadingAlone(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.from([3]), 0, 1, 18);
  closeSync(file);
}

test('D9 · a write whose thread ends is of unknown outcome, a list is tried again, and both go on with a new thread', async () => {
  await using folder = await temporaryFolder();
  await using store = await openSqliteStore(join(folder.path, 'todos.db'));
  const uses = [
    [() => store.add(newTodo('a', 1)), 'OutcomeUnknown'],
    [async () => store.list(), 'StoreUnavailable'],
  ] as const;
  for (const [use, name] of uses) {
    await use();
    // A change, so that the list has something to read.
    await store.add(newTodo('b', 1));
    const sent = mock.method(Worker.prototype, 'postMessage', endBefore, { times: 1 });
    await assert.rejects(use(), { name });
    sent.mock.restore();
    await use();
  }
});

const { postMessage } = Worker.prototype;

/** The thread ends, and has an order. Who sent it cannot know how far it came. */
function endBefore(this: Worker, order: unknown): void {
  void this.terminate();
  postMessage.call(this, order);
}
