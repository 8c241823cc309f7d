import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { existing } from '../../src/storage/sqlite/file.ts';
import { closedToOthers, mountDisk, noMounts, temporaryFolder } from '../support/folder.ts';
import { runCommand } from '../support/run-command.ts';
import { runProgram } from '../support/start.ts';
import { newPath } from './new-files.ts';
import { migrateSqlite } from './sqlite-store.ts';

// Rights do not bind root: as root, the programs run as another user; else, as the one who runs the tests.
const root = process.getuid?.() === 0;
const skip = closedToOthers();
const uid = root ? 65_534 : (process.getuid?.() ?? 0);
const gid = root ? 65_534 : (process.getgid?.() ?? 0);

// That user may not read the compiled modules that others have kept.
const compiled = await temporaryFolder();
after(() => compiled[Symbol.asyncDispose]());
if (root) chownSync(compiled.path, uid, gid);

function run(...words: readonly string[]) {
  return runProgram(words, root ? { user: { uid, gid }, env: { NODE_COMPILE_CACHE: compiled.path } } : {});
}

/** A database in a folder, both of the user who runs the programs; every command that opens it. */
async function ownFile() {
  const outer = dirname(newPath());
  const folder = join(outer, 'data');
  const path = join(folder, 'todos.db');
  await migrateSqlite(path);
  if (root)
    for (const each of [dirname(outer), outer, folder, path, `${path}-owner`]) chownSync(each, uid, gid);
  return {
    folder,
    path,
    commands: [
      ['check'],
      ['backup', join(outer, 'copy.db')],
      ['migrate'],
      ['serve', '--port', '0', '--environment', 'development', '--data-dir', outer],
    ].map((words) => [...words, '--database', `sqlite:${path}`]),
    [Symbol.dispose]: () => chmodSync(folder, 0o700),
  };
}

/** Each of these ends with 69 and says this on standard error. */
async function refused(commands: readonly (readonly string[])[], wanted: RegExp): Promise<void> {
  for (const words of commands) {
    const { code, stderr } = await run(...words);
    assert.equal(code, 69);
    assert.match(stderr, wanted);
  }
}

test('every command says EACCES of a folder that its user may not look into', { skip }, async () => {
  using file = await ownFile();
  chmodSync(file.folder, 0o600);
  await refused(file.commands, /^Cannot [^\n]*: EACCES: permission denied, [^\n]*\n$/);
});

test('every command names owner and mode of a file that its user may not read, and the user', {
  skip,
}, async () => {
  using file = await ownFile();
  chmodSync(file.path, 0o000);
  if (root) chownSync(file.path, 1, 1);
  const [owner, group] = root ? [1, 1] : [uid, gid];
  const belongs = `it belongs to user ${owner} and group ${group}, and its mode is 000 \\(EACCES\\)`;
  const reason = `Cannot open the database "${file.path}": user ${uid} may not read and write "todos.db": ${belongs}\n$`;
  await refused(file.commands, new RegExp(reason));
});

test('export names owner and mode of a file that its user may not read, and the user', { skip }, async () => {
  using file = await ownFile();
  chmodSync(file.path, 0o000);
  const words = ['export', join(file.folder, 'e.jsonl'), '--database', `sqlite:${file.path}`];
  await refused([words], new RegExp(`user ${uid} may not read "todos\\.db": it belongs to user ${uid} and `));
});

test('a start on a file that may only be read leaves nothing behind that outlives the mistake', {
  skip,
}, async () => {
  using file = await ownFile();
  chmodSync(file.path, 0o400);
  const restore = ['restore', file.path, '--database', `sqlite:${file.path}`];
  for (const words of [...file.commands, restore]) {
    await refused(
      [words],
      /"todos\.db": it belongs to user \d+ and group \d+, and its mode is 400 \(EACCES\)\n$/,
    );
    for (const suffix of ['-wal', '-shm']) assert.equal(existsSync(file.path + suffix), false);
  }
  chmodSync(file.path, 0o600);
  assert.equal((await run('migrate', '--database', `sqlite:${file.path}`)).code, 0);
});

