import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Event, LogEvent } from '../../src/events.ts';
import { knownFile, lookAt } from '../../src/storage/sqlite/file.ts';
import { DatabaseHealth } from '../../src/storage/sqlite/health.ts';
import { backupSqlite, openSqliteMaintenance } from '../../src/storage/sqlite/maintenance.ts';
import { Restore } from '../../src/storage/sqlite/restore.ts';
import { openExport, openImport } from '../../src/storage/sqlite/transfer.ts';
import { runCommand } from '../support/run-command.ts';
import { todo } from '../support/todo.ts';
import { execute, newDatabase, newPath } from './new-files.ts';
import { serve, serveFile } from './served.ts';
import { start } from './sqlite-starter.ts';
import { migrateSqlite, openSqliteStore } from './sqlite-store.ts';
import { addedTo, addMany, found, listed, newTodo, SCHEMA_VERSION } from './todos.ts';

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8);

test('folders are made with mode 0700, and every file with 0600', async () => {
  const outer = join(dirname(newPath()), 'outer');
  const path = join(outer, 'inner', 'todos.db');
  await using store = await openSqliteStore(path);
  await addedTo(store, 'a');
  for (const folder of [outer, dirname(path)]) assert.equal(mode(folder), '700');
  for (const suffix of ['', '-wal', '-shm', '-owner']) assert.equal(mode(path + suffix), '600');
});

test('the tables are STRICT, hold foreign keys and never reuse an id', async () => {
  using database = new DatabaseSync(await newDatabase());
  const refused = (sql: string, reason: RegExp): void => assert.throws(() => database.exec(sql), reason);
  refused("INSERT INTO todos (title, category_id) VALUES ('a', 'Work')", /cannot store TEXT value/);
  refused("INSERT INTO todos (title, category_id, done) VALUES ('a', 1, 2)", /CHECK constraint failed/);
  refused("INSERT INTO todos (title, category_id) VALUES ('', 1)", /CHECK constraint failed/);
  refused('INSERT INTO todos (title, category_id) VALUES (NULL, 1)', /NOT NULL constraint failed/);
  refused("INSERT INTO todos (title, category_id) VALUES ('a', 3)", /FOREIGN KEY constraint failed/);
  refused(
    "INSERT INTO todos (id, title, category_id) VALUES (2147483648, 'a', 1)",
    /CHECK constraint failed: ids_exhausted/,
  );
  refused("INSERT INTO categories VALUES (2147483648, 'a')", /CHECK constraint failed: ids_exhausted/);
});

/** Why a test that mounts a folder by FUSE is left out, or false. */
function noBindfs(): string | false {
  const [folder, mounted] = [dirname(newPath()), dirname(newPath())];
  if (spawnSync('bindfs', [folder, mounted]).status !== 0)
    return 'needs bindfs, and the right to mount by FUSE';
  execFileSync('fusermount', ['-u', mounted]);
  return false;
}

test('on a folder that is mounted by FUSE a start is served, with one warning that names the file system; else with none [D21]', {
  skip: noBindfs(),
}, async () => {
  const path = await newDatabase();
  const mounted = dirname(newPath());
  execFileSync('bindfs', [dirname(path), mounted]);
  using _mount = { [Symbol.dispose]: () => void execFileSync('fusermount', ['-u', mounted]) };
  for (const [database, wanted] of [
    [path, []],
    [join(mounted, 'todos.db'), [['warn', 'FUSE or virtiofs', join(mounted, 'todos.db')]]],
  ] as const) {
    await using service = await serve(`sqlite:${database}`);
    await service.post();
    assert.deepEqual(
      service.log('locks-uncertain').map((line) => [line.level, line.fileSystem, line.path]),
      wanted,
    );
  }
});

/** A file of this name in folders of its own, whose path has so many bytes. */
function longPath(bytes: number, name = 'todos.db'): string {
  const base = newPath('');
  const length = bytes - Buffer.byteLength(join(base, '_', name)) + 1;
  const folders = `${'é'.repeat(60)}/`.repeat(Math.floor(length / 121));
  return join(base, folders, 'e'.repeat(length - Buffer.byteLength(folders)), name);
}

