import { existsSync, realpathSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tell } from '../../events.ts';
import { fingerprintOf } from '../../files.ts';
import { OutcomeUnknown, StoreUnavailable } from '../store.ts';
import { COLUMN_NAMES } from '../todo.ts';
import { contentBy, type ExportSource, type ImportTarget, refusalOfStaged } from '../transfer/contents.ts';
import { isSyncFailure, notOpened } from './error.ts';
import { checkFile, checkReadable, existing, openExisting, removeDatabase } from './file.ts';
import { asStoreError, listCategories, openBeside } from './operator.ts';
import { openOwned } from './owned-database.ts';
import { columnValues, insertInto, prepareTodos } from './row.ts';
import { checkReadableSchema } from './schema.ts';

/** How many rows make one part. */
const PART_SIZE = 2_048;

const HAS_KEYS = "SELECT 1 FROM sqlite_schema WHERE name = 'idempotency_keys'";
/** A table that schema version 1 does not have. */
const NO_KEYS = "(SELECT '' AS key, '' AS body, 0 AS todo_id, 0 AS at WHERE false)";
const NOW = 'SELECT unixepoch() AS now';

const CONTENT = contentBy("EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'todos' AND seq > 0)");
const ADD_CATEGORY = 'INSERT INTO categories (id, name) VALUES (?, ?)';
const ADD_KEY = `INSERT INTO idempotency_keys (key, body, todo_id, at)
  SELECT ?, ?, ?, min(?4, unixepoch()) WHERE ?4 > unixepoch() - 86400`;
const FORGET_HIGHEST = "DELETE FROM sqlite_sequence WHERE name IN ('categories', 'todos')";
const SET_HIGHEST = 'INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)';

const STAGE = `CREATE TEMP TABLE staged (id INTEGER PRIMARY KEY, ${COLUMN_NAMES.join(', ')})`;
const RESTORE = `INSERT INTO todos (id, ${COLUMN_NAMES.join(', ')}) SELECT * FROM staged
  WHERE true ORDER BY id ON CONFLICT (id) DO NOTHING`;
const COUNT_STAGED = 'SELECT count(*) AS count FROM staged';

/** After so long, a service has seen what another process wrote. */
const SEEN_WITHIN_MS = 100;

/**
 * Opens a SQLite file to export it, while it is served or not. What nobody has open, a backup for example, may have an
 * older schema and be on a read-only disk; it is only read, and nothing is made beside it.
 *
 * @throws {StoreNotOpened} when it is no database of this program, or a newer one.
 */
export async function openExport(path: string): Promise<ExportSource> {
  try {
    using parts = new DisposableStack();
    checkFile(path);
    const { database, isUnchanged } = await openToRead(realpathSync(path));
    parts.use(database);
    checkReadableSchema(database);
    database.exec('PRAGMA query_only = ON; BEGIN');
    const source = sourceOf(database, isUnchanged);
    parts.move();
    return source;
  } catch (error) {
    throw notOpened(path, error);
  }
}

/**
 * Where there is no log, nobody has the file open. Then it is read as one that cannot change: SQLite makes neither log
 * nor locks. A service that starts meanwhile would show, at the latest when it moves its log into the file.
 */
async function openToRead(path: string) {
  if (['-wal', '-journal'].some((suffix) => existsSync(path + suffix)))
    return { database: openExisting(path), isUnchanged: async () => true };
  checkReadable(path);
  const before = await fingerprintOf(path);
  const url = existing(path, true);
  url.searchParams.set('immutable', '1');
  return { database: new DatabaseSync(url), isUnchanged: async () => (await fingerprintOf(path)) === before };
}

