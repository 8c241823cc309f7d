import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Restore } from '../../src/storage/sqlite/restore.ts';
import { MIGRATIONS } from '../../src/storage/sqlite/schema.ts';
import { put } from '../storage/damage.ts';
import { exportOf } from '../storage/moving.ts';
import { execute, fill, newDatabase, newPath } from '../storage/new-files.ts';
import { serve } from '../storage/served.ts';
import { engines, printed, refused, run, server } from './engines.ts';

const ADD = (title: string) => `INSERT INTO todos (title, category_id) VALUES ('${title}', 1)`;

/** A backup of one todo, `saved`, in a folder of its own, as `backup` and as `export` write it. */
async function backups(): Promise<{ readonly copy: string; readonly exported: string }> {
  const path = await newDatabase();
  execute(path, ADD('saved'));
  const [copy, exported] = [newPath('b.db'), newPath('b.jsonl')];
  await printed(`sqlite:${path}`, ['backup', copy]);
  await printed(`sqlite:${path}`, ['export', exported]);
  return { copy, exported };
}

/** What lies beside a database, without its lock. */
const beside = (path: string) =>
  readdirSync(dirname(path)).filter((name) => ![basename(path), `${basename(path)}-owner`].includes(name));

async function titlesOf(path: string): Promise<readonly string[]> {
  await using service = await serve(`sqlite:${path}`);
  return await service.titles();
}

test('restore: after a kill, a second time and from either kind of file, the backup is served and the old one is kept [E3]', async () => {
  const { copy, exported } = await backups();
  const path = newPath();
  const database = `sqlite:${path}`;
  const kept: string[] = [];
  for (const [at, file] of [copy, exported, copy].entries()) {
    {
      await using service = await serve(database);
      for (const title of ['later', `${at}`]) await service.post({ title });
      await service.stop('SIGKILL');
    }
    assert.ok(beside(path).includes('todos.db-wal'));
    const { ino, mode } = statSync(path);
    const [, old = ''] =
      /^The old database is (.+?)\. /m.exec(await printed(database, ['restore', file])) ?? [];
    kept.push(old);
    assert.deepEqual(statSync(path).ino, ino);
    assert.deepEqual(statSync(path).mode, mode);
    assert.deepEqual(beside(path).sort(), kept.map((each) => basename(each)).sort());
    assert.deepEqual(await titlesOf(path), ['saved']);
  }
  for (const [at, old] of kept.entries())
    assert.deepEqual(await titlesOf(old), [...(at === 0 ? [] : ['saved']), 'later', `${at}`]);
  await printed(database, ['restore', kept[1] ?? '']);
  assert.deepEqual(await titlesOf(path), ['saved', 'later', '1']);
});

for (const [what, make] of [
  ['is empty, beside an old log', (path: string) => writeFileSync(path, '')],
  ['is damaged, beside an old log', (path: string) => writeFileSync(path, 'no database at all'.repeat(100))],
  ['is not there, beside an old log', () => {}],
] as const) {
  test(`restore: a file that ${what}, gets its place taken, and nothing that was there is lost [E3]`, async () => {
    const { copy } = await backups();
    const path = newPath();
    make(path);
    const old = readdirSync(dirname(path)).map((name) => readFileSync(join(dirname(path), name), 'utf8'));
    writeFileSync(`${path}-wal`, 'an old log');
    const { code, stdout } = await run(`sqlite:${path}`, ['restore', copy]);
    assert.equal(code, 0);
    const after = beside(path).map((name) => readFileSync(join(dirname(path), name), 'utf8'));
    assert.deepEqual(after.sort(), [...old, 'an old log'].sort());
    for (const name of beside(path)) if (!name.includes('-wal')) assert.ok(stdout.includes(name));
    assert.deepEqual(await titlesOf(path), ['saved']);
  });
}

test('restore: a signal that comes when it is done ends nothing, whatever was there before [E3]', async () => {
  const { copy } = await backups();
  const [missing, damaged] = [newPath(), newPath()];
  writeFileSync(damaged, 'no database at all'.repeat(100));
  for (const path of [missing, damaged, await newDatabase()]) {
    let decided = 0;
    await new Restore().run(path, copy, {
      highestOf: (highestId) => highestId,
      onProgress: () => {},
      onDeciding: () => {
        decided += 1;
      },
      logEvent: () => {},
    });
    assert.equal(decided, 1);
    assert.deepEqual(await titlesOf(path), ['saved']);
  }
});