test('a path is as long as SQLite can open with all that it keeps beside; a longer one is named, and nothing made', async () => {
  const path = longPath(498);
  assert.equal(Buffer.byteLength(path), 498);
  await migrateSqlite(path);
  {
    await using store = await openSqliteStore(path);
    await addedTo(store, 'a');
  }
  const copy = longPath(483, 'copy.db');
  mkdirSync(dirname(copy), { recursive: true });
  assert.equal((await backupSqlite(path, copy)).todos, 1);
  await assert.rejects(backupSqlite(path, longPath(484, 'copy.db')), {
    message:
      /^"[^"]+\/copy\.db": the path of "copy\.db\.\w+\.partial" must have at most 504 bytes for SQLite, received 505$/,
  });

  for (const bytes of [499, 504, 505, 520, 4_000]) {
    const longer = longPath(bytes);
    const file = `"todos.db${bytes > 504 ? '' : '-owner'}"`;
    const received = bytes > 504 ? bytes : bytes + 6;
    const reason = `: the path of ${file} must have at most 504 bytes for SQLite, received ${received}`;
    for (const open of [migrateSqlite, openSqliteStore, (name: string) => openImport(name, () => {})])
      await assert.rejects(open(longer), ({ name, message }: Error) => {
        assert.equal(name, 'OperatorError');
        assert.ok(message.endsWith(reason), message);
        return true;
      });
    assert.deepEqual(readdirSync(dirname(longer)), []);
  }
});

test('a database whose folder got a longer name, and one that is to be restored there, are refused with the length', async () => {
  const path = longPath(510);
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(await newDatabase(), path);
  const length = /the path of "todos\.db" must have at most 504 bytes for SQLite, received 510$/;
  await assert.rejects(async () => openSqliteMaintenance(path), length);
  await assert.rejects(openExport(path), length);
  const options = {
    highestOf: (id: number) => id,
    onProgress: () => {},
    onDeciding: () => {},
    logEvent: () => {},
  };
  const restored = new Restore().run(longPath(490), await newDatabase(), options);
  await assert.rejects(
    restored,
    /the path of "todos\.db\.\w+\.partial" must have at most 504 bytes for SQLite, received 511$/,
  );
});

/** How a file is refused that is none, or none for this program. */
const refusal = (path: string, message: string, reason = 'unavailable') => ({
  name: 'OperatorError',
  reason,
  message: `Cannot open the database "${path}": ${message}`,
});

test('a database of another program is refused, and left as it is [D15]', async () => {
  const path = newPath('notes.db');
  using database = new DatabaseSync(path);
  database.exec('CREATE TABLE notes (text)');
  await assert.rejects(openSqliteStore(path), refusal(path, 'it belongs to another program', 'bad-data'));
  assert.deepEqual(database.prepare('SELECT name FROM sqlite_schema').all().map(Object.values), [['notes']]);
});

test('a file of todos that has lost its user_version is named with the way back, and stays as it is [D15]', async () => {
  const path = newPath('todos.db');
  await (await openSqliteStore(path))[Symbol.asyncDispose]();
  execute(path, 'PRAGMA user_version = 0');
  const fault = 'its user_version is 0, as after ".dump" of sqlite3: docs/incidents.md shows the way back';
  for (const open of [() => openSqliteStore(path), () => openSqliteMaintenance(path)])
    await assert.rejects(async () => open(), refusal(path, fault, 'bad-data'));
  execute(path, `PRAGMA user_version = ${SCHEMA_VERSION.sqlite}`);
  await using store = await openSqliteStore(path);
  assert.deepEqual(await listed(store), []);
});

test('a path where no file can be is refused in one line', async () => {
  const file = newPath('file');
  writeFileSync(file, '');
  for (const [path, reason] of [
    [join(file, 'todos.db'), /^Cannot open the database "[^"]*\/file\/todos\.db": [^\n]*$/],
    ['/proc/todo/data/todos.db', /^Cannot open the database "\/proc\/[^"]*\.db": [^\n]*mkdir[^\n]*$/],
    ['', /^Cannot open the database "": it must be a file$/],
    [':memory:', /^Cannot open the database ":memory:": it must be a file$/],
  ] as const)
    await assert.rejects(openSqliteStore(path), { ...refusal(path, ''), message: reason });
});

