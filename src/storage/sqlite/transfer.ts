import { existsSync, realpathSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { LogEvent } from '../../events.ts';
import { fingerprintOf } from '../../lib/small-file.ts';
import { OutcomeUnknown } from '../../shared-list/store.ts';
import {
  COUNT_ROWS,
  type Contents,
  checkWritten,
  contentBy,
  type ExportSource,
  type ImportTarget,
  notEmpty,
  type Rows,
} from '../transfer/contents.ts';
import { asNotOpened, asStoreError, isSyncFailure } from './error.ts';
import { sourceOf } from './export-source.ts';
import { checkFile, checkReadable, existing, LOGS, openExisting, removeDatabase } from './file.ts';
import { openOwned } from './owned-database.ts';
import { ADD_WITH_ID, columnValues, OVER } from './row.ts';
import { checkReadableSchema } from './schema.ts';

const CONTENT = contentBy("EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'todos' AND seq > 0)");
const ADD_CATEGORY = 'INSERT INTO categories (id, name) VALUES (?, ?)';
const ADD_KEY = `INSERT INTO idempotency_keys (key, body, todo_id, at)
  VALUES (?, ?, ?, min(?, unixepoch()))`;
const FORGET_KEYS = `DELETE FROM idempotency_keys WHERE ${OVER}`;
const FORGET_HIGHEST = 'DELETE FROM sqlite_sequence WHERE name = ?';
const SET_HIGHEST = 'INSERT INTO sqlite_sequence (name, seq) VALUES (?, CAST(? AS integer))';

/**
 * Opens a SQLite file to export it, served or not. A file that no process has open, a backup for example, may have an
 * older schema and be on a read-only disk; it is only read, and nothing is made beside it.
 *
 * @throws {OperatorError} when it is no database of this program, or a newer one.
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
    throw asNotOpened(path, error);
  }
}

/**
 * Opens a file to read it. Without a log, no process has the file open. It is then read as one that cannot change: SQLite
 * makes neither log nor locks. A service that starts meanwhile is noticed, at the latest when it moves its log into the
 * file.
 */
export async function openToRead(path: string) {
  if (LOGS.some((suffix) => existsSync(path + suffix)))
    return { database: openExisting(path), isUnchanged: async () => true };
  checkReadable(path);
  const before = await fingerprintOf(path);
  const url = existing(path, true);
  url.searchParams.set('immutable', '1');
  return { database: new DatabaseSync(url), isUnchanged: async () => (await fingerprintOf(path)) === before };
}

/**
 * Opens a SQLite file to import into it, makes it when it is missing, and migrates it. No process serves the file
 * meanwhile.
 *
 * @throws {OperatorError} `in-use` when a process serves the file, `unavailable` when it cannot be opened.
 * @throws {StoreUnavailable} when it is not empty (contract E2).
 */
export async function openImport(path: string, logEvent: LogEvent): Promise<ImportTarget> {
  using parts = new DisposableStack();
  const owned = parts.use(await openOwned(path, { logEvent, patienceMs: 0 }));
  const { database } = owned;
  let stays = !owned.isNew;
  // Runs before another process may have the file.
  parts.defer(() => {
    if (!stays) removeDatabase(owned.path);
  });
  const { add, finish } = importInto(database);
  const opened = parts.move();
  return {
    add,
    async commit(contents) {
      const keys = finish(contents);
      try {
        asStoreError(() => database.exec('COMMIT'));
      } catch (error) {
        if (!(error instanceof Error) || !isSyncFailure(error.cause)) throw error;
        stays = true;
        const hint = owned.isNew ? '. The file stays: "todo-service check" says how many todos it has' : '';
        throw new OutcomeUnknown(`nobody knows whether it was done: ${error.message}${hint}`);
      }
      stays = true;
      return keys;
    },
    [Symbol.asyncDispose]: async () => opened.dispose(),
  };
}

/**
 * Begins the transaction in which a database takes an import. `finish` is the last call before `COMMIT`, and gives the
 * number of keys that were taken; without `COMMIT`, the database is as it was.
 *
 * @throws {StoreUnavailable} when it is not empty (contract E2); `finish` also as `checkWritten`.
 */
export function importInto(database: DatabaseSync) {
  asStoreError(() => database.exec('BEGIN IMMEDIATE'));
  const content = database.prepare(CONTENT).get()?.content;
  if (content !== null) throw notEmpty(content);
  database.exec('DELETE FROM categories');
  const addCategory = database.prepare(ADD_CATEGORY);
  const addTodo = database.prepare(ADD_WITH_ID);
  const addKey = database.prepare(ADD_KEY);
  return {
    add: async ({ categories, todos, keys }: Rows) =>
      asStoreError(() => {
        for (const { id, name } of categories) addCategory.run(id, name);
        for (const todo of todos) addTodo.run(todo.id, ...columnValues(todo));
        for (const { key, body, todoId, at } of keys) addKey.run(key, body, todoId, at);
      }),
    finish: (contents: Contents) =>
      asStoreError(() => {
        const count = database.prepare(COUNT_ROWS);
        checkWritten(contents, count.get());
        database.exec(FORGET_KEYS);
        setHighest(database, 'categories', contents.highestCategoryId);
        setHighest(database, 'todos', contents.highestId);
        return Number(count.get()?.keys);
      }),
  };
}

export function setHighest(database: DatabaseSync, table: 'categories' | 'todos', highest: number): void {
  database.prepare(FORGET_HIGHEST).run(table);
  database.prepare(SET_HIGHEST).run(table, highest);
}