test('restore: what is torn, changed, empty, of another program, newer or not there is refused, and nothing is touched [E3]', async () => {
  const { copy, exported } = await backups();
  const path = await newDatabase();
  execute(path, ADD('mine'));
  const before = readFileSync(path);
  const broken = async (name: string, change: (file: string) => unknown, from = copy) => {
    const file = newPath(name);
    copyFileSync(from, file);
    await change(file);
    return file;
  };
  const pipe = newPath('pipe');
  execFileSync('mkfifo', [pipe]);
  const table: readonly (readonly [file: string, code: number, said: RegExp])[] = [
    [await broken('torn.db', (file) => truncateSync(file, 9_000)), 65, /malformed/],
    [await broken('head.db', (file) => truncateSync(file, 20)), 65, /file is not a database|malformed/],
    [
      await broken('newer.db', (file) => execute(file, 'PRAGMA user_version = 99')),
      65,
      /its schema is version 99/,
    ],
    [
      await broken('other.db', (file) => execute(file, 'PRAGMA application_id = 1')),
      65,
      /it belongs to another program/,
    ],
    [
      await broken('format.db', (file) => writeFileSync(file, put(readFileSync(file), 47, Buffer.of(9)))),
      65,
      /unsupported file format/,
    ],
    [
      await broken('unwritten.db', (file) => writeFileSync(file, put(readFileSync(file), 18, Buffer.of(9)))),
      65,
      /attempt to write a readonly database/,
    ],
    [
      await broken('older.db', (file) => execute(file, 'PRAGMA user_version = 1')),
      65,
      /table idempotency_keys already exists/,
    ],
    [await broken('empty.db', (file) => truncateSync(file, 0)), 65, /cut off/],
    [await broken('torn.jsonl', (file) => truncateSync(file, 100), exported), 65, /cut off/],
    [newPath('missing.db'), 66, /ENOENT/],
    [dirname(newPath()), 66, /EISDIR/],
    [pipe, 66, /ESPIPE/],
    [path, 65, /it is the database itself/],
  ];
  for (const [file, code, said] of table) {
    const stderr = new RegExp(`^Cannot restore: "${file}": [^\n]*(?:${said.source})[^\n]*\n$`);
    await refused(`sqlite:${path}`, ['restore', file], { code, stderr });
    assert.deepEqual(beside(path), []);
    assert.deepEqual(readFileSync(path), before);
  }
});

test('restore: what another program was told is written is in the old database, up to the last moment [E3]', async () => {
  const { copy } = await backups();
  const path = await newDatabase();
  const written: string[] = [];
  const write = (title: string) => {
    using program = new DatabaseSync(path, { timeout: 0 });
    try {
      program.exec(ADD(title));
      written.push(title);
    } catch (error) {
      assert.match(String(error), /database is locked/);
    }
  };
  const { old } = await new Restore().run(path, copy, {
    highestOf: (highestId) => highestId,
    onProgress: () => write('while it copies'),
    onDeciding: () => write('at the end'),
    logEvent: () => {},
  });
  using kept = new DatabaseSync(old?.path ?? '');
  const titles = kept.prepare('SELECT title FROM todos').all();
  assert.deepEqual(
    titles.map(({ title }) => title),
    written,
  );
});

test('restore: a database of another program is left alone (65), one that is served too (75) [E3]', async () => {
  const { copy } = await backups();
  const path = newPath('notes.db');
  execute(path, 'CREATE TABLE notes (text)');
  await refused(`sqlite:${path}`, ['restore', copy], {
    code: 65,
    stderr: /it belongs to another program\n$/,
  });
  assert.deepEqual(beside(path), []);
  const database = await engines.SQLite.make();
  await using service = await serve(database);
  await service.post({ title: 'mine' });
  await refused(database, ['restore', copy], { code: 75, stderr: /served by process/ });
  assert.deepEqual(await service.titles(), ['mine']);
});

