import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Tell } from '../../events.ts';
import { OutcomeUnknown, StoreUnavailable } from '../store.ts';
import { COLUMN_NAMES } from '../todo.ts';
import type { ImportTarget, Restored, RestoreTarget } from '../transfer/contents.ts';
import { isSyncFailure, messageOf, notOpened } from './error.ts';
import { asStoreError, openBeside } from './operator.ts';
import { openOwned, removeDatabase } from './owned-database.ts';
import { columnValues, insertInto } from './row.ts';

const CONTENT = `SELECT CASE
    WHEN EXISTS (SELECT 1 FROM todos) THEN 'it has todos'
    WHEN EXISTS (SELECT 1 FROM idempotency_keys) THEN 'it has keys of creates'
    WHEN EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'todos' AND seq > 0) THEN 'ids of todos were given out'
    WHEN EXISTS (SELECT 1 FROM categories WHERE (id, name) NOT IN (VALUES (1, 'Work'), (2, 'Life')))
      THEN 'it has other categories than those of a first start'
  END AS content`;
const ADD_CATEGORY = 'INSERT INTO categories (id, name) VALUES (?, ?)';
const ADD_KEY = `INSERT INTO idempotency_keys (key, body, todo_id, at)
  SELECT ?, ?, ?, min(?4, unixepoch()) WHERE ?4 > unixepoch() - 86400`;
const FORGET_HIGHEST = "DELETE FROM sqlite_sequence WHERE name IN ('categories', 'todos')";
const SET_HIGHEST = 'INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)';

const STAGE = `CREATE TEMP TABLE staged (id INTEGER PRIMARY KEY, ${COLUMN_NAMES.join(', ')})`;
const ADD_STAGED = insertInto('staged');
const SKIP = 'DELETE FROM staged WHERE id IN (SELECT id FROM todos)';
const EXISTING = 'SELECT id FROM staged WHERE id IN (SELECT id FROM todos) ORDER BY id LIMIT 10';
const ORPHANS = `SELECT id, category_id FROM staged
  WHERE category_id NOT IN (SELECT id FROM categories) ORDER BY id LIMIT 10`;
const RESTORE = `INSERT INTO todos (id, ${COLUMN_NAMES.join(', ')}) SELECT * FROM staged
  WHERE true ORDER BY id ON CONFLICT (id) DO NOTHING`;
const COUNT_STAGED = 'SELECT count(*) AS count FROM staged';

/** After so long, a service has seen what another process wrote. */
const SEEN_WITHIN_MS = 100;

/**
 * Opens a SQLite file to import into it, makes it when it is missing, and migrates it. Nobody serves the file meanwhile.
 *
 * @throws {StoreNotOpened} `owned` when a process serves the file, `unusable` when it cannot be opened.
 * @throws {StoreUnavailable} when it is not empty (contract E2).
 */
export async function openSqliteImport(path: string, tell: Tell): Promise<ImportTarget> {
  const owned = await openOwned(path, { tell, patienceMs: 0 }).catch((error: unknown) => {
    throw notOpened(path, error);
  });
  const { database } = owned;
  let committed = false;
  let left = false;
  const leave = (): void => {
    if (left) return;
    left = true;
    database.close();
    if (owned.isNew && !committed) removeDatabase(owned.path);
    owned[Symbol.dispose]();
  };
  try {
    asStoreError(() => database.exec('BEGIN IMMEDIATE'));
    const content = database.prepare(CONTENT).get()?.content;
    if (content !== null) throw new StoreUnavailable(`the database must be empty, and ${content}`);
    database.exec('DELETE FROM categories');
  } catch (error) {
    leave();
    throw error;
  }
  const addCategory = database.prepare(ADD_CATEGORY);
  const addTodo = database.prepare(insertInto('todos'));
  const addKey = database.prepare(ADD_KEY);
  return {
    add: async ({ categories, todos, keys }) =>
      asStoreError(() => {
        for (const { id, name } of categories) addCategory.run(id, name);
        for (const todo of todos) addTodo.run(todo.id, ...columnValues(todo));
        for (const { key, body, todoId, at } of keys) addKey.run(key, body, todoId, at);
      }),
    async commit({ highestId, highestCategoryId }) {
      asStoreError(() => {
        database.exec(FORGET_HIGHEST);
        const setHighest = database.prepare(SET_HIGHEST);
        setHighest.run('categories', highestCategoryId);
        setHighest.run('todos', highestId);
      });
      commitOn(database);
      committed = true;
    },
    abandon: leave,
    [Symbol.asyncDispose]: async () => leave(),
  };
}

/**
 * Opens a SQLite file to put back todos, beside the process that serves it or when nobody does.
 *
 * @throws {StoreNotOpened} when it is no database of this program and this version.
 */
export function openSqliteRestore(path: string): RestoreTarget {
  const database = openBeside(path);
  database.exec(STAGE);
  const stage = database.prepare(ADD_STAGED);
  return {
    stage: async (todos) =>
      asStoreError(() => {
        database.exec('BEGIN');
        for (const todo of todos) stage.run(todo.id, ...columnValues(todo));
        database.exec('COMMIT');
      }),
    async commit(skipExisting) {
      const restored = asStoreError(() => restore(database, skipExisting));
      if ('made' in restored) await sleep(SEEN_WITHIN_MS);
      return restored;
    },
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

/** All that needs no lock comes before it: writers of the service wait no longer than a second. */
function restore(database: DatabaseSync, skipExisting: boolean): Restored {
  if (skipExisting) database.exec(SKIP);
  const refused = refusalOf(database);
  if (refused !== undefined) return refused;
  const staged = Number(database.prepare(COUNT_STAGED).get()?.count);
  database.exec('BEGIN IMMEDIATE');
  const made = Number(database.prepare(RESTORE).run().changes);
  if (skipExisting || made === staged) {
    commitOn(database);
    return { made };
  }
  // Another process has just put one of them back.
  database.exec('ROLLBACK');
  return restore(database, skipExisting);
}

/** Why the todos that were staged cannot be made, or undefined. Categories never go. */
function refusalOf(database: DatabaseSync): Exclude<Restored, { made: number }> | undefined {
  const existing = database.prepare(EXISTING).all();
  if (existing.length > 0) return { existing: existing.map(({ id }) => Number(id)) };
  const orphans = database.prepare(ORPHANS).all();
  if (orphans.length === 0) return undefined;
  return { orphans: orphans.map((row) => ({ id: Number(row.id), categoryId: Number(row.category_id) })) };
}

/** @throws {OutcomeUnknown} when the disk failed after the last byte was written. */
function commitOn(database: DatabaseSync): void {
  try {
    database.exec('COMMIT');
  } catch (error) {
    if (isSyncFailure(error))
      throw new OutcomeUnknown(`nobody knows whether it was done: ${messageOf(error)}`);
    asStoreError(() => {
      throw error;
    });
  }
}
