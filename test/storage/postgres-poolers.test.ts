import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { test } from 'node:test';
import type { TodoStore } from '../../src/shared-list/store.ts';
import * as transfer from '../../src/storage/postgres/transfer.ts';
import { runCommand } from '../support/run-command.ts';
import { type FakePooler, startFakePooler } from './fake-pooler.ts';
import { exportOf } from './moving.ts';
import { newPath } from './new-files.ts';
import { openPatient } from './postgres-pool.ts';
import { PostgresServer } from './postgres-server.ts';
import { addedTo, found, listed, newTodo, once, replacement } from './todos.ts';

const server = await PostgresServer.startForAll();

const NOT_KEPT =
  'its pooler must keep a transaction on one connection, as PgBouncer does with "pool_mode = transaction"';

/** What is in a database: schemas, tables, functions and rows. */
async function contents(url: string): Promise<unknown> {
  const parts = `SELECT nspname AS name FROM pg_namespace
    UNION ALL SELECT oid::regclass || ' ' || relfilenode FROM pg_class
    UNION ALL SELECT oid::regprocedure::text FROM pg_proc WHERE oid > 16384 ORDER BY 1`;
  const [list] = await server.execute(url, "SELECT to_regclass('todos') IS NOT NULL AS there");
  const rows = `SELECT (SELECT json_agg(todos) FROM todos) AS todos, (SELECT json_agg(categories) FROM categories) AS categories,
    (SELECT last_value FROM todos_id_seq) AS ids`;
  return [await server.execute(url, parts), list?.there ? await server.execute(url, rows) : []];
}

/** An empty database, or one with the list, and a pooler before it. */
async function pooled(url: string) {
  const pooler = await startFakePooler();
  return {
    direct: url,
    url: pooler.through(url),
    pooler,
    [Symbol.asyncDispose]: () => pooler[Symbol.asyncDispose](),
  };
}

/** Each statement that comes to the pooler meets the other session. */
function inTurn(): () => boolean {
  let number = 0;
  return () => {
    number += 1;
    return number % 2 === 0;
  };
}

const unfit: Readonly<Record<string, (pooler: FakePooler) => void>> = {
  'that commits each statement by itself': (pooler) => {
    pooler.keeps = false;
  },
  'that gives the statements of a client to two sessions in turn': (pooler) => {
    pooler.elsewhere = inTurn();
  },
};

for (const [what, spoil] of Object.entries(unfit)) {
  for (const list of ['no list', 'a list'] as const) {
    test(`behind a pooler ${what}, before ${list}, each command ends with 69 and a sentence, and leaves nothing behind [D26]`, async () => {
      const made = list === 'no list' ? server.makeDatabase() : server.makeMigrated();
      await using database = await pooled(await made);
      const path = newPath('export.jsonl');
      await writeFile(`${path}.in`, exportOf([1, 2, 3]));
      const before = await contents(database.direct);
      spoil(database.pooler);
      for (const words of [
        ['serve', '--environment', 'development', '--port', '0'],
        ['check'],
        ['migrate'],
        ['export', path],
        ['import', `${path}.in`],
        ['backup', path],
        ['restore', `${path}.in`],
        ['categories', 'add', 'Garden'],
      ]) {
        const { code, stderr } = await runCommand(words, { env: { TODO_DATABASE: database.url } });
        assert.equal(code, 69, `${words.join(' ')}: ${stderr}`);
        assert.ok(stderr.endsWith(`: ${NOT_KEPT}\n`), stderr);
        assert.deepEqual(await contents(database.direct), before, words.join(' '));
      }
      assert.deepEqual(await readdir(dirname(path)), ['export.jsonl.in']);
    });
  }
}

for (const [command, list, text] of [
  ['check', 'a list', 'CREATE SCHEMA'],
  ['migrate', 'no list', 'todo_schema (version'],
  ['migrate', 'no list', 'CREATE TABLE todos'],
  ['migrate', 'no list', 'INSERT INTO todo_schema'],
] as const) {
  test(`${command}, of which a pooler does "${text}" elsewhere, leaves nothing behind [D26]`, async () => {
    await using database = await pooled(
      await (list === 'no list' ? server.makeDatabase() : server.makeMigrated()),
    );
    const before = await contents(database.direct);
    database.pooler.elsewhere = (request) => request.includes(text);
    const { code, stderr } = await runCommand([command], { env: { TODO_DATABASE: database.url } });
    assert.equal(code, 69, stderr);
    assert.ok(stderr.endsWith(`: ${NOT_KEPT}\n`), stderr);
    assert.deepEqual(await contents(database.direct), before);
  });
}

