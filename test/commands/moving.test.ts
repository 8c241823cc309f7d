import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readDocument } from '../../src/openapi/documents.ts';
import { MEMBERS } from '../../src/shared-list/members.ts';
import * as postgres from '../../src/storage/postgres/transfer.ts';
import { MIGRATIONS } from '../../src/storage/sqlite/schema.ts';
import * as sqlite from '../../src/storage/sqlite/transfer.ts';
import { exportParts } from '../../src/storage/transfer/write-export.ts';
import { exportOf, idsTo } from '../storage/moving.ts';
import { execute, fill, newPath } from '../storage/new-files.ts';
import { type Served, serve } from '../storage/served.ts';
import { start } from '../support/start.ts';
import { type Engine, engines, pathOf, printed, refused, run, server } from './engines.ts';

const FIRST_VERSION = fileURLToPath(new URL('./export-v1.jsonl', import.meta.url));

/** What an export says, without a program. */
async function contents(database: string): Promise<string> {
  await using source = database.startsWith('sqlite:')
    ? await sqlite.openExport(pathOf(database))
    : await postgres.openExport(database);
  return (await Array.fromAsync(exportParts(source), ({ text }) => text)).join('');
}

/** What a service answers to a create with a key: its status, and the todo. */
async function createOnce(service: Served, key: string, title: string) {
  const reply = await service.ask('POST', '/todos', { title, categoryId: 1 }, { 'idempotency-key': key });
  return { status: reply.status, body: JSON.parse(await reply.text()) };
}

/** Imports a text, which must succeed: what is printed. */
const imported = (database: string, text: string, ...words: readonly string[]) =>
  printed(database, ['import', ...words, '-'], { input: text });

for (const [name, engine] of Object.entries(engines)) {
  describe(name, () => describeMoving(engine));
}

