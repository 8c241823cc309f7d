import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compileDisk, noDisk, runOnDisk } from '../../../test/storage/disk.ts';
import { newDatabase, newPath } from '../../../test/storage/new-files.ts';
import { bindMount, closedToOthers, mountDisk, noMounts } from '../../../test/support/folder.ts';
import {
  checkFile,
  checkKind,
  checkLength,
  checkReadable,
  checkWritable,
  existing,
  identityOf,
  knownFile,
  lookAt,
  openExisting,
  openKnown,
  ownerFor,
  removeDatabase,
  resolvePath,
} from './file.ts';

const skip = noDisk();
/** Rights do not bind root. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const library = skip === false ? await compileDisk(dirname(newPath())) : {};

test('a path is absolute, with every link resolved; its folder is made, the file is not', () => {
  const folder = realpathSync(dirname(newPath()));
  const link = newPath('link');
  symlinkSync(folder, link);
  assert.equal(resolvePath(join(link, 'data', 'todos.db')), join(folder, 'data', 'todos.db'));
  assert.equal(statSync(join(folder, 'data')).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(join(folder, 'data')), []);
  assert.equal(resolvePath(relative('.', join(folder, 'x.db'))), join(folder, 'x.db'));
  writeFileSync(join(folder, 'real.db'), '');
  symlinkSync(join(folder, 'real.db'), join(folder, 'linked.db'));
  assert.equal(resolvePath(join(folder, 'linked.db')), join(folder, 'real.db'));
});

test('a link that leads nowhere is no path', () => {
  const path = newPath();
  symlinkSync(newPath('none'), path);
  assert.throws(() => resolvePath(path), { code: 'ENOENT' });
});

test('a file is refused that is missing, empty, a folder, or has two names', async () => {
  const path = newPath();
  assert.throws(() => checkFile(path), { message: 'there is no such file, "todo-service serve" makes it' });
  assert.equal(checkKind(path), undefined);
  assert.throws(() => checkKind(dirname(path)), { message: 'it must be a file' });
  writeFileSync(path, '');
  assert.throws(() => checkFile(path), {
    message:
      'it is empty, as after an interrupted copy: restore a backup, or remove it to begin with no todos',
  });
  writeFileSync(path, 'x');
  checkFile(path);
  linkSync(path, `${path}2`);
  assert.throws(() => checkFile(path), {
    message: 'it has 2 names (hard links), and SQLite keeps another log for each: remove all but one',
  });
});

test('a path has at most 504 bytes', () => {
  checkLength(`/${'é'.repeat(251)}x`);
  assert.throws(() => checkLength(`/a/${'é'.repeat(251)}`), {
    message: `the path of "${'é'.repeat(251)}" must have at most 504 bytes for SQLite, received 505`,
  });
});

test('a path of more bytes is neither read nor written', () => {
  const path = `/a/${'é'.repeat(251)}`;
  for (const check of [checkWritable, checkReadable])
    assert.throws(() => check(path), { message: /must have at most 504 bytes/ });
});

test('a file that is mounted alone is refused, and one beside which a log is [D6]', {
  skip: noMounts(),
}, () => {
  const [file, path] = [newPath(), newPath()];
  for (const each of [file, path]) writeFileSync(each, 'x');
  const alone = 'is mounted alone, and SQLite keeps its log beside it: mount its folder in its place';
  {
    using _mount = bindMount(file, path);
    assert.throws(() => checkKind(path), { message: `it ${alone}` });
  }
  for (const suffix of ['-journal', '-wal', '-shm', '-owner']) {
    writeFileSync(path + suffix, '');
    using _mount = bindMount(file, path + suffix);
    assert.throws(() => checkKind(path), { message: `"todos.db${suffix}" ${alone}` });
  }
});

test('a disk that is mounted read-only is the reason, whoever asks', { skip: noMounts() }, () => {
  const disk = newPath('disk');
  using _disk = mountDisk(disk, '64k');
  const path = join(disk, 'todos.db');
  writeFileSync(path, 'x');
  execFileSync('mount', ['-o', 'remount,ro', disk]);
  checkReadable(path);
  assert.throws(() => checkWritable(path), {
    message: `user ${process.getuid?.()} may not read and write "todos.db": its file system is mounted read-only (EROFS)`,
  });
});

/** What these functions say of these paths, `ok` for nothing, to a user whose rights bind. */
function saidToUser(calls: readonly (readonly [name: string, path: string])[]): readonly string[] {
  const module = `import * as files from '${new URL('./file.ts', import.meta.url)}';
    for (const [name, path] of ${JSON.stringify(calls)})
      try { files[name](path); console.log('ok'); } catch (error) { console.log(error.message); }`;
  const said = execFileSync(process.execPath, ['-e', module], { ...USER, env: {}, encoding: 'utf8' });
  return said.trim().split('\n');
}