test('restore: a database whose name has no room for that of a copy is left as it was: 69 and one line [E3]', async () => {
  const { copy } = await backups();
  const path = newPath('a'.repeat(230));
  await printed(`sqlite:${path}`, ['migrate']);
  await refused(`sqlite:${path}`, ['restore', copy], { code: 69, stderr: /^Cannot restore: [^\n]+\n$/ });
  assert.deepEqual(beside(path), []);
});

test('restore: it says which ids come again, and --next-id prevents it [E3]', async () => {
  const { copy } = await backups();
  const path = await newDatabase();
  const database = `sqlite:${path}`;
  fill(path, 40);
  assert.match(
    await printed(database, ['restore', copy]),
    /highest id given out 1\nThe old database is .+\. Ids from 2 on are given out again: "--next-id 41" prevents it\n$/,
  );
  for (const [given, stderr] of [
    ['1', '--next-id must be above 1, the highest id in the backup, received 1'],
    ['2147483648', '--next-id must be 1 to 2147483647, received "2147483648"'],
    ['1e3', '--next-id must be 1 to 2147483647, received "1e3"'],
  ])
    await refused(database, ['restore', copy, '--next-id', given ?? ''], {
      code: 2,
      stderr: `${stderr}\nRun "todo-service restore --help" for the flags.\n`,
    });
  assert.match(await printed(database, ['restore', copy, '--next-id', '41']), /\. The next id is 41\n$/);
  await using service = await serve(database);
  await service.post();
  assert.deepEqual(
    (await service.list()).map(({ id }) => id),
    [1, 41],
  );
});

for (const [made, said] of [
  [0, 'The next id is 2'],
  [1, 'Ids from 2 on are given out again: "--next-id 3" prevents it'],
  [2, 'Ids from 2 on are given out again: "--next-id 4" prevents it'],
] as const) {
  test(`restore: with ${made} todos made after the backup it says "${said}" [E3]`, async () => {
    const { copy } = await backups();
    const path = await newDatabase();
    fill(path, 1 + made);
    assert.ok((await printed(`sqlite:${path}`, ['restore', copy])).endsWith(`. ${said}\n`));
  });
}

test('restore: a backup of a schema that is older is brought up to date [E3]', async () => {
  const copy = newPath('old.db');
  execute(
    copy,
    `${MIGRATIONS.from(0).slice(0, 2).join('')} PRAGMA application_id = 0x746f646f; PRAGMA user_version = 2;
      INSERT INTO categories (name) VALUES ('Work')`,
  );
  const database = await engines.SQLite.make();
  await printed(database, ['restore', copy]);
  assert.match(
    await printed(database, ['check']),
    new RegExp(`schema version +${engines.SQLite.schemaVersion}\n`),
  );
});

test('restore: PostgreSQL takes an export, into an empty database alone, with --next-id too [E3]', async () => {
  const { copy } = await backups();
  const file = newPath('x.jsonl');
  writeFileSync(file, exportOf([1, 2]));
  const database = await server.makeDatabase();
  const said = 'todos 2, categories 2, keys of creates 0, highest id given out 8\nThe next id is 9\n';
  assert.ok((await printed(database, ['restore', file, '--next-id', '9'])).endsWith(said));
  const stderr =
    'Cannot restore: the database must be empty, and it has todos: make a new one, and set TODO_DATABASE to it\n';
  await refused(database, ['restore', file], { code: 69, stderr });
  const other = `sqlite:${copy}`;
  // A path with a blank is quoted for the shell.
  const word = copy.includes(' ') ? `'${other}'` : other;
  await refused(await server.makeDatabase(), ['restore', copy], {
    code: 65,
    stderr: `Cannot restore: "${copy}": it is a SQLite database: todo-service export FILE --database ${word}\n`,
  });
  assert.deepEqual(await server.execute(database, `${ADD('a')} RETURNING id`), [{ id: 9 }]);
});

test('restore: what root makes belongs to whom the folder belongs, the lock too [E3; D6]', {
  skip: process.getuid?.() !== 0 && 'only root gives files away',
}, async () => {
  const { copy } = await backups();
  const path = newPath();
  chownSync(dirname(path), 12_345, 12_345);
  for (let times = 1; times <= 2; times += 1) await printed(`sqlite:${path}`, ['restore', copy]);
  for (const name of readdirSync(dirname(path)))
    assert.equal(statSync(join(dirname(path), name)).uid, 12_345, name);
});
