import { existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import type { LogEvent } from '../../events.ts';
import { nameComplete, newPrivateFile, partialOf } from '../../lib/durable-files.ts';
import { messageOf } from '../../lib/errors.ts';
import { OperatorError, type Reason } from '../../lib/operator-error.ts';
import type { BackupProgress, Category, Inspection, Maintenance, Migrated } from '../maintenance.ts';
import { rowFaults } from '../transfer/write-export.ts';
import { compareDefinitions } from './definitions.ts';
import { makeDurable } from './durability.ts';
import { asNotOpened, asStoreError, isDamage, resultCode } from './error.ts';
import { sourceOf } from './export-source.ts';
import { checkFile, checkLength, openExisting, removeDatabase } from './file.ts';
import { openOwned } from './owned-database.ts';
import { checkLibrary, checkSchema, libraryVersion, pragma } from './schema.ts';
import { unmetRequirementOf } from './unmet-requirement.ts';

const LIST_CATEGORIES = 'SELECT id, name FROM categories ORDER BY id';
const ADD_CATEGORY = `INSERT INTO categories (name)
  SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM categories WHERE name = ?1) RETURNING id`;
const RENAME_CATEGORY = `UPDATE categories SET name = ?2
  WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM categories WHERE name = ?2 AND id <> ?1) RETURNING id`;

/** Values of `PRAGMA synchronous`, https://www.sqlite.org/pragma.html#pragma_synchronous */
const SYNCHRONOUS = ['off', 'normal', 'full', 'extra'];

/** Opens a SQLite file, served or not. @throws {OperatorError} when it is none of this program and version. */
export function openSqliteMaintenance(path: string): Maintenance {
  const database = openBeside(path);
  return {
    listCategories: async () => listCategories(database),
    async addCategory(name) {
      const added = asStoreError(() => database.prepare(ADD_CATEGORY).get(name));
      return added && { id: Number(added.id), name };
    },
    async renameCategory(id, name) {
      return asStoreError(() => database.prepare(RENAME_CATEGORY).get(id, name)) && { id, name };
    },
    inspect: async () => inspect(database),
    [Symbol.asyncDispose]: async () => database.close(),
  };
}

function openBeside(path: string): DatabaseSync {
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
    throw asNotOpened(path, error);
  }
}

/** Ordered by id. */
function listCategories(database: DatabaseSync): readonly Category[] {
  const rows = asStoreError(() => database.prepare(LIST_CATEGORIES).all());
  return rows.map(({ id, name }) => ({ id: Number(id), name: String(name) }));
}

/** Migrates a SQLite file, and makes a missing one. @throws {OperatorError} `in-use` when a process serves it. */
export async function migrateSqlite(path: string, logEvent: LogEvent): Promise<Migrated> {
  using owned = await openOwned(path, { patienceMs: 0, logEvent });
  return owned.versions;
}

/** Milliseconds between two reports of the copy's progress. */
const PROGRESS_INTERVAL_MS = 500;

/**
 * Copies a SQLite file as it is at one moment, served or not, and checks the copy: a database of its own, mode 0600, on
 * disk when the promise resolves. Until then it has the name `partial`: an interrupted copy is never taken for a whole
 * one.
 *
 * @param onProgress Called at the beginning, then twice a second, and once before the check, which nothing interrupts.
 * @returns the absolute path of the copy, its contents, and its rows that an import refuses (`rowFaults`).
 * @throws {OperatorError} when the database cannot be opened; `bad-data` when it is damaged, `not-written` when the copy exists
 * already or cannot be written.
 */
