import assert from 'node:assert/strict';
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { compileDisk, cutPower, noDisk, runOnDisk, settle } from '../../test/storage/disk.ts';
import { newPath } from '../../test/storage/new-files.ts';
import {
  keepNames,
  makeFolder,
  nameComplete,
  newPrivateFile,
  openNew,
  partialOf,
  unfinishedOf,
} from './durable-files.ts';

const skip = noDisk();
const library = skip === false ? await compileDisk(dirname(newPath())) : {};

const modeOf = (path: string) => statSync(path).mode & 0o777;
const isRoot = process.getuid?.() === 0;

test('a new file is readable by its user alone, and takes the place of none', () => {
  const path = newPath();
  const descriptor = openNew(path);
  assert.equal(fstatSync(descriptor).mode & 0o777, 0o600);
  closeSync(descriptor);
  assert.throws(() => openNew(path), { code: 'EEXIST' });
});

test('an empty file that root makes belongs to the owner who was named, one of another user to that user', () => {
  const [own, given] = [newPath(), newPath()];
  newPrivateFile(own);
  newPrivateFile(given, { uid: 65_533, gid: 65_534 });
  const user = { uid: process.getuid?.(), gid: process.getgid?.() };
  const ownerOf = (path: string) => {
    const { uid, gid } = statSync(path);
    return { uid, gid };
  };
  assert.deepEqual(ownerOf(own), user);
  assert.deepEqual(ownerOf(given), isRoot ? { uid: 65_533, gid: 65_534 } : user);
  assert.deepEqual([modeOf(own), statSync(own).size], [0o600, 0]);
});

test('an empty file that another user than root makes belongs to that user', {
  skip: !isRoot && 'needs root',
}, () => {
  const path = newPath();
  chmodSync(dirname(dirname(path)), 0o711);
  chmodSync(dirname(path), 0o777);
  process.seteuid?.(65_534);
  try {
    newPrivateFile(path, { uid: 0, gid: 0 });
  } finally {
    process.seteuid?.(0);
  }
  assert.equal(statSync(path).uid, 65_534);
});

test('no descriptor stays open', { skip: process.platform !== 'linux' && 'needs /proc' }, () => {
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  const [file, partial] = [newPath(), newPath()];
  newPrivateFile(partial);
  keepNames(dirname(file));
  nameComplete(partial, file);
  // A change of the owner fails where root asks for one.
  if (isRoot)
    assert.throws(() => newPrivateFile(newPath(), { uid: -2, gid: 0 }), { code: 'ERR_OUT_OF_RANGE' });
  assert.equal(open(), before);
});

test('the name of a partial file is one of its own beside the file', () => {
  assert.match(partialOf('copy'), /^\/.*\/copy\.[0-9a-f]{12}\.partial$/);
  assert.notEqual(partialOf('copy'), partialOf('copy'));
});

test('the unfinished files of a file are those of its name, each with its age', () => {
  const file = newPath('copy');
  const partial = partialOf(file);
  for (const path of [
    partial,
    file,
    partialOf(`${file}2`),
    partialOf(`${file}.2`),
    `${partial}.x`,
    `${file}.partial`,
  ])
    writeFileSync(path, '');
  // As one that is gone by the time it is looked at.
  symlinkSync(newPath('none'), partialOf(file));
  utimesSync(partial, Date.now() / 1_000, Date.now() / 1_000 - 60);
  const [found, ...others] = unfinishedOf(file);
  assert.deepEqual([found?.path, others], [partial, []]);
  assert.ok(Math.abs((found?.ageMs ?? 0) - 60_000) < 30_000, `${found?.ageMs} ms`);
});

test('a folder that is not there has no unfinished files', () => {
  assert.deepEqual(unfinishedOf(join(newPath('none'), 'copy')), []);
});

test('a complete file gets its name, and replaces none that has got it meanwhile', () => {
  const file = newPath('copy');
  const partial = partialOf(file);
  writeFileSync(partial, 'first');
  nameComplete(partial, file);
  writeFileSync(partial, 'second');
  assert.throws(() => nameComplete(partial, file), { code: 'EEXIST' });
  assert.equal(readFileSync(file, 'utf8'), 'first');
  assert.equal(readFileSync(partial, 'utf8'), 'second');
});

