import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as postgres from '../../src/store/postgres/transfer.ts';
import { MIGRATIONS } from '../../src/store/sqlite/schema.ts';
import * as sqlite from '../../src/store/sqlite/transfer.ts';
import { exportParts } from '../../src/store/transfer/lines.ts';
import { exportOf, idsTo } from '../storage/moving.ts';
import { execute, fill, newPath } from '../storage/new-files.ts';
import { type Served, serve } from '../storage/served.ts';
import { type Engine, engines, pathOf, printed, refused, server } from './engines.ts';

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

function describeMoving({ make, makeMigrated, execute }: Engine): void {
  /** The text of an export without the line of its SHA-256 and keys, which depend on the time. */
  const rows = (text: string) => text.split('\n').filter((line) => !/^\{"(?:sha256|key)"/.test(line));

  test('E1 · an export that is made while todos are added is one moment', async () => {
    const database = await make();
    await using service = await serve(database);
    for (let count = 0; count < 20; count += 1) await service.post({ title: `before ${count}` });
    const adding = Promise.all(Array.from({ length: 50 }, () => service.post({ title: 'during' })));
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

  test('E2 · ids, categories, done, keys, next id and the tag of the list survive a move to either engine', async () => {
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

  test('E2 · a file of the first version of the format is imported; a key of tomorrow is one of now, an old one is left out', async () => {
    const target = await make();
    assert.match(
      await printed(target, ['import', FIRST_VERSION]),
      /: todos 4, categories 3, keys of creates 2, highest id given out 42\n$/,
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
  });

  test('D5 · when the last id was given out, none is given out after a move', async () => {
    const target = await make();
    await imported(target, exportOf([2_147_483_647]));
    await using service = await serve(target);
    await service.post({ status: 500 });
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
      const stderr = `Cannot import: the database must be empty, and ${content}\n`;
      await refused(target, ['import', FIRST_VERSION], { code: 69, stderr });
      assert.equal(await contents(target), before);
    });
  }

  test('E4 · a file that is cut off, or has a changed byte, is refused with 65 and one line, and nothing is changed', async () => {
    const target = await makeMigrated();
    const before = await contents(target);
    const text = exportOf(idsTo(5_000));
    const cutOff = /^Cannot import: standard input: it ends within line \d+, so it was cut off\n$/;
    const changed = /: line 5004: the lines before it are not what was written/;
    for (const [input, stderr, ...only] of [
      [text.slice(0, 200_000), cutOff],
      ['', /^Cannot import: standard input: it ends before line 1, so it was cut off\n$/],
      [text.replace('Todo 4000', 'Todo 4001'), changed],
      [text.replace('Todo 4000', 'Todo 4001'), changed, '--only', '5'],
    ] as const) {
      await refused(target, ['import', ...only, '-'], { input, code: 65, stderr });
      assert.equal(await contents(target), before);
    }
    await imported(target, text);
  });

  test('E3 · todos come back with their ids beside the service, which shows them at once', async () => {
    const database = await make();
    await using service = await serve(database);
    for (const title of ['one', 'two', 'three']) await service.post({ title });
    const text = await printed(database, ['export']);
    for (const id of [1, 3]) {
      await service.ask('DELETE', `/todos/${id}`);
      assert.equal((await service.ask('GET', `/todos/${id}`)).status, 404);
    }
    assert.deepEqual(await service.titles(), ['two']);
    assert.match(await imported(database, text, '--only', '1'), /^Put back into [^\n]*: todos 1\n$/);
    assert.equal((await service.ask('GET', '/todos/1')).status, 200);
    assert.deepEqual(await service.titles(), ['one', 'two']);
    await imported(database, text, '--only', 'deleted');
    assert.deepEqual(await service.titles(), ['one', 'two', 'three']);
    await service.post({ title: 'four' });
    assert.equal((await service.ask('GET', '/todos/4')).status, 200);
  });

  test('E3 · every instance shows todos that come back at once, and the next id is above them', async () => {
    const database = await make();
    await using one = await serve(database);
    // One SQLite file is served by one process.
    await using other = database.startsWith('sqlite:') ? undefined : await serve(database);
    const instances = other === undefined ? [one] : [other, one];
    for (const instance of instances) assert.deepEqual(await instance.titles(), []);
    await imported(database, exportOf([7, 8, 9]), '--only', '7,9');
    for (const instance of instances) assert.deepEqual(await instance.titles(), ['Todo 7', 'Todo 9']);
    for (const instance of instances) await instance.post();
    const ids = (await one.list()).map(({ id }) => id);
    assert.deepEqual(ids, [7, 9, ...instances.map((_, index) => 10 + index)]);
  });

  test('E3 · a todo that is there, is not in the file, or has no category, is refused by name, and none is made', async () => {
    const database = await makeMigrated();
    await imported(database, exportOf([7]), '--only', '7');
    const before = await contents(database);
    for (const [only, input, reason] of [
      ['5,7,9', exportOf([5, 7, 9]), 'todo 7: in the database already'],
      ['5,6', exportOf([5, 7]), 'todo 6: not in the export'],
      [
        '1,40',
        readFileSync(FIRST_VERSION, 'utf8'),
        'todo 40 (category 5): the database has no such category',
      ],
    ] as const) {
      const stderr = `Cannot import: ${reason}\n`;
      await refused(database, ['import', '--only', only, '-'], { input, code: 1, stderr });
    }
    assert.equal(await contents(database), before);
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
  assert.deepEqual(await readdir(dirname(file)), ['todos.jsonl']);
});

test('a SQLite file that was made for an import that fails goes again', async () => {
  const path = newPath();
  const input = exportOf([1, 2]).slice(0, 200);
  await refused(`sqlite:${path}`, ['import', '-'], { input, code: 65, stderr: /cut off/ });
  assert.deepEqual(await readdir(dirname(path)), ['todos.db-owner']);
});

test('E5 · a SQLite file that is served is refused with 75', async () => {
  const database = await engines.SQLite.make();
  await using _service = await serve(database);
  await refused(database, ['import', FIRST_VERSION], { code: 75, stderr: /served by process/ });
});

test('a file that is not there is refused with 66', async () => {
  const stderr = /^Cannot import: "[^"]*": ENOENT: [^\n]*\n$/;
  await refused(await engines.SQLite.make(), ['import', newPath()], { code: 66, stderr });
});

test('E5 · a create of an instance that is up, which import waits for, makes it refuse', async () => {
  const database = await server.makeMigrated();
  await using creating = await server.session(database, 'BEGIN; LOCK TABLE todos IN ROW EXCLUSIVE MODE');
  const stderr = 'Cannot import: the database must be empty, and it has todos\n';
  const importing = refused(database, ['import', FIRST_VERSION], { code: 69, stderr });
  await server.somebodyWaits(database);
  await creating.query("INSERT INTO todos (title, category_id) VALUES ('mine', 1); COMMIT");
  await importing;
  assert.match(await printed(database, ['export']), /"mine"/);
});

test('E5 · an import whose commit the server refuses changes nothing, the next id neither, and can be done again', async () => {
  const database = await server.makeMigrated();
  await server.execute(
    database,
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON todos DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION refuse()`,
  );
  await refused(database, ['import', FIRST_VERSION], { code: 69, stderr: 'Cannot import: not now\n' });
  await server.execute(database, 'DROP TRIGGER refuse ON todos');
  await printed(database, ['import', FIRST_VERSION]);
});

test('E3 · a role that may not see where ids stand puts nothing back, and is told what to grant', async () => {
  const database = await server.makeMigrated();
  const { role, url } = await server.makeRole(database);
  await server.execute(
    database,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`,
  );
  const grants = ['todos', 'categories'].map(
    (table) => `GRANT SELECT ON SEQUENCE ${table}_id_seq TO ${role}`,
  );
  const stderr = `Cannot import: its role lacks rights: ${grants.join('; ')}\n`;
  await refused(url, ['import', '--only', '7', '-'], { input: exportOf([7]), code: 69, stderr });
  assert.match(await contents(database), /^[^\n]*"todos":0,/);
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
