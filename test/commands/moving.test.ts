import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import * as postgres from '../../src/store/postgres/transfer.ts';
import { migrateSqlite } from '../../src/store/sqlite/operator.ts';
import * as sqlite from '../../src/store/sqlite/transfer.ts';
import { exportParts } from '../../src/store/transfer/lines.ts';
import { temporaryFolder } from '../folder.ts';
import { type Running, runProgram } from '../start.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { todo } from '../todo.ts';
import { ask, post, serve, titles } from './served.ts';

const server = await PostgresServer.start('fsync=on');
after(() => server[Symbol.asyncDispose]());
const folder = await temporaryFolder();
after(() => folder[Symbol.asyncDispose]());
let made = 0;

/** A path that nothing has. */
function newPath(extension: string): string {
  made += 1;
  return join(folder.path, `${made}.${extension}`);
}

const FIRST_VERSION = fileURLToPath(new URL('./export-v1.jsonl', import.meta.url));

/** An export of some todos, all of category 1. */
function exportOf(ids: readonly number[], more: object = {}): string {
  const lines = [
    { format: 'todo-service-export', version: 1, categories: 2, todos: ids.length, ...more },
    { id: 1, name: 'Work' },
    { id: 2, name: 'Life' },
    ...ids.map((id) => todo(id, `Todo ${id}`)),
  ];
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return `${text}{"sha256":"${createHash('sha256').update(text).digest('hex')}"}\n`;
}

interface Engine {
  /** An empty database. */
  readonly make: () => Promise<string>;
  /** One with the schema. */
  readonly makeMigrated: () => Promise<string>;
  readonly execute: (database: string, sql: string) => Promise<unknown>;
}

const engines: Readonly<Record<'SQLite' | 'PostgreSQL', Engine>> = {
  SQLite: {
    make: async () => `sqlite:${newPath('db')}`,
    makeMigrated: async () => {
      const path = newPath('db');
      await migrateSqlite(path);
      return `sqlite:${path}`;
    },
    execute: async (database, sql) => {
      using opened = new DatabaseSync(database.replace('sqlite:', ''), { timeout: 5_000 });
      opened.exec(sql);
    },
  },
  PostgreSQL: {
    make: () => server.makeDatabase(),
    makeMigrated: () => server.makeMigrated(),
    execute: (database, sql) => server.execute(database, sql),
  },
};

const run = (words: readonly string[], database: string, input?: string) =>
  runProgram([...words], { env: { TODO_DATABASE: database }, ...(input === undefined ? {} : { input }) });

async function exported(database: string): Promise<string> {
  const { code, stdout, stderr } = await run(['export'], database);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  return stdout;
}

/** What an export says, without a program. */
async function contents(database: string): Promise<string> {
  await using source = database.startsWith('sqlite:')
    ? sqlite.openExport(database.replace('sqlite:', ''))
    : await postgres.openExport(database);
  return (await Array.fromAsync(exportParts(source), ({ text }) => text)).join('');
}

/** What a service answers to a create with a key: its status, and the todo. */
async function createOnce(service: Running, key: string, title: string) {
  const reply = await ask(service, 'POST', '/todos', { title, categoryId: 1 }, { 'idempotency-key': key });
  return { status: reply.status, body: JSON.parse(await reply.text()) };
}

for (const [name, engine] of Object.entries(engines)) {
  describe(name, () => describeMoving(engine));
}

