import type { Tell } from '../../events.ts';
import { messageOf } from '../../files.ts';
import { Migrations, type SchemaVersion } from '../migrations.ts';
import type { Migrated } from '../operator.ts';
import type { StoreSizes } from '../store.ts';
import type { ServerConnection } from './connection.ts';
import type { Database } from './database.ts';
import { hasCode, INSUFFICIENT_PRIVILEGE } from './error.ts';
import { TRIGGERS } from './list.ts';
import { EVER, faultOf, findAllLacks, findLacks, grants, rightsFault, TO_SERVE } from './needs.ts';

export const MIGRATIONS = new Migrations(new URL('./migrations/', import.meta.url));

/** "todo" in ASCII: whoever holds this advisory lock changes the schema or the categories. */
export const TAKE_LOCK = `SELECT pg_advisory_xact_lock(${0x746f646f})`;

const MAKE_VERSION = 'CREATE TABLE IF NOT EXISTS todo_schema (version integer NOT NULL)';
const FIND_VERSION_TABLE = "SELECT to_regclass('todo_schema') IS NOT NULL AS found";
/** A schema of before does not say which program may use it. */
const READ_VERSION = `SELECT version,
  coalesce((to_jsonb(todo_schema) ->> 'oldest_program')::integer, version) AS "oldestProgram" FROM todo_schema
  ORDER BY version DESC`;
const WRITE_VERSION = 'INSERT INTO todo_schema (version, oldest_program) VALUES ($1, $2)';
const FIRST_CATEGORIES = `INSERT INTO categories (name)
  SELECT name FROM (VALUES ('Work'), ('Life')) AS first (name) WHERE NOT EXISTS (SELECT FROM categories)`;

// Each of these says what is wrong, for people, with what mends it.

const TABLES = "('todos'::regclass, 'categories'::regclass, 'idempotency_keys'::regclass)";
const INVALID = `SELECT conname || ' is not valid' AS fault
    FROM pg_constraint WHERE conrelid IN ${TABLES} AND NOT convalidated
  UNION ALL SELECT indexrelid::regclass || ' is not valid'
    FROM pg_index WHERE indrelid IN ${TABLES} AND NOT indisvalid`;

/** Those of foreign keys have names that the server gives them. "O" is how they are made. */
const TRIGGERS_OFF = `SELECT CASE WHEN tgisinternal
    THEN 'the triggers of its foreign keys must be on, else a todo may name a category that is not there: '
    ELSE 'its triggers must be "ENABLE ALWAYS", else creates may fail, and every list reads all todos: '
    END || string_agg(format('ALTER TABLE %s ENABLE %sTRIGGER %I', tgrelid::regclass,
      CASE WHEN tgisinternal THEN '' ELSE 'ALWAYS ' END, tgname), '; ' ORDER BY tgname) AS fault
  FROM pg_trigger WHERE tgrelid IN ('todos'::regclass, 'categories'::regclass)
    AND CASE WHEN tgisinternal THEN tgenabled IN ('D', 'R') ELSE tgname IN (${TRIGGERS}) AND tgenabled <> 'A' END
  GROUP BY tgisinternal ORDER BY tgisinternal`;
const TRIGGERS_MISSING = `SELECT format('its trigger "%s" is missing, so every list reads all todos: '
    'create it as the migration 0002-changes.sql does', name) AS fault
  FROM unnest(ARRAY[${TRIGGERS}]) AS own (name)
  WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'todos'::regclass AND tgname = name)`;

const OWN_TABLES =
  "ARRAY['categories', 'idempotency_keys', 'todo_purged', 'todo_schema', 'todo_tombstones', 'todos']";

/** In an order in which they can be logged again: `todos` refers to `categories`. */
const UNLOGGED = `SELECT 'its tables must not be "UNLOGGED", because a crash of the server empties them: '
    || string_agg(format('ALTER TABLE %s SET LOGGED', oid::regclass), '; ' ORDER BY relname) AS fault
  FROM pg_class WHERE relpersistence = 'u' AND oid IN (SELECT to_regclass(name) FROM unnest(${OWN_TABLES}) AS own (name))
  HAVING count(*) > 0`;

/** There are ids that no transaction of this server can have had: those of a restored dump. */
const FOREIGN_IDS = `WITH next AS (SELECT pg_snapshot_xmax(pg_current_snapshot()) AS id)
  SELECT 'its transactions were those of another server, so every list reads all todos: run "todo-service migrate"'
    AS fault
  WHERE EXISTS (SELECT FROM todos, next WHERE changed >= next.id)
    OR EXISTS (SELECT FROM todo_tombstones, next WHERE changed >= next.id)
    OR EXISTS (SELECT FROM todo_purged, next WHERE changed >= next.id)`;

