import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, mock, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { Commit } from '../../src/events.ts';
import { backupSqlite, openSqliteMaintenance } from '../../src/storage/sqlite/maintenance.ts';
import { unmetRequirementOf } from '../../src/storage/sqlite/unmet-requirement.ts';
import { mountDisk, noMounts } from '../support/folder.ts';
import { todo } from '../support/todo.ts';
import { compileDisk, noDisk } from './disk.ts';
import { execute, fill, newDatabase, newPath } from './new-files.ts';
import { type Served, serveFile } from './served.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { addedTo, found, listed, newTodo, replacement } from './todos.ts';

const skip = noDisk();
const library = skip === false ? await compileDisk(dirname(newPath())) : {};

test('while another program holds the write lock, reads go on, writes are refused, and then all is well [D9]', async () => {
  const path = newPath();
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
  const path = newPath();
  await using store = await openSqliteStore(path);
  using other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const write = addedTo(store, 'a');
  setImmediate(() => other.exec('ROLLBACK'));
  assert.equal((await write).id, 1);
});

test('a file that may not grow refuses a batch whole, goes on reading, and takes what fits [D9]', async () => {
  const script = fileURLToPath(new URL('./full-disk-process.ts', import.meta.url));
  // 1024 or 512 KiB, as the shell counts; the process that starts there never sees the signal.
  const limited = `ulimit -f 1024 && exec "$0" "$@"`;
  const words = ['-c', limited, process.execPath, script, dirname(newPath())];
  const { stdout } = await promisify(execFile)('sh', words);
  assert.deepEqual(JSON.parse(stdout), {
    before: ['a'],
    refused: { StoreUnavailable: 20_000 },
    during: ['a'],
    after: ['a', 'b'],
  });
});

test('each write of a batch gets its commit; a question whether the disk takes writes has none', async () => {
  const commits: Commit[] = [];
  await using store = await openSqliteStore(newPath());
  const add = () => store.add(newTodo('a', 1), undefined, (commit) => commits.push(commit));
  await store.check();
  await Promise.all([add(), add()]);
  await add();
  assert.deepEqual(
    commits.map(({ writes }) => writes),
    [2, 2, 1],
  );
  assert.equal(commits[0], commits[1]);
});

test('a file of a format that SQLite does not write is refused in one line [D15]', async () => {
  const path = await newDatabase();
  // A file format version that no library knows how to write, which holds for root as well:
  // https://www.sqlite.org/fileformat.html §1.3.3
  overwrite(path, Buffer.from([3]), 18);
  await assert.rejects(openSqliteStore(path), {
    name: 'OperatorError',
    reason: 'bad-data',
    message:
      `Cannot open the database "${path}": it is of version 3 of the format, and SQLite writes 2: restore a backup, or ` +
      'convert it with the program that made it',
  });
});

function overwrite(path: string, bytes: Buffer, position: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, bytes, 0, bytes.length, position);
  closeSync(file);
}

