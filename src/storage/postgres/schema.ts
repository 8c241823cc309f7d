import type { LogEvent } from '../../events.ts';
import { messageOf } from '../../lib/errors.ts';
import type { StoreSizes } from '../../shared-list/store.ts';
import type { Migrated } from '../maintenance.ts';
import { Migrations, type SchemaVersion } from '../migrations.ts';
import { checkLogged } from './durability.ts';
import { hasCode, INSUFFICIENT_PRIVILEGE, ListElsewhere } from './error.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { OWN_TABLES, TO_PURGE, TO_READ_LIST, TO_READ_VERSION, TO_SERVE, USED_IDS } from './requirements.ts';
import { rightsToMigrate } from './rights-to-migrate.ts';
import type { StatementPool } from './statement-pool.ts';
import { FOREIGN_IDS, faultsBy, LEFTOVERS } from './table-faults.ts';
import { IN_TRANSACTION } from './transaction.ts';
import { faultOf, findAllUnmet, findUnmet, rightsFault } from './unmet-requirements.ts';

export const MIGRATIONS = new Migrations(new URL('./migrations/', import.meta.url));

/** "todo" in ASCII: the transaction with this advisory lock changes the schema or the categories. */
export const TAKE_LOCK = `SELECT pg_advisory_xact_lock(${0x746f646f})`;

export const MAKE_VERSION = 'CREATE TABLE IF NOT EXISTS todo_schema (version integer NOT NULL)';

/** Whether the search path finds a list. If another schema has one, that for people, with the remedy. */
const FIND_LIST = `SELECT to_regclass('todo_schema') IS NOT NULL AS found, (
    SELECT format('its search path (%s) finds no list, and the schema %s has one: %sALTER ROLE %I SET search_path = %s; '
        'or "todo-service migrate --another-list" makes a second one',
      current_setting('search_path'), string_agg(quote_ident(nspname), ', ' ORDER BY nspname),
      string_agg(CASE WHEN NOT has_schema_privilege(pg_namespace.oid, 'USAGE')
        THEN format('GRANT USAGE ON SCHEMA %I TO %I; ', nspname, current_user) END, ''),
      current_user, min(quote_ident(nspname)))
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relname = 'todo_schema' AND relkind IN ('r', 'p') AND relpersistence <> 't'
      AND nspname <> ALL (current_schemas(false))
    HAVING count(*) > 0
  ) AS elsewhere`;

/** Sends what a migration makes to the schema of the list, whether that is the first of the search path or not. */
const STAY_THERE = `SELECT set_config('search_path',
    concat_ws(', ', relnamespace::regnamespace, nullif(current_setting('search_path'), '')), true)
  FROM pg_class WHERE oid = to_regclass('todo_schema')`;

/** Gives functions the search paths of the migrations again, after a schema was renamed or a path was changed. */
const LEAD_HOME = `DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION todo_removed() SET search_path = %s, pg_temp',
    (SELECT relnamespace::regnamespace FROM pg_class WHERE oid = to_regclass('todos')));
  ALTER FUNCTION todo_unseen(pg_snapshot, integer) RESET search_path;
END $$`;

/** An earlier schema does not say which program may use it. */
const READ_VERSION = `SELECT version,
  coalesce((to_jsonb(todo_schema) ->> 'oldest_program')::integer, version) AS "oldestProgram" FROM todo_schema
  ORDER BY version DESC`;
const WRITE_VERSION = `DELETE FROM todo_schema;
  INSERT INTO todo_schema (version, oldest_program) VALUES (${MIGRATIONS.version}, ${MIGRATIONS.oldestProgram})`;
const FIRST_CATEGORIES = `INSERT INTO categories (name)
  SELECT name FROM (VALUES ('Work'), ('Life')) AS first (name) WHERE NOT EXISTS (SELECT FROM categories)`;