export async function backupSqlite(
  path: string,
  copy: string,
  onProgress: (progress: BackupProgress) => void = () => {},
  partial = partialOf(copy),
) {
  using source = openBeside(path);
  const target = resolve(copy);
  const failed = (reason: Reason, file: string, fault: string, cause?: unknown) =>
    new OperatorError(reason, `"${file}": ${fault}`, { cause });
  if (existsSync(target)) throw failed('not-written', copy, 'there is something of this name already');
  try {
    checkLength(partial);
    newPrivateFile(partial);
    await copyPages(source, partial, onProgress);
    onProgress('checking');
    const { faults, todos, refused } = await checkCopy(partial);
    if (faults.length > 0) throw failed('bad-data', path, faults.join(', '));
    const bytes = statSync(partial).size;
    nameComplete(partial, target);
    return { path: target, bytes, todos, refused };
  } catch (error) {
    removeDatabase(partial);
    if (error instanceof OperatorError) throw error;
    if (isDamage(error)) throw asNotOpened(path, error);
    throw failed('not-written', copy, messageOf(error), error);
  }
}

/** Copies all pages in one step: in parts, every write would begin it anew. The growing file shows the progress. */
export async function copyPages(
  source: DatabaseSync,
  target: string,
  onProgress: (progress: BackupProgress) => void,
): Promise<void> {
  const total = pragma(source, 'page_count') * pragma(source, 'page_size');
  const reportSize = () => {
    // Another program may have removed it: the end of the backup reports that.
    const size = statSync(target, { throwIfNoEntry: false })?.size ?? 0;
    onProgress({ copied: Math.min(size, total), total });
  };
  reportSize();
  using _reporting = setInterval(reportSize, PROGRESS_INTERVAL_MS);
  await backup(source, target, { rate: 2 ** 31 - 1 });
}

async function checkCopy(path: string) {
  using copy = new DatabaseSync(path);
  const faults = integrityFaults(copy);
  if (faults.length > 0) return { faults, todos: 0, refused: [] };
  const source = sourceOf(copy);
  return { faults, todos: source.counts.todos, refused: await rowFaults(source) };
}

async function inspect(database: DatabaseSync): Promise<Inspection> {
  const damage = integrityFaults(database);
  const { counts, refused } = await rowsOf(database, damage.length > 0);
  const journal = database.prepare('PRAGMA journal_mode').get() ?? {};
  const compared = damage.length === 0 ? compareDefinitions(database) : { facts: {}, faults: [] };
  return {
    facts: {
      engine: `SQLite ${libraryVersion(database)}`,
      'schema version': pragma(database, 'user_version'),
      journal_mode: String(journal.journal_mode),
      synchronous: SYNCHRONOUS[pragma(database, 'synchronous')] ?? 'unknown',
      foreign_keys: pragma(database, 'foreign_keys') === 1 ? 'on' : 'off',
      ...counts,
      ...compared.facts,
    },
    faults: [...damage, ...compared.faults, ...refused],
  };
}

/** Counts, and the rows that an import refuses, of one moment; of a damaged file no counts, and rows that can be read. */
async function rowsOf(database: DatabaseSync, isDamaged: boolean) {
  try {
    database.exec('BEGIN');
    const source = sourceOf(database);
    const { categories, todos } = source.counts;
    return { counts: isDamaged ? {} : { categories, todos }, refused: await rowFaults(source) };
  } catch (error) {
    if (!isDamaged) throw error;
    return { counts: {}, refused: [] };
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

/** The faults of a file, one line each: https://www.sqlite.org/pragma.html#pragma_integrity_check */
export function integrityFaults(database: DatabaseSync): readonly string[] {
  try {
    // Rows that break a rule are no damage.
    database.exec('PRAGMA ignore_check_constraints = ON');
    const found = database.prepare('PRAGMA integrity_check').all();
    database.exec('PRAGMA ignore_check_constraints = OFF');
    const faults = found.map((row) => String(row.integrity_check)).filter((line) => line !== 'ok');
    if (faults.length > 0) return faults;
    // SQLite's own check does not find a missing part.
    const unmet = unmetRequirementOf(database);
    return unmet === undefined ? [] : [unmet.message];
  } catch (error) {
    if (resultCode(error) === undefined) throw error;
    return [messageOf(error)];
  }
}