test('a write whose thread ends is of unknown outcome, a list is tried again, and both go on with a new thread [D9]', async () => {
  await using store = await openSqliteStore(newPath());
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

/** A database of 2,000 todos, the fifth leaf of whose tree is garbage, and the id that began there. */
async function damagedFile(): Promise<{ readonly path: string; readonly id: number }> {
  const path = await newDatabase();
  fill(path, 2_000);
  using file = new DatabaseSync(path);
  const leaves = file
    .prepare("SELECT pageno, ncell FROM dbstat WHERE name = 'todos' AND pagetype = 'leaf' ORDER BY path")
    .all();
  file.close();
  const before = leaves.slice(0, 4).reduce((sum, { ncell }) => sum + Number(ncell), 0);
  overwrite(path, Buffer.alloc(4_096, 'garbage'), (Number(leaves[4]?.pageno) - 1) * 4_096);
  return { path, id: before + 1 };
}

/** The events about the file, and those of what must not happen, with their levels. */
async function reported(served: Served): Promise<readonly string[]> {
  await served.logged('database-damaged');
  return served
    .log('database-damaged', 'crash', 'store-unavailable')
    .map(({ level, event }) => `${level} ${event}`);
}

async function refused(served: Served, method: string, path: string): Promise<void> {
  const body = method === 'POST' || method === 'PUT' ? { title: 'refused', categoryId: 1 } : undefined;
  const reply = await served.ask(method, path, body);
  assert.equal(reply.status, 503, `${method} ${path}`);
  assert.equal(reply.headers.get('retry-after'), null);
}

for (const [what, pathOf] of [
  ['a todo', (id: number) => `/todos/${id}`],
  ['the list', () => '/todos'],
] as const) {
  test(`a corrupt page that ${what} meets is a 503 without Retry-After, and so is all that follows [D11]`, async () => {
    const { path, id } = await damagedFile();
    await using served = await serveFile(path);
    assert.equal((await served.ask('GET', '/todos/1')).status, 200);
    assert.equal((await served.ready()).status, 200);
    await refused(served, 'GET', pathOf(id));
    await refused(served, 'POST', '/todos');
    await refused(served, 'GET', '/todos/1');
    await refused(served, 'GET', '/todos');
    assert.equal((await served.ready()).status, 503);
    assert.equal(await served.stop(), 0);
    assert.deepEqual(await reported(served), ['error database-damaged']);
    const [{ reason, path: said, msg } = {}] = served.log('database-damaged');
    assert.deepEqual(
      { reason, said, msg },
      {
        reason: 'database disk image is malformed',
        said: path,
        msg: 'the database file is damaged, or its disk did not read it. It is used again only after a restart. Run "todo-service check"',
      },
    );
  });
}

test('a write that meets a corrupt page is a 503, not a crash [D11]', async () => {
  const { path, id } = await damagedFile();
  await using served = await serveFile(path);
  await refused(served, 'PUT', `/todos/${id}`);
  assert.deepEqual(await reported(served), ['error database-damaged']);
});

test('a file that is cut short under the service is a 503, not a crash [D11]', async () => {
  const { path } = await damagedFile();
  await using served = await serveFile(path);
  truncateSync(path, 8_192);
  await refused(served, 'GET', '/todos/2000');
  assert.deepEqual(await reported(served), ['error database-damaged']);
});

const WITH_KEY = { 'idempotency-key': 'k' };

/** By hand: what is lost of a schema, how it comes back, SQLite's sentence, and which requests need it. */
const LOSSES = [
  [
    'ALTER TABLE todos RENAME COLUMN title TO heading',
    'ALTER TABLE todos RENAME COLUMN heading TO title',
    'no such column: title',
    {
      'POST /todos': 503,
      'GET /todos/1': 503,
      'GET /todos': 503,
      'PUT /todos/1': 503,
      'DELETE /todos/1': 204,
    },
  ],
  [
    'ALTER TABLE idempotency_keys RENAME TO other_keys',
    'ALTER TABLE other_keys RENAME TO idempotency_keys',
    'no such table: idempotency_keys',
    {
      'POST /todos': 503,
      'GET /todos/1': 200,
      'GET /todos': 200,
      'PUT /todos/1': 204,
      'DELETE /todos/1': 204,
    },
  ],
  [
    'BEGIN; ALTER TABLE todos RENAME TO base; CREATE VIEW todos AS SELECT * FROM base; COMMIT',
    'BEGIN; DROP VIEW todos; ALTER TABLE base RENAME TO todos; COMMIT',
    'cannot modify todos because it is a view',
    {
      'POST /todos': 503,
      'GET /todos/1': 200,
      'GET /todos': 200,
      'PUT /todos/1': 503,
      'DELETE /todos/1': 503,
    },
  ],
  [
    'BEGIN; ALTER TABLE todos RENAME COLUMN done TO is_done; ALTER TABLE todos ADD done TEXT; COMMIT',
    'BEGIN; ALTER TABLE todos DROP done; ALTER TABLE todos RENAME COLUMN is_done TO done; COMMIT',
    'the column "done" of "todos" must be INTEGER, received TEXT',
    {
      'POST /todos': 503,
      'GET /todos/1': 503,
      'GET /todos': 503,
      'PUT /todos/1': 503,
      'DELETE /todos/1': 503,
    },
  ],
] as const;

for (const [lose, mend, sentence, wanted] of LOSSES) {
  test(`unmetRequirementOf finds that ${sentence}: 503 without Retry-After for what needs it, until it is back [D11]`, async () => {
    const path = newPath();
    await using served = await serveFile(path);
    // Both threads have begun.
    await served.post();
    await served.list();
    execute(path, lose);
    const detail = `The database does not answer as it should: ${sentence}.`;
    assert.deepEqual(await served.ready(), { status: 503, detail });
    for (const [request, status] of Object.entries(wanted)) {
      const [method = '', target = ''] = request.split(' ');
      const body = method === 'GET' ? undefined : { title: 'a', categoryId: 1 };
      const reply = await served.ask(method, target, body, method === 'POST' ? WITH_KEY : {});
      assert.deepEqual([request, reply.status, reply.headers.get('retry-after')], [request, status, null]);
    }
    await using operator = openSqliteMaintenance(path);
    const { faults } = await operator.inspect();
    assert.deepEqual(
      faults.filter((fault) => !fault.startsWith('row ')),
      [sentence],
    );
    execute(path, mend);
    // Nobody asks meanwhile.
    await served.logged('schema-mended');
    // Without a key: a look for one would learn the schema.
    await served.post();
    const reply = await served.ask('POST', '/todos', { title: 'b', categoryId: 1 }, WITH_KEY);
    assert.equal(reply.status, 201);
    assert.equal((await served.list()).at(-1)?.title, 'b');
    assert.equal((await served.ready()).status, 200);
    const told = served.log('schema-broken', 'schema-mended', 'crash', 'store-unavailable');
    assert.deepEqual(
      told.map(({ event, reason }) => [event, reason]),
      [
        ['schema-broken', sentence],
        ['schema-mended', undefined],
      ],
    );
  });
}

test('what was missing and is there again when somebody looks is unavailable [D11]', async () => {
  const path = newPath();
  await using store = await openSqliteStore(path);
  await store.add(newTodo('a', 1));
  // The code of a table that is missing, of a schema that misses none.
  execute(
    path,
    `ALTER TABLE todos RENAME TO t; CREATE VIEW todos AS SELECT id, title, json('{') AS done, category_id FROM t;
      CREATE TRIGGER a INSTEAD OF INSERT ON todos BEGIN SELECT 1; END;
      CREATE TRIGGER b INSTEAD OF UPDATE ON todos BEGIN SELECT 1; END;
      CREATE TRIGGER c INSTEAD OF DELETE ON todos BEGIN SELECT 1; END`,
  );
  await assert.rejects(listed(store), { name: 'StoreUnavailable', message: 'malformed JSON' });
});

test('a database whose schema lacks something is not opened [D11]', async () => {
  const path = await newDatabase();
  execute(path, LOSSES[3][0]);
  await assert.rejects(openSqliteStore(path), {
    name: 'OperatorError',
    message: `Cannot open the database "${path}": ${LOSSES[3][2]}`,
  });
});

test('unmetRequirementOf misses no column that no statement needs [D11]', async () => {
  const path = await newDatabase();
  execute(path, 'ALTER TABLE categories RENAME COLUMN name TO label');
  using database = new DatabaseSync(path);
  assert.equal(unmetRequirementOf(database), undefined);
});

test('a thread that cannot prepare its statements says what the schema lacks', async () => {
  const path = await newDatabase();
  await using store = await openSqliteStore(path);
  execute(path, LOSSES[1][0]);
  await assert.rejects(store.add(newTodo('a', 1)), { name: 'StoreBroken', message: LOSSES[1][2] });
});

/** A service on a disk that can be made to fail. */
interface FailingDisk extends Served {
  /** From now on, every read of the database fails with this error. */
  breakReads(errno: number): void;
  /** From now on, every sync fails. */
  breakSyncs(): void;
  /** From now on, every sync waits. */
  holdSyncs(): void;
  /** A sync does. */
  syncWaits(): Promise<void>;
  releaseSyncs(): void;
  /** From now on, nobody can look at a file by its name. */
  hideFiles(): void;
  /** From now on, no thread starts. */
  refuseThreads(): void;
  mend(): void;
}

async function serveOnDisk(
  path = newPath(),
  env: Readonly<Record<string, string>> = {},
): Promise<FailingDisk> {
  const [unreadable, broken, held] = [newPath('unreadable'), newPath('broken'), newPath('held')];
  const [unseen, threadless] = [newPath('unseen'), newPath('threadless')];
  const served = await serveFile(path, {
    ...library,
    DISK_FOLDER: dirname(path),
    DISK_UNREADABLE: unreadable,
    DISK_BROKEN: broken,
    DISK_HELD: held,
    DISK_UNSEEN: unseen,
    DISK_THREADLESS: threadless,
    ...env,
  });
  return {
    ...served,
    breakReads: (errno) => writeFileSync(unreadable, `${errno}`),
    breakSyncs: () => writeFileSync(broken, ''),
    holdSyncs: () => writeFileSync(held, ''),
    async syncWaits() {
      while (statSync(held).size === 0) await pause(10);
    },
    releaseSyncs: () => rmSync(held),
    hideFiles: () => writeFileSync(unseen, ''),
    refuseThreads: () => writeFileSync(threadless, ''),
    mend() {
      for (const file of [unreadable, broken, held, unseen, threadless]) rmSync(file, { force: true });
    },
  };
}

const noThread = (name: string) =>
  `The database does not answer as it should: The thread ${name} cannot be started: EAGAIN (ERR_WORKER_INIT_FAILED).`;

describe('on a disk that fails', { skip }, () => {
  test('while a write waits for a slow disk, todos and the list are read', async () => {
    await using disk = await serveOnDisk();
    await disk.post();
    disk.holdSyncs();
    let answered = false;
    const write = disk.post().finally(() => {
      answered = true;
    });
    await disk.syncWaits();
    const reads = await Promise.all(['/todos/1', '/todos'].map((path) => disk.ask('GET', path)));
    assert.deepEqual([...reads.map(({ status }) => status), answered], [200, 200, false]);
    disk.mend();
    await write;
  });

  for (const path of ['/todos', '/todos/1']) {
    test(`a file of which what GET ${path} needs is not read once is not used until a restart [D11]`, async () => {
      const file = newPath();
      {
        await using disk = await serveOnDisk(file);
        await disk.post();
        disk.breakReads(constants.errno.EIO);
        await refused(disk, 'GET', path);
        disk.mend();
        await refused(disk, 'GET', '/todos/1');
        await refused(disk, 'GET', '/todos');
        await refused(disk, 'DELETE', '/todos/1');
        assert.equal((await disk.ready()).status, 503);
        assert.deepEqual(await reported(disk), ['error database-damaged']);
      }
      await using again = await serveFile(file);
      assert.equal((await again.ask('GET', path)).status, 200);
    });
  }

  test('while nobody can look for the file, reads go on, and writes are refused until somebody can [D16]', async () => {
    await using disk = await serveOnDisk();
    await disk.post({ title: 'kept' });
    await disk.list();
    disk.hideFiles();
    for (const [method, path] of [
      ['POST', '/todos'],
      ['DELETE', '/todos/1'],
    ] as const) {
      const reply = await disk.ask(method, path, { title: 'refused', categoryId: 1 });
      assert.deepEqual([reply.status, reply.headers.get('retry-after')], [503, '1']);
    }
    assert.equal((await disk.ask('GET', '/todos/1')).status, 200);
    assert.deepEqual(await disk.titles(), ['kept']);
    const reason = '"todos.db" cannot be looked at: EIO';
    const detail = `The database does not answer as it should: ${reason}.`;
    assert.deepEqual(await disk.ready(), { status: 503, detail });
    disk.mend();
    await disk.logged('database-seen');
    await disk.post({ title: 'after' });
    assert.deepEqual(await disk.titles(), ['kept', 'after']);
    assert.equal((await disk.ready()).status, 200);
    const told = disk.log('database-unseen', 'database-seen', 'database-gone', 'crash');
    assert.deepEqual(
      told.map(({ level, event }) => [level, event]),
      [
        ['warn', 'database-unseen'],
        ['info', 'database-seen'],
      ],
    );
    // A look that was under way had seen some of the names.
    assert.match(String(told[0]?.reason), /^"todos\.db(?:-wal|-shm|-owner)?" cannot be looked at: EIO$/);
  });

  test('a write after whose commit nobody can look for the file is of unknown outcome, and all see it [D16]', async () => {
    await using disk = await serveOnDisk(newPath(), { TODO_CACHE_MB: '1' });
    await disk.post({ title: 'before' });
    const read = async () => JSON.parse(await (await disk.ask('GET', '/todos/1')).text()).title;
    assert.deepEqual([await read(), await disk.titles()], ['before', ['before']]);
    disk.holdSyncs();
    const write = disk.ask('PUT', '/todos/1', { title: 'after', categoryId: 1 });
    await disk.syncWaits();
    disk.hideFiles();
    disk.releaseSyncs();
    const reply = await write;
    assert.deepEqual([reply.status, reply.headers.get('retry-after')], [503, null]);
    assert.deepEqual([await read(), await disk.titles()], ['after', ['after']]);
  });

  test('while no thread starts, the list is a 503, /ready says why, and starts it once that is possible [D16]', async () => {
    await using disk = await serveOnDisk();
    await disk.post();
    disk.refuseThreads();
    const reply = await disk.ask('GET', '/todos');
    assert.deepEqual([reply.status, reply.headers.get('retry-after')], [503, '1']);
    const { detail } = await disk.ready();
    assert.equal(detail, noThread('reader-thread.ts'));
    disk.mend();
    await disk.readyWith(200);
    assert.deepEqual(await disk.titles(), ['a']);
    assert.deepEqual(disk.log('crash', 'uncaught'), []);
  });

  test('a service that cannot start the thread that writes stays, and is ready once it can [D16]', async () => {
    // The threads that Node.js starts itself are there by then.
    const refuse = `import { stat, writeFile } from 'node:fs/promises';
      await stat('/'); await writeFile(process.env.DISK_THREADLESS, '');`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(refuse)}`;
    await using disk = await serveOnDisk(newPath(), { NODE_OPTIONS });
    await disk.post({ status: 503 });
    const { detail } = await disk.readyWith(503);
    assert.equal(detail, noThread('writer-thread.ts'));
    disk.mend();
    await disk.readyWith(200);
    await disk.post();
    assert.deepEqual(disk.log('crash', 'uncaught'), []);
  });

  test('a commit whose sync fails is of unknown outcome [D9]', async () => {
    await using disk = await serveOnDisk();
    disk.breakSyncs();
    const reply = await disk.ask('POST', '/todos', { title: 'a', categoryId: 1 });
    assert.equal(reply.status, 503);
    assert.equal(reply.headers.get('retry-after'), null);
    const { detail } = JSON.parse(await reply.text());
    assert.equal(detail, 'It is unknown whether the change was made. Read before repeating it.');
  });

  test('/ready turns when a sync fails, and back when one succeeds, though nobody writes', async () => {
    await using disk = await serveOnDisk();
    await disk.post();
    assert.equal((await disk.ready()).status, 200);
    disk.breakSyncs();
    await disk.post({ status: 503 });
    const { detail } = await disk.readyWith(503);
    assert.equal(detail, 'The database does not answer as it should: disk I/O error.');
    disk.mend();
    await disk.readyWith(200);
    await disk.post();
  });
});

/** A file system of 512 KiB. */
function mountSmallDisk() {
  const data = newPath('data');
  const mounted = mountDisk(data, '512k');
  const filler = join(data, 'filler');
  const fillAll = () => {
    for (;;) appendFileSync(filler, Buffer.alloc(4_096));
  };
  return {
    /** Where it is mounted. */
    data,
    path: join(data, 'todos.db'),
    fill: () => assert.throws(fillAll, { code: 'ENOSPC' }),
    makeRoom: () => rmSync(filler),
    [Symbol.dispose]: () => mounted[Symbol.dispose](),
  };
}

describe('on a full file system', { skip: noMounts() }, () => {
  test('a write is a 503 with Retry-After, reads go on, /ready says why, and room is enough [D9]', async () => {
    using disk = mountSmallDisk();
    await using served = await serveFile(disk.path);
    await served.post({ title: 'kept' });
    disk.fill();
    const refused = await served.ask('POST', '/todos', { title: 'too much', categoryId: 1 });
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '1');
    assert.equal((await served.ask('GET', '/todos/1')).status, 200);
    assert.deepEqual(await served.list(), [todo(1, 'kept')]);
    const detail = 'The database does not answer as it should: database or disk is full.';
    assert.deepEqual(await served.ready(), { status: 503, detail });
    disk.makeRoom();
    assert.equal((await served.ready()).status, 200);
    await served.post();
  });

  test('/ready turns though nobody writes', async () => {
    using disk = mountSmallDisk();
    await using served = await serveFile(disk.path);
    assert.equal((await served.ready()).status, 200);
    disk.fill();
    await served.readyWith(503);
  });

  test('a first start is refused in one line, and leaves nothing that the next one refuses', async () => {
    using disk = mountSmallDisk();
    const { path } = disk;
    await (await openSqliteStore(path))[Symbol.asyncDispose]();
    rmSync(path);
    disk.fill();
    await assert.rejects(openSqliteStore(path), {
      name: 'OperatorError',
      reason: 'unavailable',
      message: `Cannot open the database "${path}": database or disk is full`,
    });
    assert.deepEqual(readdirSync(disk.data).sort(), ['filler', 'todos.db-owner']);
    disk.makeRoom();
    await using store = await openSqliteStore(path);
    await addedTo(store, 'a');
  });

  test('a backup leaves nothing behind', async () => {
    using disk = mountSmallDisk();
    disk.fill();
    await assert.rejects(backupSqlite(await newDatabase(), join(disk.data, 'copy.db')), {
      reason: 'not-written',
    });
    assert.deepEqual(readdirSync(disk.data), ['filler']);
  });
});