test('a complete file that cannot get its name leaves nothing of that name', () => {
  const file = newPath('copy');
  assert.throws(() => nameComplete(partialOf(file), file), { code: 'ENOENT' });
  assert.deepEqual(readdirSync(dirname(file)), []);
});

test('missing folders are made for their user alone, and those that are there stay as they are', () => {
  const top = dirname(newPath());
  const folder = join(top, 'one', 'two');
  makeFolder(folder);
  assert.deepEqual([folder, dirname(folder)].map(modeOf), [0o700, 0o700]);
  writeFileSync(join(folder, 'file'), '');
  makeFolder(folder);
  assert.ok(existsSync(join(folder, 'file')));
});

test('folders that were made go when they are empty, and stay with a file; those that were there stay [E7]', () => {
  const top = dirname(newPath());
  makeFolder(join(top, 'one', 'two'))[Symbol.dispose]();
  assert.deepEqual(readdirSync(top), []);
  const made = makeFolder(join(top, 'one', 'two'));
  writeFileSync(join(top, 'one', 'file'), '');
  made[Symbol.dispose]();
  makeFolder(join(top, 'one'))[Symbol.dispose]();
  assert.deepEqual(readdirSync(top, { recursive: true }).sort(), ['one', 'one/file']);
});

test('a folder that has come meanwhile is as good as made', () => {
  // The first step makes `one`, and the path with it.
  makeFolder(`${join(dirname(newPath()), 'one')}/..`);
});

test('a folder that cannot be made is an error, also below a folder that takes none', () => {
  const file = newPath();
  writeFileSync(file, '');
  assert.throws(() => makeFolder(join(file, 'one')), { code: 'ENOTDIR' });
  assert.throws(() => makeFolder(join(dirname(file), 'one', 'x'.repeat(256))), { code: 'ENAMETOOLONG' });
  assert.deepEqual(readdirSync(dirname(file)), [basename(file)]);
  assert.throws(() => makeFolder('/proc/none/one'), {
    code: process.platform === 'linux' ? 'ENOENT' : undefined,
  });
});

/** Runs code with this module's functions and `folder`, on a disk. The result is the code of its error. */
function runOn(folder: string, variables: Readonly<Record<string, string>>, code: string): string {
  return runOnDisk(
    { ...library, DISK_FOLDER: folder, ...variables },
    `import { writeFileSync } from 'node:fs';
    import * as files from '${new URL('./durable-files.ts', import.meta.url)}';
    const folder = '${folder}';
    try { ${code} } catch (error) { console.log(error.code); }`,
  );
}

for (const [what, code, names] of [
  ['a name that was not kept is lost', "writeFileSync(folder + '/a', '');", []],
  ['a name that was kept is there', "writeFileSync(folder + '/a', ''); files.keepNames(folder);", ['a']],
  [
    'a complete file has its name',
    "writeFileSync(folder + '/a', ''); files.nameComplete(folder + '/a', folder + '/b');",
    ['b'],
  ],
  ['a new folder, and those that it is in, are there', "files.makeFolder(folder + '/a/b');", ['a', 'a/b']],
] as const) {
  test(`${what} after a power cut [E8]`, { skip }, () => {
    const [folder, kept, left] = [newPath('work'), newPath('kept'), newPath('left')];
    mkdirSync(folder);
    settle(folder, kept);
    assert.equal(runOn(folder, { DISK_KEPT: kept }, code), '');
    cutPower(folder, kept, () => 0, left);
    assert.deepEqual(readdirSync(left, { recursive: true }).sort(), names);
  });
}

test('a folder whose name may be lost in a power cut is an error', { skip }, () => {
  const [folder, failing] = [newPath('work'), newPath('failing')];
  mkdirSync(folder);
  writeFileSync(failing, '1');
  assert.equal(runOn(folder, { DISK_FAILING: failing }, "files.makeFolder(folder + '/a');"), 'EIO');
});
