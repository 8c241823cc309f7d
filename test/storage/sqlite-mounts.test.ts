import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { isMountedAlone } from '../../src/storage/sqlite/file-system.ts';
import { openSqliteMaintenance } from '../../src/storage/sqlite/maintenance.ts';
import { lockFile } from '../../src/storage/sqlite/owner-lock.ts';
import { openExport } from '../../src/storage/sqlite/transfer.ts';
import { bindMount, mountDisk, noMounts } from '../support/folder.ts';
import { runCommand } from '../support/run-command.ts';
import { todo } from '../support/todo.ts';
import { execute, newDatabase, newPath } from './new-files.ts';
import { start } from './sqlite-starter.ts';
import { migrateSqlite, openSqliteStore } from './sqlite-store.ts';
import { addedTo, listed } from './todos.ts';

const skip = noMounts();

const ALONE = 'it is mounted alone, and SQLite keeps its log beside it: mount its folder in its place';

/** A database that is mounted over an empty file, as `docker --volume ./todos.db:/data/todos.db` does. */
async function mountedAlone(place = newPath(), path?: string) {
  writeFileSync(place, '');
  const mount = bindMount(path ?? (await newDatabase()), place);
  return { path: place, [Symbol.dispose]: () => mount[Symbol.dispose]() };
}

test('every command refuses a file that is mounted alone, before it makes one beside it (69) [D6]', {
  skip,
}, async () => {
  const exported = newPath('b.jsonl');
  assert.equal(
    (await runCommand(['export', exported, '--database', `sqlite:${await newDatabase()}`])).code,
    0,
  );
  using file = await mountedAlone();
  for (const words of [
    ['serve', '--port', '0', '--environment', 'development', '--data-dir', dirname(newPath())],
    ['migrate'],
    ['check'],
    ['categories', 'list'],
    ['backup', newPath('copy.db')],
    ['export', newPath('x.jsonl')],
    ['import', exported],
    ['restore', exported],
  ]) {
    const { code, stderr } = await runCommand([...words, '--database', `sqlite:${file.path}`]);
    const [line = ''] = stderr.split('\n');
    assert.deepEqual([words[0], code], [words[0], 69]);
    assert.ok(line.endsWith(`: Cannot open the database "${file.path}": ${ALONE}`), line);
  }
  assert.deepEqual(readdirSync(dirname(file.path)), ['todos.db']);
});

/** A file is refused by those who would serve it, by those who work beside them, and by who only reads. */
async function refused(path: string): Promise<void> {
  const wanted = { name: 'OperatorError', message: `Cannot open the database "${path}": ${ALONE}` };
  await assert.rejects(openSqliteStore(path), wanted);
  assert.throws(() => openSqliteMaintenance(path), wanted);
  await assert.rejects(openExport(path), wanted);
}

/** A file is served, and all others find what is written. */
async function taken(path: string): Promise<void> {
  await using store = await openSqliteStore(path);
  await addedTo(store, 'a');
  assert.deepEqual(await listed(store), [todo(1, 'a')]);
  await using operator = openSqliteMaintenance(path);
  assert.equal((await operator.inspect()).facts.todos, 1);
  await using source = await openExport(path);
  assert.equal(source.counts.todos, 1);
}

test('a file is refused wherever it is mounted alone: twice, from another disk, in a mounted folder, behind a link [D6]', {
  skip,
}, async () => {
  const path = await newDatabase();
  using first = await mountedAlone(newPath(), path);
  using second = await mountedAlone(newPath(), path);
  for (const each of [first, second]) await refused(each.path);

  const disk = join(dirname(newPath()), 'disk');
  using _disk = mountDisk(disk, '4m');
  await migrateSqlite(join(disk, 'todos.db'));
  using fromDisk = await mountedAlone(newPath(), join(disk, 'todos.db'));
  await refused(fromDisk.path);

  const folder = dirname(newPath());
  using _folder = bindMount(dirname(newPath()), folder);
  using nested = await mountedAlone(join(folder, 'todos.db'));
  await refused(nested.path);

  const [link, linked] = [newPath(), newPath('current')];
  symlinkSync(first.path, link);
  symlinkSync(dirname(first.path), linked);
  for (const each of [link, join(linked, 'todos.db')]) await refused(each);

  using _itself = bindMount(path, path);
  await refused(path);
});

