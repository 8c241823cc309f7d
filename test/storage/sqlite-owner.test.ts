import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { temporaryFolder } from './folder.ts';
import { addedTo, listed, newTodo } from './todos.ts';

const SCRIPT = new URL('./sqlite-process.ts', import.meta.url).pathname;

interface Starter extends AsyncDisposable {
  readonly process: ChildProcess;
  /** What the process says: `open`, or why it does not serve. */
  readonly said: Promise<{ readonly outcome: string; readonly message?: string }>;
}

/** A process that tries to serve the file at `path`, waiting `patienceMs`; killed when disposed. */
function start(path: string, patienceMs: number): Starter {
  const child = spawn(process.execPath, [SCRIPT, path, String(patienceMs)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  return {
    process: child,
    said: once(child.stdout, 'data').then(([line]) => JSON.parse(String(line))),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

test('D6 · a second process gives up after its patience and names the first', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using first = start(path, 0);
  assert.equal((await first.said).outcome, 'open');
  await assert.rejects(openSqliteStore(path, { patienceMs: 100 }), {
    name: 'StoreNotOpened',
    reason: 'owned',
    message: new RegExp(
      `^Cannot open the database ".*": it is served by process ${first.process.pid} on \\S+ since \\S+Z, ` +
        'and was not free within 0\\.1 s\\. One SQLite file is served by one process$',
    ),
  });
});

test('D6 · a second process that waits takes over when the first leaves', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const first = await openSqliteStore(path);
  await addedTo(first, 'a');
  await using second = start(path, 60_000);
  await first[Symbol.asyncDispose]();
  assert.equal((await second.said).outcome, 'open');
});

test('an owner killed with SIGKILL frees the file at once, and a next one needs no patience', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  {
    await using first = start(path, 0);
    assert.equal((await first.said).outcome, 'open');
  }
  await using store = await openSqliteStore(path, { patienceMs: 0 });
  assert.deepEqual(await listed(store), []);
});

test('a first start that is killed at any moment leaves nothing that the next one refuses', async () => {
  await using folder = await temporaryFolder();
  for (let milliseconds = 180; milliseconds <= 300; milliseconds += 8) {
    const path = join(folder.path, `${milliseconds}.db`);
    {
      await using _first = start(path, 0);
      await pause(milliseconds);
    }
    await using store = await openSqliteStore(path, { patienceMs: 0 });
    assert.deepEqual(await listed(store), []);
  }
});

test('the same process cannot open one file twice', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using _store = await openSqliteStore(path);
  await assert.rejects(openSqliteStore(path, { patienceMs: 0 }), {
    reason: 'owned',
    message: new RegExp(`served by process ${process.pid} `),
  });
});

test('a symbolic link to the file is the same file', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using _store = await openSqliteStore(path);
  symlinkSync(path, join(folder.path, 'link.db'));
  await assert.rejects(openSqliteStore(join(folder.path, 'link.db'), { patienceMs: 0 }), { reason: 'owned' });
});

test('other programs may read and write the database of an owner', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using first = start(path, 0);
  assert.equal((await first.said).outcome, 'open');
  using database = new DatabaseSync(path);
  database.exec("INSERT INTO categories (name) VALUES ('Garden')");
  assert.equal(database.prepare('SELECT count(*) AS n FROM categories').get()?.n, 3);
});

test('of twenty processes that start together on no file, one serves and the others name it', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  await using starters = new AsyncDisposableStack();
  const all = Array.from({ length: 20 }, () => starters.use(start(path, 500)));
  const said = await Promise.all(all.map((each) => each.said));
  const serving = all.filter((_, index) => said[index]?.outcome === 'open');
  assert.equal(serving.length, 1);
  for (const { outcome, message } of said.filter((each) => each.outcome !== 'open')) {
    assert.equal(outcome, 'owned');
    assert.match(String(message), new RegExp(`served by process ${serving[0]?.process.pid} `));
  }
  using database = new DatabaseSync(path);
  assert.equal(database.prepare('SELECT count(*) AS n FROM categories').get()?.n, 2);
});

test('a store that was disposed of takes no write: the file may have its next owner', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'todos.db');
  const store = await openSqliteStore(path);
  await addedTo(store, 'a');
  await store[Symbol.asyncDispose]();
  await using next = await openSqliteStore(path);
  await assert.rejects(store.add(newTodo('late', 1)), { name: 'StoreUnavailable' });
  assert.deepEqual(
    (await listed(next)).map(({ title }) => title),
    ['a'],
  );
});