test('a list whose transaction the pooler ends is a 503, and the first one after it is right [D26]', async () => {
  await using database = await pooled(await server.makeMigrated());
  await using store = await openPatient(database.url);
  await addedTo(store, 'a');
  database.pooler.keeps = false;
  await assert.rejects(async () => store.list(), {
    name: 'StoreUnavailable',
    message: `The connection to the database was lost: ${NOT_KEPT}`,
  });
  assert.equal((await found(store, 1))?.title, 'a');
  database.pooler.keeps = true;
  assert.equal((await listed(store)).length, 1);
});

test('an export whose transaction the pooler ends gives no later part [D26; E1]', async () => {
  await using database = await pooled(await server.makeMigrated());
  await using source = await transfer.openExport(database.url);
  database.pooler.elsewhere = () => true;
  await assert.rejects(Array.fromAsync(source.parts('todos')), {
    name: 'StoreUnavailable',
    message: `The connection to the database was lost: ${NOT_KEPT}`,
  });
});

test('an import whose COMMIT meets no transaction has an unknown outcome [D26; E5]', async () => {
  await using database = await pooled(await server.makeMigrated());
  await using target = await transfer.openImport(database.url);
  await target.add({ categories: [{ id: 1, name: 'Work' }], todos: [], keys: [] });
  database.pooler.elsewhere = (request) => request.includes('COMMIT');
  const contents = { highestId: 0, highestCategoryId: 1, categories: 1, todos: 0, keys: 0 };
  await assert.rejects(target.commit(contents), {
    name: 'OutcomeUnknown',
    message: `The connection to the database was lost: ${NOT_KEPT}: nobody knows whether it was done`,
  });
});

/** Asks the store in each way, and what happens then to the answer of the statement with this text. */
const asks: readonly [what: string, text: string, ask: (store: TodoStore) => unknown, name: string][] = [
  ['a create', 'INSERT INTO todos', (store) => store.add(newTodo('b', 1)), 'OutcomeUnknown'],
  [
    'a create with a key',
    'INSERT INTO todos',
    (store) => store.add(newTodo('b', 1), once('k')),
    'OutcomeUnknown',
  ],
  ['a replace', 'UPDATE todos', (store) => store.replace(1, replacement('b', true, 1), {}), 'OutcomeUnknown'],
  ['a delete', 'DELETE FROM todos', (store) => store.remove(1, {}), 'OutcomeUnknown'],
  ['a todo', 'FROM todos WHERE id = ANY', (store) => store.find(1), 'StoreUnavailable'],
  ['the list', 'BEGIN', (store) => store.list(), 'StoreUnavailable'],
  ['the list', 'pg_current_snapshot', (store) => store.list(), 'StoreUnavailable'],
  ['a look', 'in_hot_standby', (store) => store.check(), 'StoreUnavailable'],
];

for (const [what, text, ask, name] of asks) {
  test(`an answer without a result, for ${what} (${text}), is a lost connection: ${name} [D9]`, async () => {
    await using database = await pooled(await server.makeMigrated());
    await using store = await openPatient(database.url, { prepare: false });
    await addedTo(store, 'a');
    database.pooler.mutes = (request) => request.includes(text);
    await assert.rejects(async () => ask(store), {
      name,
      message: 'The connection to the database was lost: an answer without a result',
    });
    database.pooler.mutes = () => false;
    assert.equal(
      (await listed(store)).length,
      { 'a create': 2, 'a create with a key': 2, 'a delete': 0 }[what] ?? 1,
    );
  });
}

test('where a pooler mixes sessions, creates are made once each, and no statement is named any more [D9]', async () => {
  await using database = await pooled(await server.makeMigrated());
  await using store = await openPatient(database.url, { connections: 1 });
  await addedTo(store, 'a');
  const named: string[] = [];
  database.pooler.elsewhere = (request) => {
    if (/^P\0...[^\0]/s.test(request)) named.push(request);
    return request.startsWith('B') || request.includes('INSERT');
  };
  await addedTo(store, 'b');
  await addedTo(store, 'c', 1, once('k'));
  assert.equal((await found(store, 3))?.title, 'c');
  assert.deepEqual(
    (await listed(store)).map(({ title }) => title),
    ['a', 'b', 'c'],
  );
  assert.deepEqual(named, []);
});