test('a file that is empty is refused in one line: it is an interrupted copy rather than a wish [D15]', async () => {
  const path = newPath();
  writeFileSync(path, '');
  const refused = refusal(
    path,
    'it is empty, as after an interrupted copy: restore a backup, or remove it to begin with no todos',
    'bad-data',
  );
  await assert.rejects(openSqliteStore(path), refused);
  await assert.rejects(migrateSqlite(path), refused);
  assert.throws(() => openSqliteMaintenance(path), refused);
  assert.equal(statSync(path).size, 0);
});

test('a file with two names is refused: by the other name, SQLite would not see its log', async () => {
  const path = await newDatabase();
  const other = `${path}.other`;
  linkSync(path, other);
  const refused = refusal(
    path,
    'it has 2 names (hard links), and SQLite keeps another log for each: remove all but one',
  );
  rmSync(`${path}-owner`);
  await assert.rejects(openSqliteStore(path), refused);
  assert.throws(() => openSqliteMaintenance(path), refused);
  assert.equal(existsSync(`${path}-owner`), false);
  unlinkSync(other);
  await using store = await openSqliteStore(path);
  assert.deepEqual(await listed(store), []);
});

test('a first start that was killed leaves nothing that the next one refuses', async () => {
  const path = newPath();
  for (const left of ['', '-journal', '-wal', '-shm']) writeFileSync(`${path}.new${left}`, 'half a database');
  await using store = await openSqliteStore(path);
  await addedTo(store, 'a');
  const names = ['todos.db', 'todos.db-owner', 'todos.db-shm', 'todos.db-wal'];
  assert.deepEqual(readdirSync(dirname(path)).sort(), names);
});

for (const suffix of ['-wal', '-journal']) {
  test(`todos.db${suffix} without its database is kept under another name, and not read into the new one`, async () => {
    const path = newPath();
    writeFileSync(path + suffix, 'what is left of another file');
    const moved: string[] = [];
    await using store = await openSqliteStore(path, {
      logEvent: (event) => event.event === 'log-moved' && moved.push(event.path),
    });
    assert.deepEqual(await listed(store), []);
    assert.equal(moved.length, 1);
    assert.match(moved[0] ?? '', new RegExp(`todos\\.db${suffix}\\.\\d+$`));
    assert.equal(readFileSync(moved[0] ?? '', 'utf8'), 'what is left of another file');
  });
}

test('serve and migrate say of a log with pages how it was before they opened the file; of an ended service there is none [E3]', async () => {
  const path = newPath();
  const database = ['--database', `sqlite:${path}`];
  const copied = newPath();
  {
    await using served = await serveFile(path);
    await served.post({ title: 'kept' });
    await served.stop('SIGKILL');
  }
  const { size, mtime } = statSync(`${path}-wal`);
  for (const suffix of ['', '-wal']) copyFileSync(path + suffix, copied + suffix);
  const modified = statSync(`${copied}-wal`).mtime.toISOString();
  const left = 'was left by a process that was killed, or by a program that had the file open';
  const migrated = await runCommand(['migrate', '--database', `sqlite:${copied}`]);
  assert.deepEqual(
    [migrated.code, migrated.stderr],
    [
      0,
      `The log ${copied}-wal, of ${size} bytes, last written at ${modified}, ${left}: SQLite brings what is complete in it into the database\n`,
    ],
  );
  {
    await using served = await serveFile(path);
    assert.deepEqual(await served.titles(), ['kept']);
    assert.deepEqual(
      served
        .log('log-found')
        .map(({ level, path, bytes, modified, msg }) => [level, path, bytes, modified, msg]),
      [
        [
          'warn',
          `${path}-wal`,
          size,
          mtime.toISOString(),
          `the log "${path}-wal", of ${size} bytes, last written at ${mtime.toISOString()}, ${left}: SQLite brings what is complete in it into the database`,
        ],
      ],
    );
    await served.stop();
  }
  for (const log of [undefined, Buffer.alloc(0), Buffer.alloc(32)]) {
    if (log !== undefined) writeFileSync(`${path}-wal`, log);
    assert.deepEqual((await runCommand(['migrate', ...database])).stderr, '');
  }
});