function describeMoving({ make, makeMigrated, execute, leavingOut }: Engine): void {
  /** The text of an export without the line of its SHA-256 and keys, which depend on the time. */
  const rows = (text: string) => text.split('\n').filter((line) => !/^\{"(?:sha256|key)"/.test(line));

  test('an export that is made while todos are added is one moment [E1]', async () => {
    const database = await make();
    await using service = await serve(database);
    for (let count = 0; count < 20; count += 1) await service.post({ title: `before ${count}` });
    // At no time more than the service has connections: none waits long for one.
    const addTen = async () => {
      for (let count = 0; count < 10; count += 1) await service.post({ title: 'during' });
    };
    const adding = Promise.all(Array.from({ length: 5 }, addTen));
    const text = await printed(database, ['export']);
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

  test('ids, categories, done, keys, next id and the tag of the list survive a move to either engine [E2]', async () => {
    const source = await makeMigrated();
    await printed(source, ['categories', 'add', 'Gärten \u{1F331}']);
    await using service = await serve(source);
    await service.post({ title: ' "\\ \u{1F95B}', categoryId: 3 });
    const first = await createOnce(service, 'a-key', 'once');
    await service.post();
    await service.ask('PUT', '/todos/1', { title: 'done', done: true, categoryId: 2 });
    await service.ask('DELETE', '/todos/3');
    const listed = await service.ask('GET', '/todos');
    const text = await printed(source, ['export']);
    for (const other of Object.values(engines)) {
      const target = await other.make();
      await imported(target, text);
      assert.deepEqual(rows(await printed(target, ['export'])), rows(text));
      await using moved = await serve(target);
      const again = await moved.ask('GET', '/todos');
      assert.equal(again.headers.get('etag'), listed.headers.get('etag'));
      assert.deepEqual(await createOnce(moved, 'a-key', 'once'), first);
      assert.equal((await createOnce(moved, 'a-key', 'another')).status, 422);
      assert.equal((await createOnce(moved, 'another-key', 'new')).body.id, 4);
      assert.equal(await printed(target, ['categories', 'add', 'Kitchen']), '4\n');
    }
  });

  test('MEMBERS: what POST and PUT set of each member is read, exported, imported and read again [E2]', async () => {
    const { CreateTodo, ReplaceTodo, TodoResponse } = JSON.parse(readDocument('shared-list')).components
      .schemas;
    const membersOf = (schema: { readonly properties: object }) => Object.keys(schema.properties);
    const names = MEMBERS.map(({ name }) => name);
    assert.deepEqual([membersOf(ReplaceTodo), membersOf(TodoResponse)], [names, ['id', ...names]]);
    // None is what a member is that was forgotten.
    const values = { text: 'b', boolean: true, integer: 2 };
    const bodyOf = (members: readonly string[]) =>
      Object.fromEntries(
        MEMBERS.filter(({ name }) => members.includes(name)).map(({ name, kind }) => [name, values[kind]]),
      );
    const source = await make();
    const read = async (service: Served, id: number) =>
      JSON.parse(await (await service.ask('GET', `/todos/${id}`)).text());
    await using service = await serve(source);
    const [created, replaced] = [CreateTodo, ReplaceTodo].map((schema) => bodyOf(membersOf(schema)));
    for (const body of [created, { title: 'a', categoryId: 1 }]) await service.ask('POST', '/todos', body);
    await service.ask('PUT', '/todos/2', replaced);
    const todos = [await read(service, 1), await read(service, 2)];
    assert.deepEqual(todos, [
      { id: 1, done: false, ...created },
      { id: 2, ...replaced },
    ]);
    const text = await printed(source, ['export']);
    for (const other of Object.values(engines)) {
      const target = await other.make();
      await imported(target, text);
      await using moved = await serve(target);
      assert.deepEqual([await read(moved, 1), await read(moved, 2)], todos);
    }
  });

  test('a file of the first version of the format is imported; a key of tomorrow is one of now and repeats its create, an old one is left out and not counted [E2]', async () => {
    const target = await make();
    assert.match(
      await printed(target, ['import', FIRST_VERSION]),
      /: todos 4, categories 3, keys of creates 1, highest id given out 42\n$/,
    );
    const text = await printed(target, ['export']);
    const original = readFileSync(FIRST_VERSION, 'utf8');
    assert.deepEqual(rows(text).slice(1), rows(original).slice(1));
    const keys = text.split('\n').filter((line) => line.startsWith('{"key"'));
    assert.equal(keys.length, 1);
    const { todoId, at } = JSON.parse(keys[0] ?? '{}');
    assert.equal(todoId, 41);
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at);
    await using service = await serve(target);
    assert.equal((await createOnce(service, 'k', 'a')).body.id, 43);
    // What the caller "ada" of "https://issuer.example" created before.
    assert.equal((await createOnce(service, 'abc', 'Buy milk')).body.id, 41);
  });

  test('keys of creates are moved until they are 24 hours old [E1]', async () => {
    const old = (seconds: number) => `${new Date(Date.now() - seconds * 1_000).toISOString().slice(0, 19)}Z`;
    const [lines = ''] = readFileSync(FIRST_VERSION, 'utf8').split('{"sha256"');
    const text = lines
      .replace('2020-02-29T23:59:59Z', old(86_400 + 10))
      .replace('2099-01-01T00:00:00Z', old(86_400 - 120));
    const target = await make();
    const sha256 = createHash('sha256').update(text).digest('hex');
    assert.match(await imported(target, `${text}{"sha256":"${sha256}"}\n`), /, keys of creates 1,/);
    assert.match(await contents(target), /"todoId":41,/);
  });

  test('when the last id was given out, none is given out after a move [D5]', async () => {
    const target = await make();
    await imported(target, exportOf([2_147_483_647]));
    await using service = await serve(target);
    await service.post({ status: 500 });
  });

  for (const [content, sql] of [
    ['it has todos', "INSERT INTO todos (title, category_id) VALUES ('a', 1)"],
    [
      'it has keys of creates',
      `INSERT INTO idempotency_keys (key, body, todo_id) VALUES ('${'k'.repeat(43)}', '${'b'.repeat(43)}', 1)`,
    ],
    [
      'ids of todos were given out',
      "INSERT INTO todos (title, category_id) VALUES ('a', 1); DELETE FROM todos",
    ],
    [
      'it has other categories than those of a first start',
      "INSERT INTO categories (name) VALUES ('Garden')",
    ],
  ] as const) {
    test(`a database is not empty when ${content}: 69, and nothing is changed [E5]`, async () => {
      const target = await makeMigrated();
      await execute(target, sql);
      const before = await contents(target);
      const stderr = `Cannot import: the database must be empty, and ${content}: make a new one, and set TODO_DATABASE to it\n`;
      await refused(target, ['import', FIRST_VERSION], { code: 69, stderr });
      assert.equal(await contents(target), before);
    });
  }

  for (const [table, row, input, counts] of [
    ['categories', 'NEW.id = 2', exportOf([1]), '2 rows, received 1'],
    ['todos', 'NEW.id = 8', readFileSync(FIRST_VERSION, 'utf8'), '4 rows, received 3'],
    ['idempotency_keys', 'NEW.todo_id = 41', readFileSync(FIRST_VERSION, 'utf8'), '2 rows, received 1'],
  ] as const) {
    test(`where a trigger of ${table} leaves out a row, an import changes nothing and names the cause: 69 [E2; E5]`, async () => {
      const target = await makeMigrated();
      await execute(target, leavingOut(table, row));
      const before = await contents(target);
      const cause = 'a trigger or a rule that is not of this program leaves out or adds some';
      const stderr = `Cannot import: "${table}" must have ${counts}: ${cause}. "todo-service check" names it\n`;
      await refused(target, ['import', '-'], { input, code: 69, stderr });
      assert.equal(await contents(target), before);
      assert.match((await run(target, ['check'])).stdout, /FAULT .*leaving_out/);
    });
  }

  test('a file that is cut off, or has a changed byte, is refused with 65 and one line, and nothing is changed [E4]', async () => {
    const target = await makeMigrated();
    const before = await contents(target);
    const text = exportOf(idsTo(5_000));
    const cutOff = /^Cannot import: standard input: it ends within line \d+, so it was cut off\n$/;
    const changed = /: line 5004: the lines before it are not what was written/;
    for (const [input, stderr] of [
      [text.slice(0, 200_000), cutOff],
      ['', /^Cannot import: standard input: it ends before line 1, so it was cut off\n$/],
      [text.replace('Todo 4000', 'Todo 4001'), changed],
    ] as const) {
      await refused(target, ['import', '-'], { input, code: 65, stderr });
      assert.equal(await contents(target), before);
    }
    await imported(target, text);
  });
}

test('an export to a file is 0600, never replaces one, and leaves nothing else beside it', async () => {
  const database = await engines.SQLite.makeMigrated();
  const file = newPath('todos.jsonl');
  const counts = 'todos 0, categories 2, keys of creates 0, highest id given out 0';
  assert.equal(await printed(database, ['export', file]), `${file}: ${counts}\n`);
  assert.equal(((await stat(file)).mode & 0o777).toString(8), '600');
  assert.equal(await readFile(file, 'utf8'), await printed(database, ['export']));
  const stderr = `Cannot export: "${file}": there is something of this name already\n`;
  await refused(database, ['export', file], { code: 74, stderr });
  const nowhere = join(dirname(file), 'no', 'folder');
  await refused(database, ['export', nowhere], { code: 74, stderr: /ENOENT/ });
  await refused(database, ['export', newPath('a'.repeat(240))], { code: 74, stderr: /ENAMETOOLONG/ });
  assert.deepEqual(await readdir(dirname(file)), ['todos.jsonl']);
});

test('a SQLite file that was made for an import that fails goes again', async () => {
  const path = newPath();
  const input = exportOf([1, 2]).slice(0, 200);
  await refused(`sqlite:${path}`, ['import', '-'], { input, code: 65, stderr: /cut off/ });
  assert.deepEqual(await readdir(dirname(path)), ['todos.db-owner']);
});

test('a SQLite file that is served is refused with 75 [E5]', async () => {
  const database = await engines.SQLite.make();
  await using _service = await serve(database);
  await refused(database, ['import', FIRST_VERSION], { code: 75, stderr: /served by process/ });
});

test('an import that is refused says so, then reads standard input to its end; a signal ends it at once', async () => {
  const served = await engines.SQLite.make();
  await using _service = await serve(served);
  for (const [words, code] of [
    [['--no-such'], 2],
    [['--database', await engines.SQLite.make()], 65],
    [['--database', served], 75],
    [['--database', 'mysql://'], 78],
  ] as const) {
    const child = start(['import', '-', ...words]);
    const ended = once(child, 'exit');
    // Else it refuses what it reads.
    if (code !== 65) await saying(child);
    let failed: unknown;
    child.stdin.on('error', (error) => {
      failed = error;
    });
    child.stdin.end(Buffer.alloc(3_000_000, 'x'));
    assert.deepEqual(await ended, [code, null]);
    assert.deepEqual([failed, child.stdin.writableLength], [undefined, 0]);
  }
  const child = start(['import', '-', '--database', served]);
  const ended = once(child, 'exit');
  await saying(child);
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [143, null]);
});

/** Waits until a program says something on standard error. */
async function saying(child: ReturnType<typeof start>): Promise<void> {
  let said = false;
  child.stderr.on('data', () => {
    said = true;
  });
  while (!said) await sleep(20);
}

test('a file that is not there is refused with 66', async () => {
  const stderr = /^Cannot import: "[^"]*": ENOENT: [^\n]*\n$/;
  await refused(await engines.SQLite.make(), ['import', newPath()], { code: 66, stderr });
});

