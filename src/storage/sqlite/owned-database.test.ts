import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { compileDisk, cutPower, noDisk, runOnDisk, settle } from '../../../test/storage/disk.ts';
import { newDatabase, newPath } from '../../../test/storage/new-files.ts';
import { nameDatabase, openOwned } from './owned-database.ts';

const skip = noDisk();
const library = skip === false ? await compileDisk(dirname(newPath())) : {};

/** What an operator is told. */
function told() {
  const events: Record<string, unknown>[] = [];
  return { events, logEvent: (event: object) => void events.push({ ...event }) };
}

const ignored = () => {};

test('a database that is missing is made, is durable, and says that it is new', async () => {
  const path = newPath();
  const { events, logEvent } = told();
  using owned = await openOwned(path, { logEvent });
  assert.deepEqual([owned.path, owned.isNew, owned.versions.from], [path, true, 0]);
  assert.ok(owned.versions.to > 0);
  assert.equal(owned.database.prepare('PRAGMA journal_mode').get()?.journal_mode, 'wal');
  assert.equal(owned.database.prepare('PRAGMA synchronous').get()?.synchronous, 2);
  assert.equal(owned.database.prepare('PRAGMA busy_timeout').get()?.timeout, 2_000);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(events, []);
  assert.deepEqual(
    readdirSync(dirname(path)).filter((name) => name.includes('.new')),
    [],
  );
});

test('a database that is there is opened, and given free when it is disposed of', async () => {
  const path = await newDatabase();
  const link = newPath('link.db');
  symlinkSync(path, link);
  for (const _ of [1, 2]) {
    using owned = await openOwned(link, { logEvent: ignored, patienceMs: 0 });
    assert.deepEqual([owned.path, owned.isNew, owned.versions.from], [path, false, owned.versions.to]);
    assert.equal(owned.database.isOpen, true);
  }
});

for (const name of ['', ':memory:']) {
  test(`"${name}" is no file`, async () => {
    await assert.rejects(openOwned(name, { logEvent: ignored }), {
      name: 'OperatorError',
      message: /it must be a file/,
    });
  });
}

test('a folder is no file, and gets no lock beside it', async () => {
  const path = newPath('folder');
  mkdirSync(path);
  await assert.rejects(openOwned(path, { logEvent: ignored }), { message: /it must be a file/ });
  assert.deepEqual(readdirSync(dirname(path)), ['folder']);
});

test('an open that fails gives the lock free', async () => {
  const path = newPath();
  writeFileSync(path, '');
  for (const _ of [1, 2]) {
    await assert.rejects(openOwned(path, { logEvent: ignored, patienceMs: 0 }), { message: /it is empty/ });
  }
});

test('a database has one owner, whom a second one names, after its patience [D6]', async () => {
  const path = await newDatabase();
  const { events, logEvent } = told();
  using _owned = await openOwned(path, { logEvent });
  const error = await openOwned(path, { logEvent, patienceMs: 100 }).catch((caught: Error) => caught);
  assert.ok(error instanceof Error);
  const [, owner = '', rest] =
    /it is served by (.*?)(, and was not free within .*)$/.exec(error.message) ?? [];
  assert.match(owner, new RegExp(`^process ${process.pid} on `));
  assert.equal(rest, ', and was not free within 0.1 s. One SQLite file is served by one process');
  assert.equal(Object(error).reason, 'in-use');
  assert.deepEqual(events, [{ event: 'waiting', owner }]);
});

test('a log with pages is told of, a log without is not', async () => {
  const path = await newDatabase();
  const { events, logEvent } = told();
  writeFileSync(`${path}-wal`, Buffer.alloc(33));
  writeFileSync(`${path}-journal`, Buffer.alloc(32));
  const modified = statSync(`${path}-wal`).mtime.toISOString();
  using _owned = await openOwned(path, { logEvent });
  assert.deepEqual(events, [{ event: 'log-found', path: `${path}-wal`, bytes: 33, modified }]);
});

test('a file that gets the name of a database leaves the logs of another aside, and an empty one where it is', () => {
  const [path, unfinished] = [newPath(), newPath('made')];
  const { events, logEvent } = told();
  writeFileSync(unfinished, 'new');
  writeFileSync(`${path}-wal`, 'log');
  writeFileSync(`${path}-journal`, '');
  nameDatabase(unfinished, path, logEvent);
  assert.equal(readFileSync(path, 'utf8'), 'new');
  const [aside = ''] = events.map((event) => String(event.path));
  assert.match(basename(aside), /^todos\.db-wal\.\d{13}$/);
  assert.deepEqual(events, [{ event: 'log-moved', path: aside }]);
  assert.equal(readFileSync(aside, 'utf8'), 'log');
  assert.deepEqual(
    readdirSync(dirname(path)).sort(),
    [basename(aside), 'todos.db', 'todos.db-journal'].sort(),
  );
});