test('a log that undoes a copy over the file is told, and restore is the way [E3]', async () => {
  const [path, copy] = [newPath(), newPath('copy.db')];
  const database = ['--database', `sqlite:${path}`];
  {
    await using served = await serveFile(path);
    await served.post({ title: 'saved' });
    assert.equal((await runCommand(['backup', copy, ...database])).code, 0);
    await served.post({ title: 'later' });
    await served.stop('SIGKILL');
  }
  copyFileSync(copy, path);
  assert.match(
    (await runCommand(['migrate', ...database])).stderr,
    /^The log \S+todos\.db-wal, of \d+ bytes, /,
  );
  assert.equal((await runCommand(['restore', copy, ...database])).code, 0);
  await using served = await serveFile(path);
  assert.deepEqual(await served.titles(), ['saved']);
  assert.deepEqual(served.log('log-found'), []);
});

test('a log that grew under a long reader is cut back', async () => {
  const path = newPath();
  await using store = await openSqliteStore(path, { cacheBytes: 0 });
  const size = () => statSync(`${path}-wal`).size;
  {
    using reader = new DatabaseSync(path);
    reader.exec('BEGIN; SELECT 1 FROM todos LIMIT 1');
    while (size() < 12 * 2 ** 20)
      await addMany(
        store,
        Array.from({ length: 2_000 }, () => 'a'.repeat(100)),
      );
  }
  // The first write begins the log anew, and the next checkpoint has nobody to wait for.
  for (const title of ['b', 'c']) await addedTo(store, title);
  assert.ok(size() <= 4 * 2 ** 20, `${size()} bytes`);
});

test('a second process gives up after its patience and names the first [D6]', async () => {
  const path = newPath();
  await using first = start(path, 0);
  assert.equal((await first.said).outcome, 'open');
  await assert.rejects(openSqliteStore(path, { patienceMs: 100 }), {
    name: 'OperatorError',
    reason: 'in-use',
    message: new RegExp(
      `^Cannot open the database ".*": it is served by process ${first.process.pid} on \\S+ since \\S+Z, ` +
        'and was not free within 0\\.1 s\\. One SQLite file is served by one process$',
    ),
  });
});

test('a second process that waits takes over when the first leaves [D6]', async () => {
  const path = newPath();
  const first = await openSqliteStore(path);
  await addedTo(first, 'a');
  await using second = start(path, 60_000);
  await first[Symbol.asyncDispose]();
  assert.equal((await second.said).outcome, 'open');
});

test('the same process cannot open one file twice, by its name or by a symbolic link', async () => {
  const path = newPath();
  await using _store = await openSqliteStore(path);
  const link = `${path}.link`;
  symlinkSync(path, link);
  const message = new RegExp(`served by process ${process.pid} `);
  for (const name of [path, link])
    await assert.rejects(openSqliteStore(name, { patienceMs: 0 }), { reason: 'in-use', message });
});

test('a store that was disposed of takes no write: the file may have its next owner', async () => {
  const path = newPath();
  const store = await openSqliteStore(path);
  await addedTo(store, 'a');
  await store[Symbol.asyncDispose]();
  await using next = await openSqliteStore(path);
  await assert.rejects(store.add(newTodo('late', 1)), { name: 'StoreUnavailable' });
  assert.deepEqual(await listed(next), [todo(1, 'a')]);
});

/** A file with three todos, the last one made with a key and removed, to which `sql` was done by hand. */
async function spoiled(sql: string): Promise<string> {
  const path = newPath();
  {
    await using store = await openSqliteStore(path);
    for (const title of ['a', 'b']) await addedTo(store, title);
    await addedTo(store, 'c', 1, { key: 'k', body: 'c', patienceMs: 0 });
    await store.remove(3);
  }
  execute(path, sql);
  return path;
}