test('a create of an instance that is up, which import waits for, makes it refuse [E5]', async () => {
  const database = await server.makeMigrated();
  await using creating = await server.session(database, 'BEGIN; LOCK TABLE todos IN ROW EXCLUSIVE MODE');
  const stderr = /^Cannot import: the database must be empty, and it has todos: [^\n]*\n$/;
  const importing = refused(database, ['import', FIRST_VERSION], { code: 69, stderr });
  await server.somebodyWaits(database);
  await creating.query("INSERT INTO todos (title, category_id) VALUES ('mine', 1); COMMIT");
  await importing;
  assert.match(await printed(database, ['export']), /"mine"/);
});

test('while another imports into PostgreSQL, an import is refused at once, and the other is made [E5]', async () => {
  const database = await server.makeMigrated();
  await using first = await postgres.openImport(database);
  const stderr = 'Cannot import: another import into the database is under way\n';
  await refused(database, ['import', FIRST_VERSION], { code: 69, stderr });
  await first.commit({ categories: 0, todos: 0, keys: 0, highestId: 7, highestCategoryId: 0 });
  assert.match(await printed(database, ['export']), /"highestId":7,/);
});

test('an import whose commit the server refuses changes nothing, the next id neither, and can be done again [E5]', async () => {
  const database = await server.makeMigrated();
  await server.execute(
    database,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON todos DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  const stderr = 'Cannot import: not now (PL/pgSQL function refuse() line 1 at RAISE)\n';
  await refused(database, ['import', FIRST_VERSION], { code: 69, stderr });
  await server.execute(database, 'DROP TRIGGER refuse ON todos');
  await printed(database, ['import', FIRST_VERSION]);
});

test('after an import PostgreSQL has statistics', async () => {
  const database = await server.makeMigrated();
  await printed(database, ['import', FIRST_VERSION]);
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
  const text = exportOf(idsTo(50_000));
  await imported(url, text);
  assert.equal((await printed(url, ['export'])).length > text.length, true);
});

for (const version of [1, 2]) {
  test(`a SQLite backup of schema version ${version} is exported, nothing is made beside it or changed, and it can be migrated`, async () => {
    const path = newPath('x.db');
    const home = dirname(path);
    execute(
      path,
      `PRAGMA journal_mode = WAL; ${MIGRATIONS.from(0).slice(0, version).join('')}
        PRAGMA application_id = 0x746f646f; PRAGMA user_version = ${version};
        INSERT INTO categories (name) VALUES ('Work')`,
    );
    fill(path, 4);
    await chmod(path, 0o400);
    await chmod(home, 0o500);
    const before = await readFile(path);
    const text = await printed(`sqlite:${path}`, ['export']);
    await chmod(home, 0o700);
    assert.deepEqual(await readdir(home), ['x.db']);
    assert.deepEqual(await readFile(path), before);
    await imported(await server.makeDatabase(), text);
    assert.match(text, /"todos":4,/);
    await chmod(path, 0o600);
    const migrated = await printed(`sqlite:${path}`, ['migrate']);
    assert.ok(migrated.endsWith(` from version ${version} to ${engines.SQLite.schemaVersion}.\n`), migrated);
  });
}

test('a column that an older schema does not have is null in an export: tableOf [E1]', async () => {
  const path = newPath();
  execute(
    path,
    `${MIGRATIONS.from(0)[0]} PRAGMA application_id = 0x746f646f; PRAGMA user_version = 1;
      ALTER TABLE todos DROP done; INSERT INTO categories (name) VALUES ('Work')`,
  );
  fill(path, 1);
  assert.match(
    await contents(`sqlite:${path}`),
    /\n\{"id":1,"title":"Todo 1","done":false,"categoryId":1\}\n/,
  );
});
