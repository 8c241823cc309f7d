import { UNLOGGED } from './durability.ts';
import { TRIGGERS } from './list.ts';
import type { ServerConnection } from './server-connection.ts';

const TABLES = "('todos'::regclass, 'categories'::regclass, 'idempotency_keys'::regclass)";
const INVALID = `SELECT format('%1$I is not valid: ALTER TABLE %2$s VALIDATE CONSTRAINT %1$I', conname, conrelid::regclass)
    AS fault
    FROM pg_constraint WHERE conrelid IN ${TABLES} AND NOT convalidated
  UNION ALL SELECT format('%1$s is not valid: REINDEX INDEX %1$s', indexrelid::regclass)
    FROM pg_index WHERE indrelid IN ${TABLES} AND NOT indisvalid`;

/**
 * Without them, a todo may name a category that is not there, and an id or a key of creates be there twice. The foreign
 * key is the last, because it needs another one.
 */
const KEYS_MISSING = `SELECT format('its key "%1$s" is missing, so rows may be wrong: '
    'ALTER TABLE %2$s ADD CONSTRAINT %1$s %3$s', name, of, made) AS fault
  FROM (VALUES ('categories_pkey', 'categories', 'PRIMARY KEY (id)'), ('todos_pkey', 'todos', 'PRIMARY KEY (id)'),
    ('idempotency_keys_pkey', 'idempotency_keys', 'PRIMARY KEY (key)'),
    ('todos_category_id_fkey', 'todos', 'FOREIGN KEY (category_id) REFERENCES categories')) AS own (name, of, made)
  WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = to_regclass(of) AND conname = name)
  ORDER BY made DESC, name`;

/**
 * Triggers that are off. Those of foreign keys have names that the server gives them. "O" is the state in which they are
 * made.
 */
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

/** A restore of the data alone adds a row to existing ones. */
const twins = (table: string, column: string): string =>
  `SELECT format('"${table}" must have one row, received %s: DELETE FROM ${table} AS twin USING ${table} AS kept '
    'WHERE (twin.${column}, twin.ctid) < (kept.${column}, kept.ctid)', count(*)) AS fault
  FROM ${table} HAVING count(*) > 1`;

/** Whether there are ids that no transaction of this server can have had: those of a restored dump. */
export const FOREIGN_IDS = `WITH next AS (SELECT pg_snapshot_xmax(pg_current_snapshot()) AS id)
  SELECT 'its transactions were those of another server, so every list reads all todos: run "todo-service migrate"'
    AS fault
  WHERE EXISTS (SELECT FROM todos, next WHERE changed >= next.id)
    OR EXISTS (SELECT FROM todo_tombstones, next WHERE changed >= next.id)
    OR EXISTS (SELECT FROM todo_purged, next WHERE changed >= next.id)`;

const FAULTS = [
  INVALID,
  KEYS_MISSING,
  TRIGGERS_OFF,
  TRIGGERS_MISSING,
  twins('todo_schema', 'version'),
  twins('todo_purged', 'changed'),
  `SELECT ${UNLOGGED} AS fault`,
  FOREIGN_IDS,
];

/** The faults of triggers, constraints, indexes and tables of a schema of this version, one line each. */
export async function tableFaults(connection: ServerConnection): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const text of FAULTS) faults.push(...(await faultsBy(connection, text)));
  return faults;
}

export async function faultsBy(connection: ServerConnection, text: string): Promise<readonly string[]> {
  const rows = await connection.run<{ fault: string | null }>(text);
  return rows.flatMap(({ fault }) => fault ?? []);
}