for (const [name, sql, next] of [
  ['gone', 'DELETE FROM sqlite_sequence', 4],
  ['set back', 'UPDATE sqlite_sequence SET seq = 0', 4],
  ['above all that is known', "UPDATE sqlite_sequence SET seq = 9 WHERE name = 'todos'", 10],
] as const) {
  test(`where the highest id that SQLite keeps is ${name}, todos are found, and no id comes again that a key knows [D12]`, async () => {
    await using store = await openSqliteStore(await spoiled(sql));
    assert.deepEqual([await found(store, 1), await found(store, 2)], [todo(1, 'a'), todo(2, 'b')]);
    assert.equal((await addedTo(store, 'd')).id, next);
    assert.equal((await found(store, next))?.title, 'd');
  });
}

function deleteAll(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-owner']) rmSync(path + suffix);
}

/** Puts a copy of another file in the place of this one. */
function replace(path: string, other: string): void {
  const copy = `${other}.copy`;
  copyFileSync(other, copy);
  renameSync(copy, path);
}

const DELETED = 'was deleted or moved away';
const REPLACED = 'was replaced by another file';

/** What is done to the files of a database, and what the log says of it. */
const losses: readonly (readonly [name: string, lose: (path: string) => void, reason: string])[] = [
  ['is deleted', (path) => rmSync(path), `"todos.db" ${DELETED}`],
  ['is deleted with its log', deleteAll, `"todos.db" ${DELETED}`],
  ['is replaced', (path) => replace(path, path), `"todos.db" ${REPLACED}`],
  ['loses its log', (path) => rmSync(`${path}-wal`), `"todos.db-wal" ${DELETED}`],
  ['has its log replaced', (path) => replace(`${path}-wal`, path), `"todos.db-wal" ${REPLACED}`],
  ['loses its lock', (path) => rmSync(`${path}-owner`), `"todos.db-owner" ${DELETED}`],
  ['has its lock replaced', (path) => replace(`${path}-owner`, path), `"todos.db-owner" ${REPLACED}`],
  ['loses its folder', (path) => rmSync(dirname(path), { recursive: true }), `"todos.db" ${DELETED}`],
];

/** What is told of the file after it was made. */
function newsOfFile() {
  const news: Event[] = [];
  const logEvent: LogEvent = (event) => event.event.startsWith('database-') && news.push(event);
  return { news, logEvent };
}

for (const [name, lose, reason] of losses) {
  test(`a file that ${name} is noticed before a write is acknowledged, and nothing is answered from it any more [D11]`, async () => {
    const path = newPath();
    const { news, logEvent } = newsOfFile();
    await using store = await openSqliteStore(path, { logEvent });
    await addedTo(store, 'kept');
    lose(path);
    const broken = { name: 'StoreBroken', message: reason };
    await assert.rejects(store.add(newTodo('never acknowledged', 1)), broken);
    await assert.rejects(store.remove(1), broken);
    assert.throws(() => store.find(1), broken);
    assert.throws(() => store.list(), broken);
    await assert.rejects(store.check(), broken);
    assert.deepEqual(news, [{ event: 'database-gone', reason, path }]);
  });
}

test('a deleted file is noticed while nobody writes [D11]', async () => {
  const path = newPath();
  const noticed = Promise.withResolvers<unknown>();
  await using store = await openSqliteStore(path, {
    logEvent: (event) => event.event === 'database-gone' && noticed.resolve(event),
  });
  rmSync(path);
  // The clock that looks keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  assert.deepEqual(await noticed.promise, { event: 'database-gone', reason: `"todos.db" ${DELETED}`, path });
  clearInterval(alive);
  assert.throws(() => store.find(1), { name: 'StoreBroken' });
});

test('a fault of the file is told once, however often somebody meets it [D11]', async () => {
  const path = newPath();
  await using _ = await openSqliteStore(path);
  const { news, logEvent } = newsOfFile();
  using reader = new DatabaseSync(path);
  using health = new DatabaseHealth(knownFile(path, path), reader, logEvent);
  for (const message of ['first', 'second']) health.note({ failure: 'broken', state: 'gone', message });
  assert.deepEqual(news, [{ event: 'database-gone', reason: 'first', path }]);
  assert.equal(health.fault?.message, 'first');
});

