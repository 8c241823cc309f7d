import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { forReader } from '../../src/commands/progress.ts';
import { compileDisk, noDisk } from '../storage/disk.ts';
import { exportOf, idsTo } from '../storage/moving.ts';
import { fill, newDatabase, newPath } from '../storage/new-files.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { mountDisk, noMounts } from '../support/folder.ts';
import { endOf, runProgram, start } from '../support/start.ts';

const server = await PostgresServer.startForAll('fsync=on');

/** 4 MB. */
const WHOLE = exportOf(idsTo(60_000));

/** Starts an import that has half of its file, and resolves when `isUnderWay`. */
async function half(
  database: string,
  isUnderWay: () => boolean | Promise<boolean>,
  variables = {},
): Promise<ChildProcessWithoutNullStreams> {
  const child = start(['import', '-'], { ...variables, TODO_DATABASE: database });
  child.stdin.write(WHOLE.slice(0, WHOLE.length / 2));
  while (child.stdin.writableLength !== 0 || !(await isUnderWay())) {
    assert.equal(child.exitCode, null);
    await sleep(10);
  }
  return child;
}

async function importWhole(database: string): Promise<void> {
  const { code, stderr } = await runProgram(['import', '-', '--database', database], { input: WHOLE });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
}

const ENDS = [
  ['SIGTERM', 143, 'Cannot import: it was ended by SIGTERM, and nothing was changed\n'],
  ['SIGINT', 130, 'Cannot import: it was ended by SIGINT, and nothing was changed\n'],
  ['SIGKILL', 'SIGKILL', ''],
] as const;

for (const [signal, end, said] of ENDS) {
  test(`an import into SQLite that ${signal} ends changes nothing, and can be done again [E5]`, async () => {
    const path = newPath();
    const child = await half(`sqlite:${path}`, () => existsSync(path));
    child.kill(signal);
    assert.deepEqual(await endOf(child), { end, said });
    if (signal !== 'SIGKILL') assert.deepEqual(readdirSync(dirname(path)), ['todos.db-owner']);
    await importWhole(`sqlite:${path}`);
  });

  test(`an import into PostgreSQL that ${signal} ends changes nothing, and can be done again [E5]`, async () => {
    const database = await server.makeDatabase();
    const child = await half(database, () => isImporting(database));
    child.kill(signal);
    assert.deepEqual(await endOf(child), { end, said });
    await serverLetGo(database);
    await importWhole(database);
  });
}

async function isImporting(database: string): Promise<boolean> {
  const sql =
    "SELECT FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%*/INSERT INTO todos%'";
  return (await server.execute(database, sql)).length > 0;
}

/** It hears later than others that a client is gone, and until then another import is under way. */
async function serverLetGo(database: string): Promise<void> {
  while ((await server.backends(database)).length > 0) await sleep(10);
}

test('an import whose connection is lost changes nothing: 69 and one line [E5]', async () => {
  const database = await server.makeDatabase();
  const child = await half(database, () => isImporting(database));
  const ended = endOf(child);
  await server.terminate(database);
  child.stdin.end(WHOLE.slice(WHOLE.length / 2));
  const { end, said } = await ended;
  assert.equal(end, 69);
  assert.match(said, /^Cannot import: [^\n]+\n$/);
  await serverLetGo(database);
  await importWhole(database);
});

const UNKNOWN = /^Cannot import: [^\n]*nobody knows whether it was done[^\n]*\n$/;

test('a connection that is lost while PostgreSQL commits: nobody knows whether it was done [E5]', async () => {
  const database = await server.makeMigrated();
  // Until the end of the commit.
  await server.execute(
    database,
    `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NULL; END';
      CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON todos DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION wait()`,
  );
  const child = start(['import', '-'], { TODO_DATABASE: database });
  child.stdin.end(WHOLE);
  const ended = endOf(child);
  const committing = "SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%*/COMMIT'";
  while ((await server.execute(database, committing)).length === 0) {
    assert.equal(child.exitCode, null);
    await sleep(50);
  }
  // What it would say of a signal now, that nothing was changed, may be wrong: it waits for the end of the commit.
  child.kill('SIGTERM');
  await server.terminate(database);
  const { end, said } = await ended;
  assert.equal(end, 69);
  assert.match(said, UNKNOWN);
});