test('a file that cannot get the name leaves the logs where they were', () => {
  const path = newPath();
  const { events, logEvent } = told();
  writeFileSync(`${path}-wal`, 'log');
  assert.throws(() => nameDatabase(newPath('none'), path, logEvent), { code: 'ENOENT' });
  assert.deepEqual([readdirSync(dirname(path)), events], [['todos.db-wal'], []]);
});

test('what a first start that was killed has left is no hindrance', async () => {
  const path = newPath();
  writeFileSync(`${path}.new`, 'half of one');
  using owned = await openOwned(path, { logEvent: ignored });
  assert.equal(owned.isNew, true);
  assert.equal(existsSync(`${path}.new`), false);
});

test('a first start that cannot make its file leaves no database', async () => {
  const path = newPath();
  mkdirSync(join(`${path}.new`, 'kept'), { recursive: true });
  await assert.rejects(openOwned(path, { logEvent: ignored, patienceMs: 0 }), { message: /EEXIST/ });
  assert.equal(existsSync(path), false);
});

test('a first start that fails when its file is made leaves nothing of it', async () => {
  // The log cannot get a longer name.
  const path = newPath('n'.repeat(240));
  writeFileSync(`${path}-wal`, 'log');
  await assert.rejects(openOwned(path, { logEvent: ignored }), { message: /ENAMETOOLONG/ });
  assert.deepEqual(
    readdirSync(dirname(path)).sort(),
    ['-owner', '-wal'].map((suffix) => basename(path) + suffix),
  );
});

/**
 * How `nameDatabase` ends on a disk whose syncs and renames fail from this one on, or at it alone: what is said, the names
 * then, and the names after a power cut.
 */
function namedOn(step: string) {
  const path = newPath();
  const folder = dirname(path);
  const [unfinished, failing, kept, left] = [
    `${path}.made`,
    newPath('failing'),
    newPath('kept'),
    newPath('left'),
  ];
  writeFileSync(unfinished, 'new');
  for (const suffix of ['-journal', '-wal']) writeFileSync(path + suffix, 'log');
  writeFileSync(failing, step);
  settle(folder, kept);
  const said = runOnDisk(
    { ...library, DISK_FOLDER: folder, DISK_FAILING: failing, DISK_KEPT: kept },
    `import { nameDatabase } from '${new URL('./owned-database.ts', import.meta.url)}';
    try {
      nameDatabase('${unfinished}', '${path}', () => {}, (suffix) => '${path}' + suffix + '.1');
      console.log('done');
    } catch (error) {
      console.log(error.name + ': ' + error.message.replaceAll('${folder}/', ''));
    }`,
  );
  cutPower(folder, kept, () => 0, left);
  return [said, ...[folder, left].map((each) => readdirSync(each).sort())];
}

const BEFORE = ['todos.db-journal', 'todos.db-wal', 'todos.db.made'];
const HALF_WAY = ['todos.db-journal.1', 'todos.db-wal.1', 'todos.db.made'];
const AFTER = ['todos.db', 'todos.db-journal.1', 'todos.db-wal.1'];

for (const [step, what, said, names, kept] of [
  // The logs, the folder, the file, the folder.
  [
    '1+',
    'no log can be moved',
    "Error: EIO: i/o error, rename 'todos.db-journal' -> 'todos.db-journal.1'",
    BEFORE,
    BEFORE,
  ],
  [
    '2',
    'the second log cannot be moved',
    "Error: EIO: i/o error, rename 'todos.db-wal' -> 'todos.db-wal.1'",
    BEFORE,
    BEFORE,
  ],
  ['3', 'the new names of logs are not synced', 'Error: EIO: i/o error, fsync', BEFORE, BEFORE],
  [
    '4',
    'the file does not get its name',
    "Error: EIO: i/o error, rename 'todos.db.made' -> 'todos.db'",
    BEFORE,
    BEFORE,
  ],
  [
    '5',
    'the name is not synced',
    'OutcomeUnknown: nobody knows whether it was done: EIO: i/o error, fsync',
    AFTER,
    HALF_WAY,
  ],
  [
    '3+',
    'the logs do not get their names again',
    "OutcomeUnknown: nobody knows whether todos.db-journal.1 and todos.db-wal.1 got the old name again: EIO: i/o error, rename 'todos.db-journal.1' -> 'todos.db-journal'",
    HALF_WAY,
    BEFORE,
  ],
  ['6', 'all goes well', 'done', AFTER, AFTER],
] as const) {
  test(`on a disk where ${what}, the names are as they were, or it is said that nobody knows`, {
    skip,
  }, () => {
    assert.deepEqual(namedOn(step), [said, names, kept]);
  });
}
