import { realpathSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Tell } from '../../events.ts';
import type { Category, Inspection, Migrated, Operator } from '../operator.ts';
import { StoreUnavailable } from '../store.ts';
import { messageOf, notOpened, resultCode } from './error.ts';
import { checkFile, openExisting } from './file.ts';
import { openOwned } from './owned-database.ts';
import { prepareFind, prepareKeys } from './row.ts';
import { checkLibrary, checkSchema, libraryVersion, makeDurable, pragma } from './schema.ts';

const LIST_CATEGORIES = 'SELECT id, name FROM categories ORDER BY id';
const ADD_CATEGORY = `INSERT INTO categories (name)
  SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM categories WHERE name = ?1) RETURNING id`;
const RENAME_CATEGORY = `UPDATE categories SET name = ?2
  WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM categories WHERE name = ?2 AND id <> ?1) RETURNING id`;

/** Values of `PRAGMA synchronous`, https://www.sqlite.org/pragma.html#pragma_synchronous */
const SYNCHRONOUS = ['off', 'normal', 'full', 'extra'];

const COUNT = 'SELECT (SELECT count(*) FROM categories) AS categories, (SELECT count(*) FROM todos) AS todos';

/**
 * Opens a SQLite file beside the process that serves it, or when nobody does.
 *
 * @throws {StoreNotOpened} when it is no database of this program and this version.
 */
export function openSqliteOperator(path: string): Operator {
  const database = openBeside(path);
  return {
    listCategories: async () => listCategories(database),
    async addCategory(name) {
      const added = asStoreError(() => database.prepare(ADD_CATEGORY).get(name));
      return added === undefined ? 'name-taken' : { id: Number(added.id), name };
    },
    async renameCategory(id, name) {
      if (asStoreError(() => database.prepare(RENAME_CATEGORY).get(id, name))) return { id, name };
      return listCategories(database).some((category) => category.id === id)
        ? 'name-taken'
        : 'category-missing';
    },
    inspect: async () => inspect(database),
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

/** As `openSqliteOperator`, the connection alone. */
export function openBeside(path: string): DatabaseSync {
  using parts = new DisposableStack();
  try {
    checkFile(path);
    const database = parts.use(openExisting(realpathSync(path)));
    checkLibrary(libraryVersion(database));
    checkSchema(database);
    makeDurable(database);
    parts.move();
    return database;
  } catch (error) {
    throw notOpened(path, error);
  }
}

/** Ordered by id. */
export function listCategories(database: DatabaseSync): readonly Category[] {
  const rows = asStoreError(() => database.prepare(LIST_CATEGORIES).all());
  return rows.map(({ id, name }) => ({ id: Number(id), name: String(name) }));
}

/**
 * Brings the schema of a SQLite file up to this program's version, and makes the file when it is missing. Nobody
 * serves the file meanwhile.
 *
 * @throws {StoreNotOpened} `owned` when a process serves the file, `unusable` when it cannot be done.
 */
export async function migrateSqlite(path: string, tell?: Tell): Promise<Migrated> {
  using owned = await openOwned(path, { patienceMs: 0, ...(tell && { tell }) });
  return owned.versions;
}

function inspect(database: DatabaseSync): Inspection {
  const faults = integrityFaults(database);
  const journal = database.prepare('PRAGMA journal_mode').get() ?? {};
  return {
    facts: {
      engine: `SQLite ${libraryVersion(database)}`,
      'schema version': pragma(database, 'user_version'),
      journal_mode: String(journal.journal_mode),
      synchronous: SYNCHRONOUS[pragma(database, 'synchronous')] ?? 'unknown',
      foreign_keys: pragma(database, 'foreign_keys') === 1 ? 'on' : 'off',
      // What is damaged may not be there to be counted.
      ...(faults.length === 0 ? countsOf(database) : {}),
    },
    faults,
  };
}

export function countsOf(database: DatabaseSync) {
  const counts = database.prepare(COUNT).get() ?? {};
  return { categories: Number(counts.categories), todos: Number(counts.todos) };
}

/** What SQLite refuses (locked, full, read-only, damaged) is a line for the operator. */
export function asStoreError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (resultCode(error) === undefined) throw error;
    throw new StoreUnavailable(messageOf(error), { cause: error });
  }
}

/** Throws for a table or column that is not there: SQLite itself misses none. */
function prepareAll(database: DatabaseSync): void {
  database.prepare(COUNT);
  prepareFind(database);
  prepareKeys(database);
}

/** What is wrong with a file, one line each: https://www.sqlite.org/pragma.html#pragma_integrity_check */
export function integrityFaults(database: DatabaseSync): readonly string[] {
  try {
    const found = database.prepare('PRAGMA integrity_check').all();
    const orphans = database.prepare('PRAGMA foreign_key_check').all();
    const faults = [
      ...found.map((row) => String(row.integrity_check)).filter((line) => line !== 'ok'),
      ...orphans.map(({ table, rowid }) => `row ${rowid} of ${table} names a category that does not exist`),
    ];
    if (faults.length === 0) prepareAll(database);
    return faults;
  } catch (error) {
    if (resultCode(error) === undefined) throw error;
    return [messageOf(error)];
  }
}