/** Every todo counts as changed now. No row is rewritten: see the migration that made the column. */
const RENEW_CHANGES = `ALTER TABLE todos DROP COLUMN changed;
  ALTER TABLE todos ADD COLUMN changed xid8 NOT NULL DEFAULT pg_current_xact_id();
  ALTER TABLE todos ALTER COLUMN changed DROP DEFAULT;
  CREATE INDEX todos_changed ON todos (changed);
  DELETE FROM todo_tombstones;
  UPDATE todo_purged SET changed = pg_current_xact_id()`;

const SIZE = `SELECT sum(pg_total_relation_size(own))::float8 AS bytes FROM unnest(${OWN_TABLES}::regclass[]) AS own`;

/** Milliseconds for which a size is good enough. */
const SIZE_INTERVAL_MS = 60_000;

const WHO = `SELECT quote_ident(current_user) AS role, quote_ident(coalesce(current_schema(), 'public')) AS schema`;
const HAVE_CATEGORIES = 'SELECT EXISTS (SELECT FROM categories) AS found';

/**
 * Brings the schema up to this program's version and makes the first categories, `Work` (1) and `Life` (2),
 * where there is none (contract D7). One transaction under one lock: of several instances that start
 * together, one does it and the others find it done. A schema that is up to date needs no right to change it.
 * Sequences that are behind are put above every id that is known (contract D12).
 *
 * @throws Error for people, when something is wrong with the schema; where it is too new, nothing was changed.
 */
export async function migrate(connection: ServerConnection, tell: Tell = () => {}): Promise<Migrated> {
  const before = await schemaVersion(connection);
  const isMade = before.version >= MIGRATIONS.version && (await find(connection, HAVE_CATEGORIES));
  const found = isMade ? before : await makeSchema(connection, before.version);
  const versions = { from: found.version, to: Math.max(found.version, MIGRATIONS.version) };
  if (versions.from !== versions.to) tell({ event: 'schema-migrated', ...versions });
  throwFault(MIGRATIONS.faultOf(found));
  await raiseSequences(connection);
  return versions;
}

/** Checks for an instance that starts all that it needs, and that a crash of the server empties none of its tables. */
export async function prepareToServe(
  connection: ServerConnection,
  mayMigrate: boolean,
  tell: Tell,
): Promise<void> {
  throwFault(await rightsFault(connection));
  let version: number;
  if (mayMigrate) {
    version = (await migrate(connection, tell)).to;
  } else {
    version = await checkSchema(connection);
    throwFault(faultOf(await findAllLacks(connection)));
  }
  if (version > MIGRATIONS.version) tell({ event: 'schema-newer', version, own: MIGRATIONS.version });
  await checkLogged(connection);
}

/** What was there before. */
async function makeSchema(connection: ServerConnection, version: number): Promise<SchemaVersion> {
  try {
    return await connection.transaction(async (ask) => {
      await ask(TAKE_LOCK);
      // A session may remember from before the lock that there is no table; to make it is to look again.
      if (!(await find(connection, FIND_VERSION_TABLE))) await ask(MAKE_VERSION);
      const schema = await schemaVersion(connection);
      if (schema.version > MIGRATIONS.version) return schema;
      for (const sql of MIGRATIONS.from(schema.version)) await ask(sql);
      if (schema.version < MIGRATIONS.version) {
        await ask('DELETE FROM todo_schema');
        await ask({ text: WRITE_VERSION, values: [MIGRATIONS.version, MIGRATIONS.oldestProgram] });
      }
      await ask(FIRST_CATEGORIES);
      return schema;
    });
  } catch (error) {
    if (!hasCode(error, INSUFFICIENT_PRIVILEGE)) throw error;
    throw new Error(`${messageOf(error)}. ${await rightsToMigrate(connection, version)}`, { cause: error });
  }
}

/**
 * Puts sequences above all ids that were ever given out, no further than they must, in a transaction, until whose end
 * nobody creates. Where no sequence is behind, nothing is locked.
 */
