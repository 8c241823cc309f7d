import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { backupSqlite } from '../../src/storage/sqlite/maintenance.ts';
import { compileDisk, cutPower, noDisk, settle } from '../storage/disk.ts';
import { exportOf } from '../storage/moving.ts';
import { execute, newDatabase, newPath, titlesOf } from '../storage/new-files.ts';
import { randomFrom } from '../storage/random.ts';
import { endOf, start } from '../support/start.ts';

const skip = noDisk();
const library = skip === false ? await compileDisk(dirname(newPath())) : {};

const [mine, saved, exported] = [await databaseOf('mine'), newPath('b.db'), newPath('x.jsonl')];
await backupSqlite(await databaseOf('saved'), saved);
writeFileSync(
  exported,
  exportOf([1], () => 'saved'),
);

/** The path of a database with a todo of this title. */
async function databaseOf(title: string): Promise<string> {
  const path = await newDatabase();
  execute(path, `INSERT INTO todos (title, category_id) VALUES ('${title}', 1)`);
  return path;
}

const NO_DATABASE = 'no database at all'.repeat(100);

/** The only file of a folder whose name matches. */
function found(folder: string, name: RegExp): string {
  const [file = assert.fail(`no ${name} in ${readdirSync(folder)}`)] = readdirSync(folder).filter((each) =>
    name.test(each),
  );
  return join(folder, file);
}

const OLD = /^todos\.db\.[^.]+\.\d+Z$/;
const COPY = /^todos-\d{8}T\d{6}Z\.db$/;

for (const [what, words, line, before, check] of [
  [
    'the line of a restore over a database',
    (folder) => ['restore', saved, '--data-dir', folder],
    'Restored into',
    (folder) => cpSync(mine, join(folder, 'todos.db')),
    (folder) => {
      assert.deepEqual(titlesOf(join(folder, 'todos.db')), ['saved']);
      assert.deepEqual(titlesOf(found(folder, OLD)), ['mine']);
    },
  ],
  [
    'the line of a restore over a damaged file and its log',
    (folder) => ['restore', saved, '--data-dir', folder],
    'Restored into',
    (folder) => {
      writeFileSync(join(folder, 'todos.db'), NO_DATABASE);
      writeFileSync(join(folder, 'todos.db-wal'), 'its log');
    },
    (folder) => {
      assert.equal(readFileSync(found(folder, OLD), 'utf8'), NO_DATABASE);
      assert.equal(readFileSync(`${found(folder, OLD)}-wal`, 'utf8'), 'its log');
      assert.deepEqual(titlesOf(join(folder, 'todos.db')), ['saved']);
    },
  ],
  [
    'the new name in a restore over a damaged file and its log',
    (folder) => ['restore', saved, '--data-dir', folder],
    '/todos.db',
    (folder) => {
      writeFileSync(join(folder, 'todos.db'), NO_DATABASE);
      writeFileSync(join(folder, 'todos.db-wal'), 'its log');
    },
    (folder) => {
      if (readFileSync(join(folder, 'todos.db'), 'latin1') === NO_DATABASE) return;
      assert.ok(!existsSync(join(folder, 'todos.db-wal')), 'an old log beside the restored database');
      assert.equal(readFileSync(found(folder, OLD), 'utf8'), NO_DATABASE);
    },
  ],
  [
    'the line of a restore where there is no database but its log',
    (folder) => ['restore', exported, '--data-dir', folder],
    'Restored into',
    (folder) => writeFileSync(join(folder, 'todos.db-wal'), 'its log'),
    (folder) => {
      assert.equal(readFileSync(found(folder, /^todos\.db-wal\.\d+$/), 'utf8'), 'its log');
      assert.deepEqual(titlesOf(join(folder, 'todos.db')), ['saved']);
    },
  ],
  [
    'the line of an import into a new folder',
    (folder) => ['import', exported, '--data-dir', join(folder, 'new', 'data')],
    'Imported into',
    () => {},
    (folder) => assert.deepEqual(titlesOf(join(folder, 'new', 'data', 'todos.db')), ['saved']),
  ],
  [
    'the line of a backup to a file',
    (folder) => ['backup', join(folder, 'b.db'), '--database', `sqlite:${mine}`],
    'checked',
    () => {},
    (folder) => assert.deepEqual(titlesOf(join(folder, 'b.db')), ['mine']),
  ],
  [
    'the line of a backup into a new folder',
    (folder) => ['backup', join(folder, 'new', 'backups'), '--keep', '1', '--database', `sqlite:${mine}`],
    'checked',
    () => {},
    (folder) => assert.deepEqual(titlesOf(found(join(folder, 'new', 'backups'), COPY)), ['mine']),
  ],
  [
    'the line of a backup into a folder, where it takes the place of an older one',
    (folder) => ['backup', folder, '--keep', '1', '--database', `sqlite:${mine}`],
    'checked',
    (folder) => cpSync(saved, join(folder, 'todos-20260101T000000Z.db')),
    (folder) => assert.deepEqual(titlesOf(found(folder, /^todos-(?!20260101)\d{8}T\d{6}Z\.db$/)), ['mine']),
  ],
  [
    'the line of an export to a file',
    (folder) => ['export', join(folder, 'x.jsonl'), '--database', `sqlite:${mine}`],
    'x.jsonl:',
    () => {},
    (folder) => assert.match(readFileSync(join(folder, 'x.jsonl'), 'utf8'), /"title":"mine".*\n\{"sha256"/),
  ],
  [
    'the line of a "migrate" that makes a database',
    (folder) => ['migrate', '--data-dir', join(folder, 'data')],
    'version',
    () => {},
    (folder) => assert.deepEqual(titlesOf(join(folder, 'data', 'todos.db')), []),
  ],
  [
    'the line of a first start',
    (folder) => ['serve', '--environment', 'development', '--port', '0', '--data-dir', join(folder, 'data')],
    'listening',
    () => {},
    (folder) => {
      assert.deepEqual(titlesOf(join(folder, 'data', 'todos.db')), []);
      assert.match(readFileSync(join(folder, 'data', 'development-key.json'), 'utf8'), /"k": "/);
    },
  ],
  [
    'the token of a "token create" that makes the key of development',
    (folder) => ['token', 'create', '--name', 'ada', '--data-dir', join(folder, 'data')],
    'ey',
    () => {},
    (folder) => assert.match(readFileSync(join(folder, 'data', 'development-key.json'), 'utf8'), /"k": "/),
  ],
] as const satisfies readonly (readonly [
  what: string,
  words: (folder: string) => readonly string[],
  line: string,
  before: (folder: string) => void,
  check: (folder: string) => void,
])[]) {
  test(`a power cut right after ${what} takes nothing that was said, whatever names it takes [E8]`, {
    skip,
  }, async () => {
    const [folder, kept, left] = [newPath('work'), newPath('kept'), newPath('left')];
    mkdirSync(folder);
    before(folder);
    settle(folder, kept);
    const child = start(words(folder), { ...library, DISK_FOLDER: folder, DISK_KEPT: kept, DISK_CUT: line });
    child.stdout.resume();
    const { end, said } = await endOf(child);
    assert.equal(end, 'SIGKILL', said);
    // None of what was not synced, all of it, and some.
    const random = randomFrom(1);
    for (const each of [() => 0, () => 0.99, ...Array.from({ length: 10 }, () => random)]) {
      cutPower(folder, kept, each, left);
      check(left);
    }
  });
}