test('a file is served in a folder that is mounted: once or in another, of a disk, of layers, and behind a link [D6]', {
  skip,
}, async () => {
  const folder = dirname(newPath());
  using _folder = bindMount(dirname(await newDatabase()), folder);
  await taken(join(folder, 'todos.db'));

  const inner = join(folder, 'inner');
  mkdirSync(inner);
  using _inner = bindMount(dirname(await newDatabase()), inner);
  await taken(join(inner, 'todos.db'));

  const disk = join(dirname(newPath()), 'disk');
  using _disk = mountDisk(disk, '16m');
  await taken(join(disk, 'todos.db'));

  const [lower, upper, work, merged] = ['lower', 'upper', 'work', 'merged'].map((name) => join(disk, name));
  for (const each of [lower, upper, work, merged]) mkdirSync(each ?? '');
  await migrateSqlite(`${lower}/todos.db`);
  const layers = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
  execFileSync('mount', ['-t', 'overlay', '-o', layers, 'overlay', merged ?? '']);
  using _layers = { [Symbol.dispose]: () => void execFileSync('umount', [merged ?? '']) };
  await taken(`${merged}/todos.db`);
  await taken(`${merged}/new.db`);

  const link = newPath();
  const linked = join(inner, 'linked.db');
  symlinkSync(linked, link);
  await migrateSqlite(linked);
  await taken(link);
});

test('a database is refused of which the lock, or a file that SQLite keeps beside it, is mounted alone [D6]', {
  skip,
}, async () => {
  for (const suffix of ['-owner', '-wal', '-shm', '-journal']) {
    const path = await newDatabase();
    const elsewhere = newPath();
    for (const each of [path + suffix, elsewhere]) appendFileSync(each, '');
    using _mount = bindMount(elsewhere, path + suffix);
    const { code, stderr } = await runCommand(['migrate', '--database', `sqlite:${path}`]);
    const why = ALONE.replace('it is', `"todos.db${suffix}" is`);
    assert.deepEqual([code, stderr], [69, `Cannot migrate: Cannot open the database "${path}": ${why}\n`]);
  }
});

test('a database that is mounted alone is no backup of itself [E3]', { skip }, async () => {
  const path = await newDatabase();
  using itself = await mountedAlone(newPath('b.db'), path);
  const { code, stderr } = await runCommand(['restore', itself.path, '--database', `sqlite:${path}`]);
  assert.deepEqual([code, stderr], [65, `Cannot restore: "${itself.path}": it is the database itself\n`]);
});

test('a backup that is mounted alone is restored; an export of it is refused [D6; E3]', {
  skip,
}, async () => {
  const [path, copy, target] = [await newDatabase(), newPath('copy.db'), await newDatabase()];
  execute(path, "INSERT INTO todos (title, category_id) VALUES ('saved', 1)");
  assert.equal((await runCommand(['backup', copy, '--database', `sqlite:${path}`])).code, 0);
  using backup = await mountedAlone(newPath('b.db'), copy);
  const exported = await runCommand(['export', newPath('x'), '--database', `sqlite:${backup.path}`]);
  assert.deepEqual([exported.code, exported.stderr.endsWith(`": ${ALONE}\n`)], [69, true], exported.stderr);
  const restored = await runCommand(['restore', backup.path, '--database', `sqlite:${target}`]);
  assert.deepEqual([restored.code, restored.stderr], [0, '']);
  await using store = await openSqliteStore(target);
  assert.deepEqual(await listed(store), [todo(1, 'saved')]);
});

test('the look at the mount of a file drops no lock of this process, and finds none where the system has no word of it [D6]', async () => {
  const path = newPath();
  using _lock = await lockFile(path, 0, () => {});
  assert.equal(isMountedAlone(`${path}-owner`), false);
  await using other = start(path, 0);
  assert.equal((await other.said).outcome, 'in-use');
  assert.equal(isMountedAlone(newPath('missing'), 'darwin'), false);
});
