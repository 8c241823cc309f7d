import type { DatabaseSync } from 'node:sqlite';
import { Migrations } from '../migrations.ts';

/** `PRAGMA application_id` of our files, "todo" in ASCII: a file of another program is left alone. */
const APPLICATION_ID = 0x746f646f;

const MIGRATIONS = new URL('./migrations/', import.meta.url);

/** A schema of before does not say it, and is not asked. */
const OLDEST_PROGRAM = 'SELECT oldest_program FROM todo_schema';

const FIRST_CATEGORIES = `INSERT INTO categories (name)
  SELECT column1 FROM (VALUES ('Work'), ('Life')) WHERE NOT EXISTS (SELECT 1 FROM categories)`;

/**
 * SQLite itself gives out no id that a row has, or that it gave out before; where somebody has set that back by hand, the
 * last key may still know of a todo that is gone (contract D12).
 */
const RAISE_IDS = `INSERT INTO sqlite_sequence (name, seq)
    SELECT 'todos', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'todos');
  WITH known AS (
    SELECT max(todo_id) AS id FROM idempotency_keys WHERE at = (SELECT max(at) FROM idempotency_keys)
  ) UPDATE sqlite_sequence SET seq = known.id FROM known WHERE name = 'todos' AND seq < known.id`;

/** Oldest SQLite library without the WAL-reset corruption bug, https://www.sqlite.org/wal.html#walresetbug. */
const OLDEST_LIBRARY = '3.51.3';

/** Throws an Error for people when a SQLite library is of a version that is too old. */
export function checkLibrary(version: string): void {
  const [received = [], oldest = []] = [version, OLDEST_LIBRARY].map((text) => text.split('.').map(Number));
  const differing = oldest.findIndex((part, index) => part !== received[index]);
  const newer = differing === -1 || (received[differing] ?? 0) > (oldest[differing] ?? 0);
  if (newer) return;
  throw new Error(
    `the SQLite library must be ${OLDEST_LIBRARY} or later (an older one can corrupt a WAL), received ${version}`,
  );
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
 * @throws Error for people when the file is not of this program, or too new for it; then nothing was changed.
 */
export function migrate(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    const migrations = new Migrations(MIGRATIONS);
    const version = versionOf(database, migrations);
    for (const sql of migrations.from(version)) database.exec(sql);
    if (version < migrations.version) {
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${migrations.version};
        DELETE FROM todo_schema; INSERT INTO todo_schema VALUES (${migrations.oldestProgram})`);
    }
    database.exec(`${FIRST_CATEGORIES}; ${RAISE_IDS}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** The version that this program makes and works with. */
export function latestVersion(): number {
  return new Migrations(MIGRATIONS).version;
}

/** Throws as `migrate`, for who may change nothing: an older schema is a fault as well. */
export function checkSchema(database: DatabaseSync): void {
  const migrations = new Migrations(MIGRATIONS);
  const version = versionOf(database, migrations);
  if (version >= migrations.version) return;
  throw new Error(
    `its schema must be version ${migrations.version}, received ${version}: run "todo-service migrate" first`,
  );
}

/** Throws as `migrate`, for who only reads: an older schema will do. */
export function checkReadableSchema(database: DatabaseSync): void {
  if (versionOf(database, new Migrations(MIGRATIONS)) === 0)
    throw new Error('it has no schema, and no todos');
}

/** The version of a schema that this program may use; 0 of an empty file. */
function versionOf(database: DatabaseSync, migrations: Migrations): number {
  if (isForeign(database)) throw new Error('it belongs to another program');
  const version = pragma(database, 'user_version');
  if (version <= migrations.version) return version;
  const oldestProgram = Number(database.prepare(OLDEST_PROGRAM).get()?.oldest_program);
  const fault = migrations.faultOf({ version, oldestProgram });
  if (fault !== undefined) throw new Error(fault);
  return version;
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
