import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Event, Tell } from '../../src/events.ts';
import { knownFile } from '../../src/store/sqlite/file.ts';
import { FileHealth } from '../../src/store/sqlite/health.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { temporaryFolder } from '../folder.ts';
import { todo } from '../todo.ts';
import { serveFile } from './served-file.ts';
import { addedTo, found, listed, newTodo } from './todos.ts';

const COPY = 'copy.db';

/** What is done to the files of a database, and what the log says of it. */
const losses: readonly (readonly [name: string, lose: (path: string) => void, reason: string])[] = [
  ['is deleted', (path) => rmSync(path), '"todos.db" was deleted or moved away'],
  ['is deleted with its log', deleteAll, '"todos.db" was deleted or moved away'],
  ['is replaced', (path) => replace(path, path), '"todos.db" was replaced by another file'],
  ['loses its log', (path) => rmSync(`${path}-wal`), '"todos.db-wal" was deleted or moved away'],
  [
    'has its log replaced',
    (path) => replace(`${path}-wal`, path),
    '"todos.db-wal" was replaced by another file',
  ],
  ['loses its lock', (path) => rmSync(`${path}-owner`), '"todos.db-owner" was deleted or moved away'],
  [
    'has its lock replaced',
    (path) => replace(`${path}-owner`, path),
    '"todos.db-owner" was replaced by another file',
  ],
  [
    'loses its folder',
    (path) => rmSync(dirname(path), { recursive: true }),
    '"todos.db" was deleted or moved away',
  ],
];

function deleteAll(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-owner']) rmSync(path + suffix);
}

/** What is told of the file after it was made. */
function newsOfFile() {
  const news: Event[] = [];
  const tell: Tell = (event) => event.event.startsWith('database-') && news.push(event);
  return { news, tell };
}

/** Puts a copy of another file in the place of this one. */
function replace(path: string, other: string): void {
  const copy = join(dirname(path), COPY);
  copyFileSync(other, copy);
  renameSync(copy, path);
}

for (const [name, lose, reason] of losses) {
  test(`D11 · a file that ${name} is noticed before a write is acknowledged, and nothing is answered from it any more`, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'data', 'todos.db');
    const { news, tell } = newsOfFile();
    await using store = await openSqliteStore(path, { tell });
    await addedTo(store, 'kept');
    lose(path);
    await assert.rejects(store.add(newTodo('never acknowledged', 1)), {
      name: 'OutcomeUnknown',
      message: reason,
    });
    await assert.rejects(store.remove(1), { name: 'StoreBroken', message: reason });
    assert.throws(() => store.find(1), { name: 'StoreBroken', message: reason });
    assert.throws(() => store.list(), { name: 'StoreBroken', message: reason });
    await assert.rejects(store.check(), { name: 'StoreBroken', message: reason });
    assert.deepEqual(news, [{ event: 'database-gone', reason, path }]);
  });
}

test('D11 · a deleted file is noticed while nobody writes', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const noticed = Promise.withResolvers<unknown>();
  await using store = await openSqliteStore(path, {
    tell: (event) => event.event === 'database-gone' && noticed.resolve(event),
  });
  rmSync(path);
  // The clock that looks keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  assert.deepEqual(await noticed.promise, {
    event: 'database-gone',
    reason: '"todos.db" was deleted or moved away',
    path,
  });
  clearInterval(alive);
  assert.throws(() => store.find(1), { name: 'StoreBroken' });
});

test('D11 · a fault of the file is told once, however often somebody meets it', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using _ = await openSqliteStore(path);
  const { news, tell } = newsOfFile();
  await using health = new FileHealth(knownFile(path, path), path, tell);
  for (const message of ['first', 'second']) health.note({ failure: 'broken', trouble: 'gone', message });
  assert.deepEqual(news, [{ event: 'database-gone', reason: 'first', path }]);
  assert.equal(health.fault?.message, 'first');
});