/** Marks every todo as changed now. No row is rewritten: see the migration that made the column. */
const RENEW_CHANGES = `ALTER TABLE todos DROP COLUMN changed;
  ALTER TABLE todos ADD COLUMN changed xid8 NOT NULL DEFAULT pg_current_xact_id();
  ALTER TABLE todos ALTER COLUMN changed DROP DEFAULT;
  CREATE INDEX todos_changed ON todos (changed);
  DELETE FROM todo_tombstones;
  UPDATE todo_purged SET changed = pg_current_xact_id()`;

const SIZE = `SELECT sum(pg_total_relation_size(own))::float8 AS bytes FROM unnest(${OWN_TABLES}::regclass[]) AS own`;

/** Milliseconds for which a size holds. */
const SIZE_INTERVAL_MS = 60_000;

const ANY_CATEGORY = 'SELECT id FROM categories LIMIT 1';

/**
 * Brings the schema up to this program's version and makes the first categories, `Work` (1) and `Life` (2), where there
 * is none (contract D7). One transaction under one lock: of several instances that start together, one does it and the
 * others find it done. A schema that is up to date needs no right to change it. Sequences that are behind are put above
 * every id that is known (contract D12), and a function that does not find its table is led to it.
 *
 * @param anotherList Whether the list may be made beside that of another schema (contract D20).
 * @throws Error for people, when something is wrong with the schema; where it is too new, nothing was changed.
 */
export async function migrate(
  connection: PostgresConnection,
  logEvent: LogEvent = () => {},
  anotherList = false,
): Promise<Migrated> {
  const before = await schemaVersion(connection, anotherList);
  throwFault(await rightsFault(connection, TO_READ_LIST));
  const [category] = before.version < MIGRATIONS.version ? [] : await connection.run(ANY_CATEGORY);
  const found = category ? before : await makeSchema(connection, anotherList);
  const versions = { from: found.version, to: Math.max(found.version, MIGRATIONS.version) };
  if (versions.from !== versions.to) logEvent({ event: 'schema-migrated', ...versions });
  throwFault(MIGRATIONS.faultOf(found));
  await mend(connection);
  return versions;
}

/** Checks the needs of an instance that starts, and that a crash of the server empties none of its tables. */
export async function prepareToServe(
  connection: PostgresConnection,
  mayMigrate: boolean,
  logEvent: LogEvent,
): Promise<void> {
  // Who grants what is missing grants the purge too.
  if (await rightsFault(connection)) throwFault(await rightsFault(connection, [...TO_SERVE, ...TO_PURGE]));
  let version: number;
  if (mayMigrate) {
    version = (await migrate(connection, logEvent)).to;
  } else {
    version = await checkSchema(connection);
    throwFault(faultOf(await findAllUnmet(connection)));
  }
  if (version > MIGRATIONS.version) logEvent({ event: 'schema-newer', version, own: MIGRATIONS.version });
  await checkLogged(connection);
}

/** Makes or migrates the schema. The result is the version before. */
async function makeSchema(connection: PostgresConnection, anotherList: boolean): Promise<SchemaVersion> {
  try {
    return await connection.transaction(async (ask) => {
      const change = (sql: string) => ask(IN_TRANSACTION + sql);
      await ask(TAKE_LOCK);
      // A session may remember from before the lock that there is no table; making it looks again.
      if (!(await findsList(connection, anotherList))) await change(MAKE_VERSION);
      await ask(STAY_THERE);
      const schema = await schemaVersion(connection, anotherList);
      if (schema.version > MIGRATIONS.version) return schema;
      if (schema.version === 0) throwFault((await faultsBy(connection, LEFTOVERS))[0]);
      for (const sql of MIGRATIONS.from(schema.version)) await change(sql);
      if (schema.version < MIGRATIONS.version) await change(WRITE_VERSION);
      await change(FIRST_CATEGORIES);
      return schema;
    });
  } catch (error) {
    if (!hasCode(error, INSUFFICIENT_PRIVILEGE)) throw error;
    throw new Error(`${messageOf(error)}${await rightsToMigrate(connection, messageOf(error))}`, {
      cause: error,
    });
  }
}