test('a file, a log or a folder whose user may not do what SQLite needs is named with its owner and mode', {
  skip: closedToOthers(),
}, () => {
  const { uid = process.getuid?.(), gid = process.getgid?.() } = USER;
  /** A database, its files with these modes, in a folder with this one. */
  const withModes = (modes: Readonly<Record<string, number>>, folderMode = 0o700) => {
    const outer = dirname(newPath());
    const folder = join(outer, 'data');
    mkdirSync(folder);
    for (const each of [dirname(outer), outer]) chmodSync(each, 0o711);
    const path = join(folder, 'todos.db');
    for (const [suffix, mode] of Object.entries(modes)) {
      writeFileSync(path + suffix, 'x');
      chmodSync(path + suffix, mode);
      if (USER.uid !== undefined) chownSync(path + suffix, USER.uid, USER.gid);
    }
    if (USER.uid !== undefined) chownSync(folder, USER.uid, USER.gid);
    chmodSync(folder, folderMode);
    return path;
  };
  const belongs = (mode: string) =>
    `it belongs to user ${uid} and group ${gid}, and its mode is ${mode} (EACCES)`;
  const may = (action: string, name: string, mode: string) =>
    `user ${uid} may not ${action} "${name}": ${belongs(mode)}`;
  const [own, read] = [{ '': 0o600 }, { '': 0o400 }];
  const table = [
    ['checkWritable', withModes(own), 'ok'],
    ['checkWritable', withModes(read), may('read and write', 'todos.db', '400')],
    ['checkReadable', withModes(read), 'ok'],
    ['checkWritable', withModes({ ...own, '-wal': 0o400 }), may('read and write', 'todos.db-wal', '400')],
    ['checkReadable', withModes({ ...read, '-wal': 0o400 }), 'ok'],
    ['checkReadable', withModes({ ...read, '-wal': 0o040 }), may('read', 'todos.db-wal', '040')],
    ['checkWritable', withModes(own, 0o500), may('make files in', 'data', '500')],
    ['checkWritable', withModes({ ...own, '-shm': 0o600 }, 0o500), 'ok'],
    ['openExisting', withModes(read, 0o500), may('read and write', 'todos.db', '400')],
    ['openExisting', withModes({ ...read, '-shm': 0o400 }, 0o500), 'ok'],
    ['openExisting', withModes({ '': 0o000, '-shm': 0o400 }), may('read', 'todos.db', '000')],
  ] as const;
  assert.deepEqual(
    saidToUser(table.map(([name, path]) => [name, path])),
    table.map(([, , said]) => said),
  );
});

test('the owner is that of the database, or of its folder', {
  skip: process.getuid?.() !== 0 && 'needs root',
}, () => {
  const path = newPath();
  chownSync(dirname(path), 65_534, 65_534);
  assert.equal(ownerFor(path).uid, 65_534);
  writeFileSync(path, '');
  assert.equal(ownerFor(path).uid, 0);
});

test('a database goes with all that SQLite puts beside it, and nothing else; what cannot go is left', () => {
  const path = newPath();
  for (const suffix of ['', '-wal', '-shm', '-journal', '-owner']) writeFileSync(path + suffix, '');
  removeDatabase(path);
  assert.deepEqual(readdirSync(dirname(path)), ['todos.db-owner']);
  mkdirSync(path);
  writeFileSync(`${path}-shm`, '');
  removeDatabase(path);
  assert.deepEqual(readdirSync(dirname(path)).sort(), ['todos.db', 'todos.db-owner']);
});