/** What is in a SQLite file after an import of unknown outcome: all or nothing, and it can be found out. */
async function foundOut(path: string): Promise<void> {
  const { code, stdout } = await runProgram(['check', '--database', `sqlite:${path}`]);
  assert.equal(code, 0, stdout);
  const todos = /^todos +(\d+)$/m.exec(stdout)?.[1];
  if (todos === '0') await importWhole(`sqlite:${path}`);
  else assert.equal(todos, '60000');
}

for (const isNew of [true, false]) {
  const where = isNew ? 'in a file that it made' : 'in a file that was there';
  test(`a disk that fails while SQLite commits ${where}: nobody knows whether it was done, and the file stays [E5]`, {
    skip: noDisk(),
  }, async () => {
    const path = isNew ? newPath() : await newDatabase();
    const broken = newPath('broken');
    const library = await compileDisk(dirname(broken));
    const disk = { ...library, DISK_FOLDER: dirname(path), DISK_BROKEN: broken };
    const child = await half(`sqlite:${path}`, () => existsSync(`${path}-wal`), disk);
    writeFileSync(broken, '');
    child.stdin.end(WHOLE.slice(WHOLE.length / 2));
    const { end, said } = await endOf(child);
    assert.equal(end, 69);
    assert.match(said, UNKNOWN);
    assert.equal(/The file stays: "todo-service check" says how many todos it has$/m.test(said), isNew);
    await foundOut(path);
  });
}

for (const signals of [['SIGKILL'], ['SIGTERM', 'SIGKILL']] as const) {
  test(`a process that ${signals.join(' and then ')} meets while SQLite commits in a file that it made leaves it, whole [E5]`, {
    skip: noDisk(),
  }, async () => {
    const [path, held] = [newPath(), newPath('held')];
    const library = await compileDisk(dirname(held));
    const disk = { ...library, DISK_FOLDER: dirname(path), DISK_HELD: held };
    const child = await half(`sqlite:${path}`, () => existsSync(`${path}-wal`), disk);
    writeFileSync(held, '');
    child.stdin.end(WHOLE.slice(WHOLE.length / 2));
    const ended = endOf(child);
    while (statSync(held).size === 0) await sleep(10);
    for (const signal of signals) child.kill(signal);
    assert.deepEqual(await ended, { end: 'SIGKILL', said: '' });
    await foundOut(path);
  });
}

test('a pipe whose other end dies is a file that was cut off: 65 [E5]', async () => {
  const path = newPath();
  const child = await half(`sqlite:${path}`, () => existsSync(path));
  child.stdin.end();
  const { end, said } = await endOf(child);
  assert.equal(end, 65);
  assert.match(said, /^Cannot import: standard input: it ends within line \d+, so it was cut off\n$/);
});

test('a reader that leaves ends an export with 74 and one line, and the export of a signal leaves no file', async () => {
  const database = `sqlite:${newPath()}`;
  await importWhole(database);
  const child = start(['export'], { TODO_DATABASE: database });
  child.stdout.once('data', () => child.stdout.destroy());
  const { end, said: refused } = await endOf(child);
  assert.equal(end, 74);
  // Linux says the second of a write that is under way when the reader leaves.
  assert.match(refused, /^Cannot export: write (?:EPIPE|ECONNRESET)\n$/);
  const stuck = start(['export'], { TODO_DATABASE: database });
  await once(stuck.stdout, 'readable');
  stuck.kill('SIGTERM');
  const said = 'Cannot export: it was ended by SIGTERM, and is not complete\n';
  assert.deepEqual(await endOf(stuck), { end: 143, said });
});

test('full disks: an import leaves what was there, an export leaves no file', {
  skip: noMounts(),
}, async () => {
  const small = newPath('small');
  using _mounted = mountDisk(small, '1m');
  const path = join(small, 'todos.db');
  for (const before of [[], ['migrate']]) {
    if (before.length > 0) await runProgram([...before, '--database', `sqlite:${path}`]);
    const { code, stderr } = await runProgram(['import', '-', '--database', `sqlite:${path}`], {
      input: WHOLE,
    });
    assert.deepEqual([code, stderr], [69, 'Cannot import: database or disk is full\n']);
    assert.equal(existsSync(path), before.length > 0);
  }
  const { stdout } = await runProgram(['check', '--database', `sqlite:${path}`]);
  assert.match(stdout, /\ntodos +0\ndefinitions +compared\nAll is well\.\n$/);
  const large = `sqlite:${newPath()}`;
  await importWhole(large);
  const { code, stderr } = await runProgram(['export', join(small, 'todos.jsonl'), '--database', large]);
  assert.equal(code, 74);
  assert.match(stderr, /^Cannot export: ENOSPC: [^\n]*\n$/);
  assert.deepEqual(readdirSync(small).sort(), ['todos.db', 'todos.db-owner']);
});

