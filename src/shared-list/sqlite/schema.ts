import type { DatabaseSync } from 'node:sqlite';
import { Migrations } from '../migrations.ts';

/** `PRAGMA application_id` of our files, "todo" in ASCII: a file of another program is left alone. */
const APPLICATION_ID = 0x746f646f;

const MIGRATIONS = new URL('./migrations/', import.meta.url);

/** Oldest SQLite library without the WAL-reset corruption bug, https://www.sqlite.org/wal.html#walresetbug. */
const OLDEST_LIBRARY = '3.51.3';

/** What is wrong with a SQLite library of this version, or undefined. */
export function libraryFault(version: string): string | undefined {
  const [received = [], oldest = []] = [version, OLDEST_LIBRARY].map((text) => text.split('.').map(Number));
  const differing = oldest.findIndex((part, index) => part !== received[index]);
  const newer = differing === -1 || (received[differing] ?? 0) > (oldest[differing] ?? 0);
  return newer
    ? undefined
    : `the SQLite library must be ${OLDEST_LIBRARY} or later (an older one can corrupt a WAL), received ${version}`;
}

/** The version of the library that is loaded: a build of Node.js may share the system's. */
export function libraryVersion(database: DatabaseSync): string {
  return String(database.prepare('SELECT sqlite_version() AS version').get()?.version);
}

/**
 * Brings the schema up to this program's version and makes the first categories, `Work` (1) and `Life` (2),
 * where there is none (specification, What the service does, 3; contract D7). One transaction: of several
 * processes that start together, one does it and the others find it done.
 *
 * @returns what is wrong with the file, for people, or undefined; then nothing was changed.
 */
export function migrate(database: DatabaseSync): string | undefined {
  database.exec('BEGIN IMMEDIATE');
  try {
    const fault = applyMigrations(database);
    if (fault === undefined) addFirstCategories(database);
    database.exec(fault === undefined ? 'COMMIT' : 'ROLLBACK');
    return fault;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

function applyMigrations(database: DatabaseSync): string | undefined {
  const migrations = new Migrations(MIGRATIONS);
  const version = pragma(database, 'user_version');
  if (isForeign(database)) return 'it belongs to another program';
  for (const sql of migrations.from(version)) database.exec(sql);
  if (version < migrations.version) {
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migrations.version}`);
  }
  return migrations.faultOf(version);
}

function addFirstCategories(database: DatabaseSync): void {
  database.exec(`INSERT INTO categories (name)
    SELECT column1 FROM (VALUES ('Work'), ('Life')) WHERE NOT EXISTS (SELECT 1 FROM categories)`);
}

/** As `migrate`, for who may change nothing: an older schema is a fault as well. */
export function schemaFault(database: DatabaseSync): string | undefined {
  const migrations = new Migrations(MIGRATIONS);
  const version = pragma(database, 'user_version');
  if (isForeign(database)) return 'it belongs to another program';
  if (version >= migrations.version) return migrations.faultOf(version);
  return `its schema must be version ${migrations.version}, received ${version}: run "todo-service migrate" first`;
}

function isForeign(database: DatabaseSync): boolean {
  return pragma(database, 'application_id') !== APPLICATION_ID && !isEmpty(database);
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined;
}

/** The value of a pragma that is a number. */
export function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
