import { DatabaseSync } from 'node:sqlite';
import type { Migrated } from '../maintenance.ts';
import { Migrations } from '../migrations.ts';
import { NotOurs } from './error.ts';

/** `PRAGMA application_id` of this service's files, "todo" in ASCII: a file of another program is left alone. */
const APPLICATION_ID = 0x746f646f;

export const MIGRATIONS = new Migrations(new URL('./migrations/', import.meta.url));

/** Only a schema that is newer than this program is asked. */
const OLDEST_PROGRAM = 'SELECT max(oldest_program) AS oldest_program FROM todo_schema';

const FIRST_CATEGORIES = `INSERT INTO categories (name)
  SELECT column1 FROM (VALUES ('Work'), ('Life')) WHERE NOT EXISTS (SELECT 1 FROM categories)`;

/** SQLite gives out no id twice. A person may set that back: the last key may name a gone todo (contract D12). */
const RAISE_IDS = `INSERT INTO sqlite_sequence (name, seq)
    SELECT 'todos', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'todos');
  WITH known AS (
    SELECT max(todo_id) AS id FROM idempotency_keys WHERE at = (SELECT max(at) FROM idempotency_keys)
  ) UPDATE sqlite_sequence SET seq = known.id FROM known WHERE name = 'todos' AND seq < known.id`;

/** The first release of each line of SQLite 3 with the fix of https://www.sqlite.org/wal.html#walresetbug; all later have it. */
const FIRST_FIXED: Readonly<Record<number, number>> = { 44: 6, 50: 7, 51: 3 };

/** Throws an Error for people when a SQLite library lacks the fix. */
export function checkLibrary(version: string): void {
  const [major = 0, line = 0, release = 0] = version.split('.').map(Number);
  const isLater = major > 3 || (major === 3 && line > 51);
  if (isLater || (major === 3 && release >= (FIRST_FIXED[line] ?? Number.POSITIVE_INFINITY))) return;
  throw new Error(
    'the SQLite library must be 3.51.3 or later, 3.50.7 or later of 3.50, or 3.44.6 or later of 3.44 (any other can ' +
      `corrupt a WAL), received ${version}`,
  );
}

/** The version of the library that is loaded: a build of Node.js may share the system's. */
export function libraryVersion(database: DatabaseSync): string {
  return String(database.prepare('SELECT sqlite_version() AS version').get()?.version);
}

/**
 * Brings the schema up to this program's version and makes the first categories, `Work` (1) and `Life` (2),
 * where there is none (contract What the service does 3; D7). One transaction: of several
 * processes that start together, one does it and the others find it done.
 *
 * @throws Error for people when the file is not of this program, or too new for it; then nothing was changed.
 */
export function migrate(database: DatabaseSync): Migrated {
  database.exec('BEGIN IMMEDIATE');
  try {
    const from = versionOf(database);
    for (const sql of MIGRATIONS.from(from)) database.exec(sql);
    if (from < MIGRATIONS.version) {
      database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.version};
        DELETE FROM todo_schema; INSERT INTO todo_schema VALUES (${MIGRATIONS.oldestProgram})`);
    }
    database.exec(`${FIRST_CATEGORIES}; ${RAISE_IDS}; COMMIT`);
    return { from, to: Math.max(from, MIGRATIONS.version) };
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Throws as `migrate`, for a caller that may change nothing: an older schema is a fault as well. */
export function checkSchema(database: DatabaseSync): void {
  const fault = MIGRATIONS.olderFaultOf(versionOf(database));
  if (fault !== undefined) throw new Error(fault);
}

/** Throws as `migrate`, for a reader of everything: an older schema is accepted, a newer one is not. */
export function checkReadableSchema(database: DatabaseSync): void {
  const version = versionOf(database);
  const fault = version === 0 ? 'it has no schema, and no todos' : MIGRATIONS.exportFaultOf(version);
  if (fault !== undefined) throw new Error(fault);
}

/** The version of a schema that this program may use; 0 of an empty file. */
function versionOf(database: DatabaseSync): number {
  checkOwner(database);
  const version = pragma(database, 'user_version');
  if (version <= MIGRATIONS.version) return version;
  const oldestProgram = Number(database.prepare(OLDEST_PROGRAM).get()?.oldest_program);
  const fault = MIGRATIONS.faultOf({ version, oldestProgram });
  if (fault !== undefined) throw new Error(fault);
  return version;
}

/** Counts of objects, and of the first tables of this service: others have such names, not that of our constraint. */
const COUNT_OBJECTS = `SELECT count(*) AS objects, count(*) FILTER (
    WHERE type = 'table' AND name IN ('categories', 'todos') AND sql LIKE '%CONSTRAINT ids_exhausted%') AS ours
  FROM sqlite_schema`;

/** Throws an Error for people when a database is of another program, or is not marked as this service's. */
export function checkOwner(database: DatabaseSync): void {
  const id = pragma(database, 'application_id');
  // Also of one that is marked: whether its schema can be read.
  const { objects, ours } = database.prepare(COUNT_OBJECTS).get() ?? {};
  const hasTables = ours === 2;
  const isMarked = id === APPLICATION_ID;
  if (objects === 0 || (isMarked && !(hasTables && pragma(database, 'user_version') === 0))) return;
  if (!hasTables || !(isMarked || id === 0)) throw new NotOurs('it belongs to another program', hasTables);
  const lost = isMarked ? 'user_version' : 'application_id';
  throw new NotOurs(
    `its ${lost} is 0, as after ".dump" of sqlite3: docs/incidents.md shows the way back`,
    true,
  );
}

export function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}

/** Reads the schema that the migrations make. */
export function ownSchema<T>(read: (own: DatabaseSync) => T): T {
  using own = new DatabaseSync(':memory:');
  migrate(own);
  return read(own);
}
