import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { migrateSqlite } from '../../src/store/sqlite/operator.ts';
import { temporaryFolder } from '../folder.ts';
import { PROGRAM, runProgram } from '../start.ts';
import { execute, newDatabase } from '../storage/new-files.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { serve } from '../storage/served.ts';

const page = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const PAGE = await page('moving-data.md');

const server = await PostgresServer.startForAll('fsync=on');

/** The lines of shell that a page has in a section, in the first block of it that has such a line. */
function recipe(heading: string, text = PAGE, line = /^/m): string {
  const section = text.split(/^## /m).find((each) => each.startsWith(heading)) ?? '';
  const blocks = Array.from(section.matchAll(/```sh\n([\s\S]*?)```/g), ([, lines = '']) => lines);
  return blocks.find((lines) => line.test(lines)) ?? assert.fail(`no recipe in "${heading}"`);
}

/** Runs lines of shell with `todo-service` and `systemctl` at hand; the first line that fails ends it. */
async function sh(folder: string, lines: string, env: Readonly<Record<string, string>> = {}) {
  for (const [name, body] of [
    ['todo-service', `exec "${process.execPath}" "${PROGRAM}" "$@"`],
    ['systemctl', 'echo "$@" >> systemctl.log'],
    ['sudo', 'exec "$@"'],
  ] as const) {
    await writeFile(join(folder, name), `#!/bin/sh\n${body}\n`);
    await chmod(join(folder, name), 0o755);
  }
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const child = spawn('sh', ['-eu', '-c', lines], {
    cwd: folder,
    env: { ...inherited, ...env, PATH: `${folder}:${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

test('the recipe for the move from SQLite to PostgreSQL is right word for word', async () => {
  await using folder = await temporaryFolder();
  const old = `sqlite:${join(folder.path, 'old.db')}`;
  const moved = await server.makeDatabase();
  const password = join(folder.path, 'password');
  const bare = new URL(moved);
  await writeFile(password, bare.password);
  bare.password = '';
  {
    await using service = await serve(old);
    for (const title of ['one', 'two', 'three']) await service.post({ title });
  }
  const lines = recipe('From SQLite to PostgreSQL')
    .replace(/^OLD=.*$/m, `OLD='${old}'`)
    .replace(/^NEW=.*$/m, `NEW='${bare.href}'`)
    .replace('/etc/todo-service/password', password);
  const { code, stdout, stderr } = await sh(folder.path, lines);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.match(stdout, /All is well\.\n$/);
  assert.equal(
    await readFile(join(folder.path, 'systemctl.log'), 'utf8'),
    'stop todo-service\nstart todo-service\n',
  );
  await using service = await serve(moved);
  assert.deepEqual(await service.titles(), ['one', 'two', 'three']);
});

test('the recipe for a file that another program writes is right word for word', async () => {
  await using folder = await temporaryFolder();
  const lines = PAGE.slice(PAGE.lastIndexOf('```sh\n') + 6, PAGE.lastIndexOf('```'));
  const database = `sqlite:${join(folder.path, 'todos.db')}`;
  const { code, stderr } = await sh(folder.path, lines, { TODO_DATABASE: database });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const { stdout } = await runProgram(['categories', 'list', '--database', database]);
  assert.equal(stdout, '1\tGarden\n');
});

test('the recipe of operations.md for a restore is right word for word', async () => {
  await using folder = await temporaryFolder();
  const data = join(folder.path, 'data');
  const [backup, database] = [join(folder.path, 'backup.db'), join(data, 'todos.db')];
  for (const [path, title] of [
    [backup, 'saved'],
    [database, 'later'],
  ] as const) {
    await migrateSqlite(path);
    execute(path, `INSERT INTO todos (title, category_id) VALUES ('${title}', 1)`);
  }
  await writeFile(`${database}-wal`, 'of the old file');
  const lines = recipe('Backup and restore', await page('operations.md'), /install/)
    .replaceAll('/var/lib/todo-service', data)
    .replace(/\/backup\/\S+/, backup)
    .replace('-o todo-service -g todo-service ', '');
  const { code, stderr } = await sh(folder.path, lines);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  await using service = await serve(`sqlite:${database}`);
  assert.deepEqual(await service.titles(), ['saved']);
});

for (const deleted of [['', '-wal', '-shm'], [''], ['-wal']]) {
  const names = deleted.map((suffix) => `todos.db${suffix}`);
  test(`what incidents.md says saves every answered write when ${names} is deleted`, {
    skip: process.platform !== 'linux' && 'only Linux has /proc',
  }, async () => {
    await using folder = await temporaryFolder();
    const database = join(folder.path, 'todos.db');
    await using service = await serve(`sqlite:${database}`);
    await service.post({ title: 'answered' });
    for (const name of names) await rm(join(folder.path, name));
    const lines = recipe('When the SQLite file is gone', await page('incidents.md'), /proc/);
    const { code, stdout, stderr } = await sh(folder.path, lines, { PID: String(service.pid) });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /todos +1\nAll is well\.\n$/);
  });
}

const ADD = "INSERT INTO todos (title, category_id) VALUES ('a', 1)";

test('what incidents.md says about ids of lost todos skips 1,000 of them', async () => {
  const path = await newDatabase();
  const sql = /"(UPDATE sqlite_sequence .+)"/.exec(await page('incidents.md'))?.[1];
  execute(path, `${ADD}; ${sql ?? assert.fail('no SQL')}`);
  using database = new DatabaseSync(path);
  assert.equal(database.prepare(ADD).run().lastInsertRowid, 1_002);
});

test('what postgresql.md says about ids of lost todos skips 1,000 of them', async () => {
  const url = await server.makeMigrated();
  const sql = /```sql\n(SELECT setval.+)\n```/.exec(await page('postgresql.md'))?.[1];
  await server.execute(url, `${ADD}; ${sql ?? assert.fail('no SQL')}`);
  assert.deepEqual(await server.execute(url, `${ADD} RETURNING id`), [{ id: 1_002 }]);
});