test('lookAt finds what is gone, whatever keeps other names from being looked at [D11; D16]', () => {
  const [unseen, gone] = [join('/', 'a'.repeat(300)), newPath()];
  const look = (...paths: string[]) =>
    lookAt({ name: '', path: '', identities: new Map(paths.map((path) => [path, '1:1'])) });
  const reason = `"${'a'.repeat(300)}" cannot be looked at: ENAMETOOLONG`;
  assert.deepEqual(look(unseen), { failure: 'unavailable', state: 'unseen', message: reason });
  for (const missing of [gone, join(import.meta.filename, 'todos.db')])
    assert.deepEqual(look(unseen, missing), {
      failure: 'broken',
      state: 'gone',
      message: `"todos.db" ${DELETED}`,
    });
});

test('a link that leads to another file now counts as a replaced file [D11]', async () => {
  const link = newPath('current');
  symlinkSync(dirname(await newDatabase()), link);
  await using store = await openSqliteStore(join(link, 'todos.db'));
  await addedTo(store, 'a');
  rmSync(link);
  symlinkSync(dirname(await newDatabase()), link);
  const broken = { name: 'StoreBroken', message: `"todos.db" ${REPLACED}` };
  await assert.rejects(store.add(newTodo('b', 1)), broken);
});

test('a thread that starts after the file is gone makes no new one', async () => {
  const path = newPath();
  await using store = await openSqliteStore(path);
  deleteAll(path);
  await assert.rejects(store.add(newTodo('a', 1)), { name: /^(StoreUnavailable|StoreBroken)$/ });
  assert.equal(existsSync(path), false);
});

test('a thread that starts after the file was replaced reads nothing of the other file', async () => {
  const [path, other] = [newPath(), newPath()];
  {
    await using store = await openSqliteStore(other);
    await addedTo(store, 'of another list');
  }
  await using store = await openSqliteStore(path);
  replace(path, other);
  await assert.rejects(async () => store.list(), { name: /^(StoreUnavailable|StoreBroken)$/ });
});

test('what was asked for before the store is closed is made, and answered before it has closed', async () => {
  const path = await newDatabase();
  const store = await openSqliteStore(path);
  const answered: number[] = [];
  const adding = [1, 2].map(async () => answered.push((await addedTo(store, 'a')).id));
  await store[Symbol.asyncDispose]();
  assert.deepEqual(answered, [1, 2]);
  await Promise.all(adding);
});

test('a file that is deleted when the store is closed is no news', async () => {
  const path = newPath();
  const { news, logEvent } = newsOfFile();
  await (await openSqliteStore(path, { logEvent }))[Symbol.asyncDispose]();
  rmSync(path);
  await pause(1_500);
  assert.deepEqual(news, []);
});

test('the service answers 503 without Retry-After, is not ready, has one line in its log, and serves again after a restart [D11]', async () => {
  const path = newPath();
  const reason = `"todos.db" ${DELETED}`;
  {
    await using served = await serveFile(path);
    await served.post({ title: 'lost' });
    assert.equal((await served.ready()).status, 200);
    rmSync(path);
    const unknown = await served.ask('POST', '/todos', { title: 'unknown', categoryId: 1 });
    assert.equal(unknown.status, 503);
    assert.equal(unknown.headers.get('retry-after'), null);
    for (const [method, target] of [
      ['POST', '/todos'],
      ['DELETE', '/todos/1'],
      ['GET', '/todos'],
      ['GET', '/todos/1'],
    ] as const) {
      const body = method === 'POST' ? { title: 'refused', categoryId: 1 } : undefined;
      const reply = await served.ask(method, target, body);
      assert.equal(reply.status, 503, `${method} ${target}`);
      assert.equal(reply.headers.get('retry-after'), null);
      assert.equal(reply.headers.get('content-type'), 'application/problem+json');
    }
    const detail = `The database does not answer as it should: ${reason}.`;
    assert.deepEqual(await served.ready(), { status: 503, detail });
    await served.logged('database-gone');
    assert.deepEqual(
      served
        .log('database-gone', 'store-unavailable', 'crash')
        .map(({ level, event, path, reason, msg }) => ({ level, event, path, reason, msg })),
      [
        {
          level: 'error',
          event: 'database-gone',
          path,
          reason,
          msg: 'the database file was deleted, moved or replaced. Put it back with the files beside it, or restore a backup, and restart',
        },
      ],
    );
    assert.equal(await served.stop(), 0);
  }
  await using again = await serveFile(path);
  await again.post({ title: 'first' });
  // The log of the deleted file was not read into the new one, and was not thrown away.
  assert.deepEqual(await again.list(), [todo(1, 'first')]);
  assert.match(String((await again.logged('log-moved')).path), /todos\.db-wal\.\d+$/);
});