test('migrate and serve name a todos.db-owner that their user may not write', { skip }, async () => {
  using file = await ownFile();
  chmodSync(`${file.path}-owner`, 0o400);
  const reason = new RegExp(`user ${uid} may not read and write "todos.db-owner": it belongs`);
  await refused(file.commands.slice(-2), reason);
});

test('a connection that may only read makes no todos.db-shm', async () => {
  using file = await ownFile();
  using database = new DatabaseSync(existing(file.path, true));
  assert.throws(() => database.exec('SELECT 1 FROM todos'), { message: 'unable to open database file' });
  assert.equal(existsSync(`${file.path}-shm`), false);
});

test('who may only read a file may check and copy it beside the process that has it open, and leaves nothing behind', {
  skip,
}, async () => {
  using file = await ownFile();
  const copies = join(file.folder, '..', 'copies');
  mkdirSync(copies);
  if (root) chownSync(copies, uid, gid);
  using other = new DatabaseSync(file.path);
  other.exec('PRAGMA journal_mode = WAL; SELECT 1 FROM todos');
  for (const suffix of ['', '-wal', '-shm']) {
    if (root) chownSync(file.path + suffix, 1, 1);
    chmodSync(file.path + suffix, root ? 0o644 : 0o444);
  }
  const database = ['--database', `sqlite:${file.path}`];
  const checked = await run('check', ...database);
  assert.deepEqual([checked.code, checked.stderr], [0, '']);
  const copied = await run('backup', join(copies, 'copy.db'), ...database);
  assert.deepEqual([copied.code, copied.stderr], [0, '']);
  await refused([['categories', 'add', 'Garden', ...database]], /^Cannot /);
  assert.equal(statSync(`${file.path}-shm`).uid, root ? 1 : uid);
});

test('every command says of a file system that it is mounted read-only, and nothing of owner and mode', {
  skip: noMounts(),
}, async () => {
  const path = join(dirname(newPath()), 'disk');
  using _disk = mountDisk(path, '4m');
  await migrateSqlite(join(path, 'todos.db'));
  execFileSync('mount', ['-o', 'remount,ro', path]);
  for (const [name, words] of [
    ['todos.db', 'may not read and write "todos.db"'],
    ['new.db', 'may not make files in "disk"'],
  ])
    for (const command of [['migrate'], ['serve', '--port', '0', '--environment', 'development']]) {
      const { code, stderr } = await runCommand([...command, '--database', `sqlite:${path}/${name}`]);
      const reason = `Cannot open the database "${path}/${name}": user 0 ${words}: its file system is mounted read-only`;
      assert.deepEqual(
        [code, stderr.split('\n')[0]?.split(': ').slice(1).join(': ')],
        [69, `${reason} (EROFS)`],
      );
    }
});

test('every command says of a file that it is immutable', { skip: noAttributes() }, async () => {
  using file = await ownFile();
  using _mutable = { [Symbol.dispose]: () => void execFileSync('chattr', ['-i', file.path]) };
  execFileSync('chattr', ['+i', file.path]);
  for (const words of file.commands) {
    const { code, stderr } = await runCommand(words);
    assert.equal(code, 69);
    assert.match(
      stderr,
      /user 0 may not read and write "todos\.db": it may be immutable, which "lsattr" shows \(EPERM\)\n$/,
    );
  }
});

/** Why a test that makes a file immutable is left out, or false. */
function noAttributes(): string | false {
  const file = newPath('immutable');
  writeFileSync(file, '');
  const made = root && spawnSync('chattr', ['+i', file]).status === 0;
  if (made) execFileSync('chattr', ['-i', file]);
  return made ? false : 'needs root on Linux, and a file system with attributes';
}

test('what root migrates, after the file beside it was lost, its user opens again', {
  skip: root ? skip : 'needs root: runs a command as root, and one as another user',
}, async () => {
  using file = await ownFile();
  rmSync(`${file.path}-owner`);
  const database = ['--database', `sqlite:${file.path}`];
  const byRoot = await runCommand(['migrate', ...database]);
  assert.equal(byRoot.code, 0, byRoot.stderr);
  const byUser = await run('migrate', ...database);
  assert.equal(byUser.code, 0, byUser.stderr);
  assert.equal(statSync(`${file.path}-owner`).uid, uid);
});