function describeMoving({ make, makeMigrated, execute }: Engine): void {
  /** The text of an export without the line of its SHA-256 and keys, which depend on the time. */
  const rows = (text: string) => text.split('\n').filter((line) => !/^\{"(?:sha256|key)"/.test(line));

  test('E1 · an export that is made while todos are added is one moment', async () => {
    const database = await make();
    await using service = await serve(database);
    for (let count = 0; count < 20; count += 1) await post(service, { title: `before ${count}` });
    const adding = Promise.all(Array.from({ length: 50 }, () => post(service, { title: 'during' })));
    const text = await exported(database);
    await adding;
    const [head = '', ...lines] = text.trimEnd().split('\n');
    const { todos, highestId } = JSON.parse(head);
    const ids = lines.filter((line) => line.includes('"title"')).map((line) => JSON.parse(line).id);
    assert.equal(ids.length, todos);
    assert.ok(todos >= 20 && highestId >= todos);
    assert.deepEqual(
      ids,
      ids.toSorted((one, other) => one - other),
    );
    const end = lines.at(-1) ?? '';
    const before = text.slice(0, text.indexOf(end));
    assert.equal(end, `{"sha256":"${createHash('sha256').update(before).digest('hex')}"}`);
  });

  test('E2 · ids, categories, done, keys, next id and the tag of the list survive a move to either engine', async () => {
    const source = await makeMigrated();
    await run(['categories', 'add', 'Gärten \u{1F331}'], source);
    await using service = await serve(source);
    await post(service, { title: ' "\\ \u{1F95B}', categoryId: 3 });
    const first = await createOnce(service, 'a-key', 'once');
    await post(service);
    await ask(service, 'PUT', '/todos/1', { title: 'done', done: true, categoryId: 2 });
    await ask(service, 'DELETE', '/todos/3');
    const listed = await ask(service, 'GET', '/todos');
    const text = await exported(source);
    for (const other of Object.values(engines)) {
      const target = await other.make();
      const { code, stderr } = await run(['import', '-'], target, text);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      assert.deepEqual(rows(await exported(target)), rows(text));
      await using moved = await serve(target);
      const again = await ask(moved, 'GET', '/todos');
      assert.equal(again.headers.get('etag'), listed.headers.get('etag'));
      assert.deepEqual(await createOnce(moved, 'a-key', 'once'), first);
      assert.equal((await createOnce(moved, 'a-key', 'another')).status, 422);
      assert.equal((await createOnce(moved, 'another-key', 'new')).body.id, 4);
      const added = await run(['categories', 'add', 'Kitchen'], target);
      assert.equal(added.stdout, '4\n');
    }
  });

  test('E2 · a file of the first version of the format is imported; a key of tomorrow is one of now, an old one is left out', async () => {
    const target = await make();
    const { code, stdout } = await run(['import', FIRST_VERSION], target);
    assert.equal(code, 0);
    assert.match(stdout, /: todos 4, categories 3, keys of creates 2, highest id given out 42\n$/);
    const text = await exported(target);
    const original = readFileSync(FIRST_VERSION, 'utf8');
    assert.deepEqual(rows(text).slice(1), rows(original).slice(1));
    const keys = text.split('\n').filter((line) => line.startsWith('{"key"'));
    assert.equal(keys.length, 1);
    const { todoId, at } = JSON.parse(keys[0] ?? '{}');
    assert.equal(todoId, 41);
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at);
    await using service = await serve(target);
    assert.equal((await createOnce(service, 'k', 'a')).body.id, 43);
  });

  test('D5 · when the last id was given out, none is given out after a move', async () => {
    const target = await make();
    await run(['import', '-'], target, exportOf([2_147_483_647]));
    await using service = await serve(target);
    await post(service, { status: 500 });
  });

  for (const [content, sql] of [
    ['it has todos', "INSERT INTO todos (title, category_id) VALUES ('a', 1)"],
    ['it has keys of creates', "INSERT INTO idempotency_keys (key, body, todo_id) VALUES ('k', 'b', 1)"],
    [
      'ids of todos were given out',
      "INSERT INTO todos (title, category_id) VALUES ('a', 1); DELETE FROM todos",
    ],
    [
      'it has other categories than those of a first start',
      "INSERT INTO categories (name) VALUES ('Garden')",
    ],
  ] as const) {
    test(`E5 · a database is not empty when ${content}: 69, and nothing is changed`, async () => {
      const target = await makeMigrated();
      await execute(target, sql);
      const before = await contents(target);
      assert.deepEqual(await run(['import', FIRST_VERSION], target), {
        code: 69,
        stdout: '',
        stderr: `Cannot import: the database must be empty, and ${content}\n`,
      });
      assert.equal(await contents(target), before);
    });
  }

  test('E4 · a file that is cut off is refused with 65 and one line, and the database stays empty', async () => {
    const target = await makeMigrated();
    const before = await contents(target);
    const text = exportOf(Array.from({ length: 5_000 }, (_, index) => index + 1));
    for (const [part, reason] of [
      [
        text.slice(0, 200_000),
        /^Cannot import: standard input: it ends within line \d+, so it was cut off\n$/,
      ],
      ['', /^Cannot import: standard input: it ends before line 1, so it was cut off\n$/],
      [text.replace('Todo 4000', 'Todo 4001'), /: line 5004: the lines before it are not what was written/],
    ] as const) {
      const { code, stdout, stderr } = await run(['import', '-'], target, part);
      assert.deepEqual({ code, stdout }, { code: 65, stdout: '' });
      assert.match(stderr, reason);
      assert.equal(await contents(target), before);
    }
    assert.equal((await run(['import', '-'], target, text)).code, 0);
  });

  test('E3 · todos come back with their ids beside the service, which shows them at once', async () => {
    const database = await make();
    await using service = await serve(database);
    for (const title of ['one', 'two', 'three']) await post(service, { title });
    const text = await exported(database);
    for (const id of [1, 3]) {
      await ask(service, 'DELETE', `/todos/${id}`);
      assert.equal((await ask(service, 'GET', `/todos/${id}`)).status, 404);
    }
    assert.deepEqual(await titles(service), ['two']);
    const one = await run(['import', '--only', '1', '-'], database, text);
    assert.deepEqual([one.code, one.stderr], [0, '']);
    assert.match(one.stdout, /^Put back into [^\n]*: todos 1\n$/);
    assert.equal((await ask(service, 'GET', '/todos/1')).status, 200);
    assert.deepEqual(await titles(service), ['one', 'two']);
    assert.equal((await run(['import', '--only', 'deleted', '-'], database, text)).code, 0);
    assert.deepEqual(await titles(service), ['one', 'two', 'three']);
    await post(service, { title: 'four' });
    assert.equal((await ask(service, 'GET', '/todos/4')).status, 200);
  });

  test('E3 · the next id is above a todo that comes back', async () => {
    const database = await make();
    await using service = await serve(database);
    const { code, stderr } = await run(['import', '--only', '7,9', '-'], database, exportOf([7, 8, 9]));
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    await post(service);
    assert.equal((await ask(service, 'GET', '/todos/10')).status, 200);
    assert.deepEqual(await titles(service), ['Todo 7', 'Todo 9', 'a']);
  });

  test('E3 · a todo that is there, is not in the file, or has no category, is refused by name, and none is made', async () => {
    const database = await makeMigrated();
    await run(['import', '--only', '7', '-'], database, exportOf([7]));
    const before = await contents(database);
    for (const [only, text, reason] of [
      ['5,7,9', exportOf([5, 7, 9]), 'todo 7: in the database already'],
      ['5,6', exportOf([5, 7]), 'todo 6: not in the export'],
    ] as const) {
      assert.deepEqual(await run(['import', '--only', only, '-'], database, text), {
        code: 1,
        stdout: '',
        stderr: `Cannot import: ${reason}\n`,
      });
    }
    const orphan = await run(['import', '--only', '1,40', FIRST_VERSION], database);
    assert.deepEqual(orphan, {
      code: 1,
      stdout: '',
      stderr: 'Cannot import: todo 40 (category 5): the database has no such category\n',
    });
    assert.equal(await contents(database), before);
  });

  test('E4 · a file with a changed byte gives nothing back', async () => {
    const database = await makeMigrated();
    const before = await contents(database);
    const text = exportOf([5, 6]).replace('Todo 6', 'Todo 7');
    const { code } = await run(['import', '--only', '5', '-'], database, text);
    assert.equal(code, 65);
    assert.equal(await contents(database), before);
  });
}