/**
 * Leads a function to its table, and puts sequences above all ids that were ever given out, by no more than needed. No
 * todo is created before the end of the transaction. Where neither is needed, nothing is locked.
 */
async function mend(connection: PostgresConnection): Promise<void> {
  try {
    await connection.transaction(async (ask) => {
      let found = await findUnmet(ask, TO_SERVE, USED_IDS);
      if (found.astray) {
        await ask(TAKE_LOCK);
        await ask(IN_TRANSACTION + LEAD_HOME);
        found = await findUnmet(ask, TO_SERVE, USED_IDS);
      }
      if (found.behind.length === 0) return throwFault(faultOf(found));
      await ask('LOCK TABLE categories, todos IN SHARE ROW EXCLUSIVE MODE');
      const { behind } = await findUnmet(ask, TO_SERVE, USED_IDS);
      for (const { sequence, highest } of behind)
        await ask({ text: 'SELECT setval($1, $2)', values: [sequence, highest] });
    });
  } catch (error) {
    if (!hasCode(error, INSUFFICIENT_PRIVILEGE) || !(await rightsToMigrate(connection))) throw error;
    const fault = faultOf(await findAllUnmet(connection));
    // Without a fault, the owner of the tables has mended them meanwhile.
    if (fault !== undefined) throw new Error(`${fault}, as the owner of the tables`, { cause: error });
  }
}

/** As `migrate`, for a role that may change nothing: an older schema is a fault as well. The result is its version. */
export async function checkSchema(connection: PostgresConnection): Promise<number> {
  const schema = await schemaVersion(connection);
  if (schema.version === 0) throwFault((await faultsBy(connection, LEFTOVERS))[0]);
  throwFault(MIGRATIONS.olderFaultOf(schema.version) ?? MIGRATIONS.faultOf(schema));
  return schema.version;
}

/** As `checkSchema`, for a reader of everything: a newer schema and rows that row security hides are faults too. */
export async function checkReadableSchema(connection: PostgresConnection): Promise<void> {
  throwFault(MIGRATIONS.exportFaultOf(await checkSchema(connection)));
  throwFault(await rightsFault(connection, TO_READ_LIST));
}

/**
 * Bytes of the service's tables with their indexes, by the server's last answer; empty while there is none. A call whose
 * answer is older than a minute asks anew, and does not wait.
 *
 * @param now Milliseconds that only grow.
 */
export function sizeOf(database: StatementPool, now = () => performance.now()): () => StoreSizes['database'] {
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

/** Makes reads of the list after a restored dump cost only the changes again. Does nothing where they do. */
export async function renewChanges(connection: PostgresConnection): Promise<void> {
  if ((await faultsBy(connection, FOREIGN_IDS)).length === 0) return;
  await connection.transaction((ask) => ask(RENEW_CHANGES));
}

async function schemaVersion(connection: PostgresConnection, anotherList = false): Promise<SchemaVersion> {
  const isThere = await findsList(connection, anotherList);
  if (isThere) throwFault(await rightsFault(connection, TO_READ_VERSION));
  const [schema] = isThere ? await connection.run<SchemaVersion>(READ_VERSION) : [];
  return schema ?? { version: 0, oldestProgram: 0 };
}

/** @throws {ListElsewhere} when only another schema has a list, unless there may be another one. */
async function findsList(connection: PostgresConnection, anotherList: boolean): Promise<boolean> {
  const [list] = await connection.run<{ found: boolean; elsewhere: string | null }>(FIND_LIST);
  if (list?.found) return true;
  if (list?.elsewhere && !anotherList) throw new ListElsewhere(list.elsewhere);
  return false;
}

/** Throws a fault as an Error for people; does nothing without one. */
function throwFault(fault: string | undefined): void {
  if (fault !== undefined) throw new Error(fault);
}