/** Databases of 60,000 todos, each with a word of its own, and a backup of each. */
async function twoBackups() {
  return Promise.all(
    ['one', 'two'].map(async (word) => {
      const path = await newDatabase();
      fill(path, 60_000, `printf('${word} %080d', i)`);
      const copy = newPath(`${word}.db`);
      await runProgram(['backup', copy, '--database', `sqlite:${path}`]);
      return { word, path, copy };
    }),
  );
}

/** The one word of all todos of a file that is whole. */
function wordOf(path: string): 'one' | 'two' {
  using database = new DatabaseSync(path);
  assert.deepEqual(Object.values(database.prepare('PRAGMA integrity_check').get() ?? {}), ['ok']);
  const all = database
    .prepare('SELECT substr(title, 1, 3) AS word, count(*) AS todos FROM todos GROUP BY 1')
    .all();
  assert.deepEqual(
    all.map(({ todos }) => todos),
    [60_000],
  );
  return all[0]?.word === 'one' ? 'one' : 'two';
}

for (const signal of ['SIGKILL', 'SIGINT'] as const) {
  test(`a restore that ${signal} ends at any moment leaves the old database or the restored one, whole, and can be done again [E3; E6]`, async () => {
    const [one, two] = await twoBackups();
    assert.ok(one !== undefined && two !== undefined);
    const { path } = one;
    const other = { one: two, two: one };
    const ends = new Set<unknown>();
    let longest = 0;
    for (let kill = 0; kill < 10; kill += 1) {
      const before = wordOf(path);
      const wanted = other[before];
      const began = performance.now();
      const child = start(['restore', wanted.copy], { TODO_DATABASE: `sqlite:${path}` });
      child.stdout.resume();
      // The latest that came to its end shows how long one takes. Each ninth of that gets a signal: the first surely ends it.
      const moment = ((kill - 1 + Math.random()) / 9) * longest;
      const timer = kill === 0 ? undefined : setTimeout(() => child.kill(signal), moment);
      const { end, said } = await endOf(child);
      clearTimeout(timer);
      if (end === 0) longest = performance.now() - began;
      ends.add(end);
      const after = wordOf(path);
      if (end === 0) assert.equal(after, wanted.word);
      else if (signal === 'SIGINT') assert.equal(after, before);
      const beside = readdirSync(dirname(path)).filter((name) => /^todos\.db\.2\S+Z$/.test(name));
      for (const name of beside) {
        const file = join(dirname(path), name);
        // An empty file takes the name before the copy gets it: SIGKILL may leave that.
        if (signal !== 'SIGKILL' || statSync(file).size > 0) assert.equal(wordOf(file), before);
        rmSync(file);
      }
      if (signal === 'SIGKILL') continue;
      assert.ok(
        end === 0 || end === 'SIGINT' || /it was ended by SIGINT, and nothing was changed/.test(said),
        said,
      );
      assert.deepEqual(readdirSync(dirname(path)).sort(), ['todos.db', 'todos.db-owner']);
    }
    assert.ok(ends.size > 1, `ended by ${[...ends]} alone`);
    const { code, stderr } = await runProgram(['restore', two.copy, '--database', `sqlite:${path}`]);
    assert.equal(code, 0);
    assert.equal(wordOf(path), 'two');
    const left = readdirSync(dirname(path)).filter((name) => name.endsWith('.partial'));
    for (const name of left) assert.ok(stderr.includes(name));
  });
}

test('on a disk that is full, a restore changes nothing and leaves nothing; with room it is done [E3]', {
  skip: noMounts(),
}, async () => {
  const [one, two] = await twoBackups();
  assert.ok(one !== undefined && two !== undefined);
  const { size } = statSync(one.path);
  const small = newPath('small');
  using _mounted = mountDisk(small, `${Math.round(size * 4.6)}`);
  const path = join(small, 'todos.db');
  copyFileSync(one.path, path);
  const restored = () => runProgram(['restore', two.copy, '--database', `sqlite:${path}`]);
  // None for the copy of the backup, for that of the old one, for the log of SQLite.
  for (const room of [0.5, 1.5, 2.5]) {
    const filler = join(small, 'filler');
    writeFileSync(filler, Buffer.alloc(Math.round(size * (3.6 - room))));
    const { code, stderr } = await restored();
    assert.equal(code, 69);
    assert.match(stderr, /^Cannot restore: [^\n]*(?:full|ENOSPC)[^\n]*\n$/);
    assert.deepEqual(readdirSync(small).sort(), ['filler', 'todos.db', 'todos.db-owner']);
    rmSync(filler);
    assert.equal(wordOf(path), 'one');
  }
  // On a machine that has much to do, it says how far it is.
  assert.equal((await restored()).code, 0);
  assert.equal(wordOf(path), 'two');
});