test('an export to a file is 0600, never replaces one, and leaves nothing else beside it', async () => {
  const target = newPath('folder');
  const database = await engines.SQLite.makeMigrated();
  await mkdir(target);
  const file = join(target, 'todos.jsonl');
  const { code, stdout } = await run(['export', file], database);
  assert.equal(code, 0);
  assert.equal(stdout, `${file}: todos 0, categories 2, keys of creates 0, highest id given out 0\n`);
  assert.equal(((await stat(file)).mode & 0o777).toString(8), '600');
  assert.equal(await readFile(file, 'utf8'), await exported(database));
  assert.deepEqual(await run(['export', file], database), {
    code: 74,
    stdout: '',
    stderr: `Cannot export: "${file}": there is something of this name already\n`,
  });
  assert.equal((await run(['export', join(target, 'no', 'folder')], database)).code, 74);
  assert.deepEqual(await readdir(target), ['todos.jsonl']);
});

test('a SQLite file that was made for an import that fails goes again', async () => {
  const path = newPath('db');
  const { code } = await run(['import', '-'], `sqlite:${path}`, exportOf([1, 2]).slice(0, 200));
  assert.equal(code, 65);
  assert.deepEqual(await namesLike(path), [`${path}-owner`]);
});

test('E5 · a SQLite file that is served is refused with 75', async () => {
  const database = await engines.SQLite.make();
  await using _service = await serve(database);
  const { code, stderr } = await run(['import', FIRST_VERSION], database);
  assert.equal(code, 75);
  assert.match(stderr, /served by process/);
});

test('a file that is not there is refused with 66', async () => {
  const { code, stderr } = await run(['import', newPath('jsonl')], await engines.SQLite.make());
  assert.equal(code, 66);
  assert.match(stderr, /^Cannot import: "[^"]*": ENOENT: [^\n]*\n$/);
});