test('a file that was moved away and put back while the service stood still has every acknowledged write', async () => {
  const [path, aside] = [newPath(), newPath()];
  {
    await using store = await openSqliteStore(path);
    await addedTo(store, 'kept');
    renameSync(path, aside);
    await assert.rejects(store.add(newTodo('refused', 1)), { name: 'StoreBroken' });
  }
  renameSync(aside, path);
  await using store = await openSqliteStore(path);
  assert.deepEqual(await listed(store), [todo(1, 'kept')]);
});

test('a backup tells how far it is', async () => {
  const path = await newDatabase();
  const told: unknown[] = [];
  await backupSqlite(path, `${path}.copy`, (progress) => told.push(progress));
  assert.deepEqual(told[0], { copied: 0, total: statSync(path).size });
  assert.equal(told.at(-1), 'checking');
});

test('an inspection reads the durability settings back', async () => {
  await using operator = openSqliteMaintenance(await newDatabase());
  const { facts, faults } = await operator.inspect();
  const { journal_mode, synchronous, foreign_keys } = facts;
  assert.deepEqual([journal_mode, synchronous, foreign_keys, faults], ['wal', 'full', 'on', []]);
});

test('an operator does not change the schema of a database', () => {
  const path = newPath();
  execute(path, 'PRAGMA application_id = 0x746f646f');
  assert.throws(() => openSqliteMaintenance(path), {
    name: 'OperatorError',
    message: `Cannot open the database "${path}": its schema must be version ${SCHEMA_VERSION.sqlite}, received 0: run "todo-service migrate" first`,
  });
  using database = new DatabaseSync(path);
  assert.equal(database.prepare('PRAGMA user_version').get()?.user_version, 0);
});

/** In a process of its own: the name is relative, and threads have no other working folder than their process. */
const OPEN_BY_NAME = `
  import { openSqliteStore } from ${JSON.stringify(new URL('./sqlite-store.ts', import.meta.url))};
  import { backupSqlite, openSqliteMaintenance } from ${JSON.stringify(new URL('../../src/storage/sqlite/maintenance.ts', import.meta.url))};
  const name = 'file:todos.db?mode=memory';
  {
    await using store = await openSqliteStore(name);
    await store.add({ title: 'a', done: false, categoryId: 1 });
  }
  await using operator = openSqliteMaintenance(name);
  const { todos } = (await operator.inspect()).facts;
  const copy = await backupSqlite(name, 'file:copy.db');
  console.log(JSON.stringify([todos, copy.todos]));`;

test('a name that SQLite would take for a URI is the name of a file, for the service and for operators', () => {
  const cwd = dirname(newPath());
  writeFileSync(join(cwd, 'open.mjs'), OPEN_BY_NAME);
  const { stdout } = spawnSync(process.execPath, ['open.mjs'], { cwd, encoding: 'utf8' });
  assert.equal(stdout, '[1,1]\n');
  for (const name of ['file:todos.db?mode=memory', 'file:copy.db']) assert.ok(existsSync(join(cwd, name)));
});

test('an export of a file that nobody has open is of no use once somebody has changed it [E1]', async () => {
  const path = await newDatabase();
  await using source = await openExport(path);
  await source.check();
  {
    await using store = await openSqliteStore(path);
    await addedTo(store, 'a');
  }
  await assert.rejects(source.check(), {
    name: 'StoreUnavailable',
    message: /^the file was changed while it was read, /,
  });
});