test('a file that is opened must be there: SQLite makes none', async () => {
  const path = newPath();
  assert.throws(() => openExisting(path), { message: 'unable to open database file' });
  assert.equal(existsSync(path), false);
  const made = await newDatabase();
  using database = openExisting(made);
  assert.equal(database.prepare('PRAGMA busy_timeout').get()?.timeout, 5_000);
  database.exec('SELECT 1 FROM todos');
  // Beside the process that has it open, too, where its user may write.
  using beside = openExisting(made);
  beside.exec("UPDATE categories SET name = 'Home' WHERE id = 1");
});

test('the address of a file says that SQLite makes none, and may not write it', () => {
  assert.equal(fileURLToPath(existing('/a/b c.db')), '/a/b c.db');
  assert.equal(existing('/a.db').search, '?mode=rw');
  assert.equal(existing('/a.db', true).search, '?mode=ro&readonly_shm=1');
});

test('a name has an identity while there is something of it', () => {
  const path = newPath();
  assert.equal(identityOf(path), undefined);
  writeFileSync(path, '');
  const { dev, ino } = statSync(path, { bigint: true });
  assert.equal(identityOf(path), `${dev}:${ino}`);
  assert.equal(identityOf(join(path, 'below')), undefined);
  assert.throws(() => identityOf(newPath('n'.repeat(300))), { code: 'ENAMETOOLONG' });
});

for (const suffix of ['', '-wal', '-shm', '-owner']) {
  test(`a todos.db${suffix} that is gone, or is another one, is seen [D11]`, () => {
    const path = newPath();
    for (const each of ['', '-wal', '-shm', '-owner']) writeFileSync(path + each, '');
    const known = knownFile(path, path);
    assert.equal(lookAt(known), undefined);
    const name = `"todos.db${suffix}"`;
    const gone = { failure: 'broken', state: 'gone' };
    renameSync(path + suffix, `${path}.aside`);
    assert.deepEqual(lookAt(known), { ...gone, message: `${name} was deleted or moved away` });
    writeFileSync(path + suffix, '');
    assert.deepEqual(lookAt(known), { ...gone, message: `${name} was replaced by another file` });
    renameSync(`${path}.aside`, path + suffix);
    assert.equal(lookAt(known), undefined);
  });
}

test('a link by which the file was named is looked at too [D11]', () => {
  const [path, other, link] = [newPath(), newPath(), newPath('link.db')];
  for (const each of [path, other])
    for (const suffix of ['', '-wal', '-shm', '-owner']) writeFileSync(each + suffix, '');
  symlinkSync(path, link);
  const known = knownFile(link, path);
  rmSync(link);
  symlinkSync(other, link);
  assert.equal(lookAt(known)?.message, '"link.db" was replaced by another file');
});

test('a name at which nobody can look is unseen [D16]', { skip }, () => {
  const path = newPath();
  for (const each of ['', '-wal', '-shm', '-owner']) writeFileSync(path + each, '');
  const unseen = newPath('unseen');
  const said = runOnDisk(
    { ...library, DISK_FOLDER: dirname(path), DISK_UNSEEN: unseen },
    `import { writeFileSync } from 'node:fs';
    import { knownFile, lookAt } from '${new URL('./file.ts', import.meta.url)}';
    const known = knownFile('${path}', '${path}');
    writeFileSync('${unseen}', '');
    console.log(JSON.stringify(lookAt(known)));`,
  );
  const message = '"todos.db" cannot be looked at: EIO';
  assert.deepEqual(JSON.parse(said), { failure: 'unavailable', state: 'unseen', message });
});

test('another connection is one to the known file alone', async () => {
  const path = await newDatabase();
  using service = openExisting(path);
  service.exec('SELECT 1 FROM sqlite_schema');
  const known = knownFile(path, path);
  {
    using database = openKnown(known, 7);
    assert.equal(database.prepare('PRAGMA busy_timeout').get()?.timeout, 7);
  }
  renameSync(path, `${path}.aside`);
  assert.throws(() => openKnown(known, 7), { message: 'unable to open database file' });
  writeFileSync(path, '');
  assert.throws(() => openKnown(known, 7), { message: '"todos.db" was replaced by another file' });
});