test('E5 · a create of an instance that is up, which import waits for, makes it refuse', async () => {
  const database = await server.makeMigrated();
  const creating = new Client(database);
  await creating.connect();
  await creating.query('BEGIN; LOCK TABLE todos IN ROW EXCLUSIVE MODE');
  const importing = run(['import', FIRST_VERSION], database);
  await server.somebodyWaits(database);
  await creating.query("INSERT INTO todos (title, category_id) VALUES ('mine', 1); COMMIT");
  await creating.end();
  assert.deepEqual(await importing, {
    code: 69,
    stdout: '',
    stderr: 'Cannot import: the database must be empty, and it has todos\n',
  });
  assert.match(await exported(database), /"mine"/);
});

test('E3 · every instance shows todos that come back at once', async () => {
  const database = await server.makeDatabase();
  await using one = await serve(database);
  await using other = await serve(database);
  for (const instance of [one, other]) assert.deepEqual(await titles(instance), []);
  const { code } = await run(['import', '--only', '7,9', '-'], database, exportOf([7, 8, 9]));
  assert.equal(code, 0);
  for (const instance of [one, other]) assert.deepEqual(await titles(instance), ['Todo 7', 'Todo 9']);
  await post(other);
  await post(one);
  for (const id of [10, 11]) assert.equal((await ask(one, 'GET', `/todos/${id}`)).status, 200);
});

test('E5 · an import whose commit the server refuses changes nothing, the next id neither, and can be done again', async () => {
  const database = await server.makeDatabase();
  await run(['migrate'], database);
  await server.execute(
    database,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON todos DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  const refused = await run(['import', FIRST_VERSION], database);
  assert.deepEqual(refused, { code: 69, stdout: '', stderr: 'Cannot import: not now\n' });
  await server.execute(database, 'DROP TRIGGER refuse ON todos');
  assert.equal((await run(['import', FIRST_VERSION], database)).code, 0);
});

test('E3 · a role that may not see where ids stand puts nothing back, and is told what to grant', async () => {
  const database = await server.makeDatabase();
  await run(['migrate'], database);
  const { role, url } = await server.makeRole(database);
  await server.execute(
    database,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`,
  );
  const grants = ['todos', 'categories'].map(
    (table) => `GRANT SELECT ON SEQUENCE ${table}_id_seq TO ${role}`,
  );
  assert.deepEqual(await run(['import', '--only', '7', '-'], url, exportOf([7])), {
    code: 69,
    stdout: '',
    stderr: `Cannot import: its role lacks rights: ${grants.join('; ')}\n`,
  });
  assert.match(await exported(database), /^[^\n]*"todos":0,/);
});

test('after an import PostgreSQL has statistics', async () => {
  const database = await server.makeDatabase();
  await run(['import', FIRST_VERSION], database);
  const [row] = await server.execute(database, "SELECT reltuples FROM pg_class WHERE relname = 'todos'");
  assert.equal(row?.reltuples, 4);
});

test('no limit of the role ends an export or an import', async () => {
  const { owner, url } = await server.makeOwnedDatabase();
  const limits = await server.execute(
    url,
    `SELECT name FROM pg_settings
      WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`,
  );
  for (const { name } of limits)
    await server.execute(server.url, `ALTER ROLE ${owner} SET ${name} = '300ms'`);
  const text = exportOf(Array.from({ length: 50_000 }, (_, index) => index + 1));
  assert.equal((await run(['import', '-'], url, text)).code, 0);
  assert.equal((await exported(url)).length > text.length, true);
});

for (const version of [1, 2]) {
  test(`a SQLite backup of schema version ${version} is exported, and nothing is made beside it or changed`, async () => {
    const home = newPath('backup');
    await mkdir(home);
    const path = join(home, 'x.db');
    await run(['import', FIRST_VERSION], `sqlite:${path}`);
    if (version === 1) {
      using old = new DatabaseSync(path);
      old.exec('DROP TABLE idempotency_keys; PRAGMA user_version = 1');
    }
    await rm(`${path}-owner`);
    await chmod(path, 0o400);
    await chmod(home, 0o500);
    const before = await readFile(path);
    const text = await exported(`sqlite:${path}`);
    await chmod(home, 0o700);
    assert.deepEqual(await readdir(home), ['x.db']);
    assert.deepEqual(await readFile(path), before);
    assert.equal((await run(['import', '-'], await server.makeDatabase(), text)).code, 0);
  });
}

async function namesLike(path: string): Promise<readonly string[]> {
  const names = await readdir(folder.path);
  return names.map((name) => join(folder.path, name)).filter((name) => name.startsWith(path));
}