test('D11 · a link that leads to another file now counts as a replaced file', async () => {
  await using folder = await temporaryFolder();
  for (const name of ['one', 'two']) {
    await (await openSqliteStore(join(folder.path, name, 'todos.db')))[Symbol.asyncDispose]();
  }
  const link = join(folder.path, 'current');
  symlinkSync('one', link);
  await using store = await openSqliteStore(join(link, 'todos.db'));
  await addedTo(store, 'a');
  rmSync(link);
  symlinkSync('two', link);
  await assert.rejects(store.add(newTodo('b', 1)), {
    name: 'OutcomeUnknown',
    message: '"todos.db" was replaced by another file',
  });
});

test('a thread that starts after the file is gone makes no new one', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using store = await openSqliteStore(path);
  deleteAll(path);
  await assert.rejects(store.add(newTodo('a', 1)), { name: /^(StoreUnavailable|StoreBroken)$/ });
  assert.throws(() => rmSync(path), { code: 'ENOENT' });
});

test('a thread that starts after the file was replaced reads nothing of the other file', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const other = join(folder.path, 'other.db');
  {
    await using store = await openSqliteStore(other);
    await addedTo(store, 'of another list');
  }
  await using store = await openSqliteStore(path);
  replace(path, other);
  await assert.rejects(async () => store.list(), { name: /^(StoreUnavailable|StoreBroken)$/ });
});

test('a file that is deleted when the store is closed is no news', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const { news, tell } = newsOfFile();
  await (await openSqliteStore(path, { tell }))[Symbol.asyncDispose]();
  rmSync(path);
  await pause(1_500);
  assert.deepEqual(news, []);
});

test('D11 · the service answers 503 without Retry-After, is not ready, has one line in its log, and serves again after a restart', async () => {
  await using folder = await temporaryFolder();
  {
    await using served = await serveFile(folder.path);
    assert.equal(await served.add('lost'), 201);
    assert.equal((await served.ready()).status, 200);
    rmSync(served.path);
    const unknown = await served.ask('POST', '/todos', { title: 'unknown', categoryId: 1 });
    assert.equal(unknown.status, 503);
    assert.equal(unknown.headers.get('retry-after'), null);
    for (const [method, path] of [
      ['POST', '/todos'],
      ['DELETE', '/todos/1'],
      ['GET', '/todos'],
      ['GET', '/todos/1'],
    ] as const) {
      const body = method === 'POST' ? { title: 'refused', categoryId: 1 } : undefined;
      const reply = await served.ask(method, path, body);
      assert.equal(reply.status, 503, `${method} ${path}`);
      assert.equal(reply.headers.get('retry-after'), null);
      assert.equal(reply.headers.get('content-type'), 'application/problem+json');
    }
    const { status, detail } = await served.ready();
    assert.equal(status, 503);
    assert.equal(detail, 'The database does not answer as it should: "todos.db" was deleted or moved away.');
    assert.deepEqual(
      served
        .log('database-gone', 'store-unavailable', 'crash')
        .map(({ level, event, path, reason, msg }) => ({ level, event, path, reason, msg })),
      [
        {
          level: 'error',
          event: 'database-gone',
          path: served.path,
          reason: '"todos.db" was deleted or moved away',
          msg: 'the database file was deleted, moved or replaced. Put it back with the files beside it, or restore a backup, and restart',
        },
      ],
    );
    assert.equal(await served.service.stop(), 0);
  }
  await using again = await serveFile(folder.path);
  assert.equal(await again.add('first'), 201);
  // The log of the deleted file was not read into the new one, and was not thrown away.
  const list = await (await again.ask('GET', '/todos')).text();
  assert.equal(list, JSON.stringify([todo(1, 'first')]));
  assert.match(String((await again.logged('log-moved')).path), /todos\.db-wal\.\d+$/);
});

test('a file that was moved away and put back while the service stood still has every acknowledged write', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const aside = join(folder.path, 'aside');
  mkdirSync(aside);
  {
    await using store = await openSqliteStore(path);
    await addedTo(store, 'kept');
    renameSync(path, join(aside, 'todos.db'));
    await assert.rejects(store.add(newTodo('unknown', 1)), { name: 'OutcomeUnknown' });
  }
  renameSync(join(aside, 'todos.db'), path);
  await using store = await openSqliteStore(path);
  assert.equal((await found(store, 1))?.title, 'kept');
  assert.ok((await listed(store)).length >= 1);
});