test('on a disk that has room for a database and no log beside it, a restore of an export is whole [E3]', {
  skip: noMounts(),
}, async () => {
  const [file, roomy, small] = [newPath('x.jsonl'), newPath(), newPath('small')];
  writeFileSync(file, WHOLE);
  await runProgram(['restore', file, '--database', `sqlite:${roomy}`]);
  using _mounted = mountDisk(small, `${Math.round(statSync(roomy).size * 1.5)}`);
  const path = join(small, 'todos.db');
  const { code } = await runProgram(['restore', file, '--database', `sqlite:${path}`]);
  assert.equal(code, 0);
  using database = new DatabaseSync(path);
  assert.deepEqual(database.prepare('SELECT count(*) AS todos FROM todos').get()?.todos, 60_000);
});

test('a restore whose disk keeps nothing ends with 69 and one line, and leaves nothing [E3; E6]', {
  skip: noDisk(),
}, async () => {
  const [file, path, broken] = [newPath('x.jsonl'), await newDatabase(), newPath('broken')];
  writeFileSync(file, exportOf([1]));
  writeFileSync(broken, '');
  const library = await compileDisk(dirname(broken));
  rmSync(`${path}-owner`);
  const disk = { ...library, DISK_FOLDER: dirname(path), DISK_BROKEN: broken };
  const child = start(['restore', file], { ...disk, TODO_DATABASE: `sqlite:${path}` });
  assert.deepEqual(await endOf(child), { end: 69, said: 'Cannot restore: disk I/O error\n' });
  assert.deepEqual(readdirSync(dirname(path)).sort(), ['todos.db', 'todos.db-owner']);
});

test('a restore whose copy cannot be committed says nothing of an unknown outcome: the database is as it was [E3]', {
  skip: noDisk(),
}, async () => {
  const [file, path, broken] = [newPath('x.jsonl'), await newDatabase(), newPath('broken')];
  const library = await compileDisk(dirname(broken));
  const disk = { ...library, DISK_FOLDER: dirname(path), DISK_BROKEN: broken };
  const before = statSync(path).mtimeMs;
  writeFileSync(file, WHOLE);
  const child = start(['restore', file], { ...disk, TODO_DATABASE: `sqlite:${path}` });
  const copies = () => readdirSync(dirname(path)).filter((name) => name.endsWith('.partial'));
  // What no longer fits into memory is written before the commit.
  while (!copies().some((name) => statSync(join(dirname(path), name)).size > 200_000)) {
    assert.equal(child.exitCode, null);
    await sleep(1);
  }
  writeFileSync(broken, '');
  const { end, said } = await endOf(child);
  assert.deepEqual([end, said], [69, 'Cannot restore: disk I/O error\n']);
  assert.equal(statSync(path).mtimeMs, before);
});

test('a backup on a read-only disk is exported', { skip: noMounts() }, async () => {
  const disk = newPath('disk');
  using _mounted = mountDisk(disk, '32m');
  const database = `sqlite:${newPath()}`;
  await importWhole(database);
  await runProgram(['backup', join(disk, 'x.db'), '--database', database]);
  chmodSync(join(disk, 'x.db'), 0o444);
  execFileSync('mount', ['-o', 'remount,ro', disk]);
  const { code, stdout } = await runProgram(['export', '--database', `sqlite:${join(disk, 'x.db')}`]);
  assert.equal(code, 0);
  assert.equal(stdout.split('\n').length, 60_005);
  assert.deepEqual(readdirSync(disk), ['x.db']);
});

test('while nobody reads, the database is touched, and one warning is said', async () => {
  let touched = 0;
  let warned = 0;
  const waiting = forReader(
    async () => {
      touched += 1;
    },
    () => {
      warned += 1;
    },
    { touchMs: 5, stalledMs: 20 },
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  const waited = waiting(promise);
  while (touched < 20) await sleep(5);
  resolve();
  await waited;
  assert.equal(warned, 1);
  const lost = forReader(
    () => Promise.reject(new Error('lost')),
    () => {},
    { touchMs: 5 },
  );
  await assert.rejects(lost(new Promise(() => {})), { message: 'lost' });
});