function sourceOf(database: DatabaseSync, isUnchanged: () => Promise<boolean>): ExportSource {
  const kept = database.prepare(HAS_KEYS).get() === undefined ? NO_KEYS : 'idempotency_keys';
  const since = Number(database.prepare(NOW).get()?.now) - 86_400;
  const counted = database
    .prepare(
      `SELECT (SELECT count(*) FROM todos) AS todos, (SELECT count(*) FROM ${kept} WHERE at > ?) AS keys,
        max((SELECT coalesce(max(id), 0) FROM todos), (SELECT coalesce(max(todo_id), 0) FROM ${kept}),
          coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'todos'), 0)) AS highest`,
    )
    .get(since);
  const categories = listCategories(database);
  const todosAfter = prepareTodos(database, 'WHERE id > ? ORDER BY id LIMIT ?');
  const keysAfter = database.prepare(
    `SELECT key, body, todo_id, at FROM ${kept} WHERE key > ? AND at > ? ORDER BY key LIMIT ${PART_SIZE}`,
  );
  return {
    counts: {
      categories: categories.length,
      todos: Number(counted?.todos),
      keys: Number(counted?.keys),
    },
    highestId: Number(counted?.highest),
    categories,
    todosAfter: async (id) => asStoreError(() => todosAfter(id, PART_SIZE)),
    keysAfter: async (key) =>
      asStoreError(() => keysAfter.all(key, since)).map((row) => ({
        key: String(row.key),
        body: String(row.body),
        todoId: Number(row.todo_id),
        at: Number(row.at),
      })),
    async check() {
      if (await isUnchanged()) return;
      throw new StoreUnavailable('the file was changed while it was read, so what was written is of no use');
    },
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

/**
 * Opens a SQLite file to import into it, makes it when it is missing, and migrates it. Nobody serves the file meanwhile.
 *
 * @throws {StoreNotOpened} `owned` when a process serves the file, `unusable` when it cannot be opened.
 * @throws {StoreUnavailable} when it is not empty (contract E2).
 */
export async function openImport(path: string, tell: Tell): Promise<ImportTarget> {
  using parts = new DisposableStack();
  const owned = parts.use(await openOwned(path, { tell, patienceMs: 0 }));
  const { database } = owned;
  let committed = false;
  // Before another process may have the file.
  parts.defer(() => {
    database.close();
    if (owned.isNew && !committed) removeDatabase(owned.path);
  });
  asStoreError(() => database.exec('BEGIN IMMEDIATE'));
  const content = database.prepare(CONTENT).get()?.content;
  if (content !== null) throw new StoreUnavailable(`the database must be empty, and ${content}`);
  database.exec('DELETE FROM categories');
  const addCategory = database.prepare(ADD_CATEGORY);
  const addTodo = database.prepare(insertInto('todos'));
  const addKey = database.prepare(ADD_KEY);
  const opened = parts.move();
  return {
    add: async ({ categories, todos, keys }) =>
      asStoreError(() => {
        for (const { id, name } of categories) addCategory.run(id, name);
        for (const todo of todos) addTodo.run(todo.id, ...columnValues(todo));
        for (const { key, body, todoId, at } of keys) addKey.run(key, body, todoId, at);
      }),
    async commit({ todos, highestId, highestCategoryId }) {
      asStoreError(() => {
        database.exec(FORGET_HIGHEST);
        const setHighest = database.prepare(SET_HIGHEST);
        setHighest.run('categories', highestCategoryId);
        setHighest.run('todos', highestId);
      });
      commitOn(database);
      committed = true;
      return { made: todos };
    },
    [Symbol.asyncDispose]: async () => opened.dispose(),
  };
}

/**
 * Opens a SQLite file to put back todos, beside the process that serves it or when nobody does.
 *
 * @param skipExisting Those that are there are left out; else they are refused.
 * @throws {StoreNotOpened} when it is no database of this program and this version.
 */
export function openRestore(path: string, skipExisting: boolean): ImportTarget {
  const database = openBeside(path);
  database.exec(STAGE);
  const stage = database.prepare(insertInto('staged'));
  return {
    add: async ({ todos }) =>
      asStoreError(() => {
        database.exec('BEGIN');
        for (const todo of todos) stage.run(todo.id, ...columnValues(todo));
        database.exec('COMMIT');
      }),
    async commit() {
      const ask = async (sql: string) => asStoreError(() => database.prepare(sql).all());
      for (;;) {
        const refused = await refusalOfStaged(ask, skipExisting);
        if (refused !== undefined) return refused;
        const made = asStoreError(() => restore(database, skipExisting));
        if (made !== undefined) {
          await sleep(SEEN_WITHIN_MS);
          return { made };
        }
      }
    },
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

/**
 * How many todos were made; undefined when another process has just put one of them back. All that needs no lock comes
 * before it: writers of the service wait no longer than a second. Categories never go.
 */
function restore(database: DatabaseSync, skipExisting: boolean): number | undefined {
  const staged = Number(database.prepare(COUNT_STAGED).get()?.count);
  database.exec('BEGIN IMMEDIATE');
  const made = Number(database.prepare(RESTORE).run().changes);
  if (skipExisting || made === staged) {
    commitOn(database);
    return made;
  }
  database.exec('ROLLBACK');
  return undefined;
}

/** @throws {OutcomeUnknown} when the disk failed after the last byte was written. */
function commitOn(database: DatabaseSync): void {
  try {
    asStoreError(() => database.exec('COMMIT'));
  } catch (error) {
    if (!(error instanceof Error) || !isSyncFailure(error.cause)) throw error;
    throw new OutcomeUnknown(`nobody knows whether it was done: ${error.message}`);
  }
}