async function raiseSequences(connection: ServerConnection): Promise<void> {
  try {
    await connection.transaction(async (ask) => {
      const found = await findLacks(ask, TO_SERVE, EVER);
      if (found.behind.length === 0) return throwFault(faultOf(found));
      await ask('LOCK TABLE categories, todos IN SHARE ROW EXCLUSIVE MODE');
      const { behind } = await findLacks(ask, TO_SERVE, EVER);
      for (const { sequence, highest } of behind)
        await ask({ text: 'SELECT setval($1, $2)', values: [sequence, highest] });
    });
  } catch (error) {
    if (!hasCode(error, INSUFFICIENT_PRIVILEGE)) throw error;
    const fault = faultOf(await findAllLacks(connection));
    // Without one, their owner was faster.
    if (fault !== undefined) throw new Error(`${fault}, as the owner of the tables`, { cause: error });
  }
}

/** As `migrate`, for who may change nothing: an older schema is a fault as well. The result is its version. */
export async function checkSchema(connection: ServerConnection): Promise<number> {
  const schema = await schemaVersion(connection);
  const { version } = schema;
  throwFault(
    version < MIGRATIONS.version
      ? `its schema must be version ${MIGRATIONS.version}, received ${version}: run "todo-service migrate" first`
      : MIGRATIONS.faultOf(schema),
  );
  return version;
}

/** As `checkSchema`, for who reads everything: a newer schema is a fault too. */
export async function checkReadableSchema(connection: ServerConnection): Promise<void> {
  throwFault(MIGRATIONS.exportFaultOf(await checkSchema(connection)));
}

/** Throws an Error for people when tables lose their rows in a crash of the server. */
export async function checkLogged(connection: ServerConnection): Promise<void> {
  throwFault((await faultsBy(connection, UNLOGGED))[0]);
}

/** What is wrong with triggers, constraints, indexes and tables of a schema of this version, one line each. */
export async function tableFaults(connection: ServerConnection): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const text of [INVALID, TRIGGERS_OFF, TRIGGERS_MISSING, UNLOGGED, FOREIGN_IDS])
    faults.push(...(await faultsBy(connection, text)));
  return faults;
}

async function faultsBy(connection: ServerConnection, text: string): Promise<readonly string[]> {
  const rows = await connection.run<{ fault: string }>(text);
  return rows.map(({ fault }) => fault);
}

/**
 * The bytes of the service's tables with their indexes, as the server said them last; none while that is not known. A call
 * whose answer is older than a minute asks anew, and does not wait.
 *
 * @param now Milliseconds that only grow.
 */
export function sizeOf(database: Database, now = () => performance.now()): () => StoreSizes['database'] {
  let size: StoreSizes['database'] = [];
  let askedAt = Number.NEGATIVE_INFINITY;
  const ask = async (): Promise<void> => {
    size = await database.read<{ bytes: number }>(SIZE).catch(() => []);
  };
  return () => {
    if (now() - askedAt >= SIZE_INTERVAL_MS) {
      askedAt = now();
      void ask();
    }
    return size;
  };
}

/** Makes lists of a restored dump cost what changed. Nothing happens where they do. */
export async function renewChanges(connection: ServerConnection): Promise<void> {
  if ((await faultsBy(connection, FOREIGN_IDS)).length === 0) return;
  await connection.transaction((ask) => ask(RENEW_CHANGES));
}

async function schemaVersion(connection: ServerConnection): Promise<SchemaVersion> {
  const isThere = await find(connection, FIND_VERSION_TABLE);
  const [schema] = isThere ? await connection.run<SchemaVersion>(READ_VERSION) : [];
  return schema ?? { version: 0, oldestProgram: 0 };
}

/** What to grant to a role that migrates, and how it goes with less. */
async function rightsToMigrate(connection: ServerConnection, version: number): Promise<string> {
  const [who] = await connection.run<{ role: string; schema: string }>(WHO);
  if (who === undefined) throw new Error('The server did not say who asks');
  const { role, schema } = who;
  const own = version === 0 ? `GRANT CREATE ON SCHEMA ${schema} TO ${role}` : 'the ownership of the tables';
  return (
    `To migrate, its role needs ${own}; else run "todo-service migrate" as the owner of the schema, ` +
    `and serve with --no-migrate, which needs less: ${grants(TO_SERVE, role)}`
  );
}

async function find(connection: ServerConnection, text: string): Promise<boolean> {
  const [row] = await connection.run<{ found: boolean }>(text);
  return row?.found === true;
}

/** Says what is wrong by an Error for people; does nothing when nothing is. */
function throwFault(fault: string | undefined): void {
  if (fault !== undefined) throw new Error(fault);
}
