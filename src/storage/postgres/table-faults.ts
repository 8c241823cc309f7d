import { UNLOGGED } from './durability.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import { OWN_TABLES } from './requirements.ts';

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

/** Parts that stand where a list is to be made, while no row says that there is one. */
export const LEFTOVERS = `WITH part (place, name) AS (
    SELECT relnamespace, quote_ident(relname) FROM pg_class WHERE relname <> 'todo_schema' AND relname = ANY (${OWN_TABLES}
      || ARRAY['todos_changed', 'todo_tombstones_changed', 'idempotency_keys_at'])
    UNION ALL SELECT pronamespace, signature FROM pg_proc, format('%s(%s)', proname, oidvectortypes(proargtypes)) AS signature
      WHERE signature IN ('todo_changed()', 'todo_removed()', 'todo_purge()', 'todo_unseen(pg_snapshot, integer)')
  )
  SELECT format('its schema %s has no "todo_schema" with a version, but parts of a restore that failed, or of another program: '
    '%s. Restore into an empty database, drop them if nobody needs them, or set another "search_path"',
    min(place::regnamespace::text), string_agg(name, ', ' ORDER BY name COLLATE "C")) AS fault
  FROM part WHERE place = coalesce((SELECT relnamespace FROM pg_class WHERE oid = to_regclass('todo_schema')),
    to_regnamespace(quote_ident(current_schema()))) HAVING count(*) > 0`;

const FAULTS = [
  twins('todo_schema', 'version'),
  twins('todo_purged', 'changed'),
  `SELECT '"todo_purged" must have one row, received 0, so every list reads all todos: INSERT INTO todo_purged VALUES '
    '(pg_current_xact_id())' AS fault WHERE NOT EXISTS (SELECT FROM todo_purged)`,
  `SELECT ${UNLOGGED} AS fault`,
  FOREIGN_IDS,
].map((text) => `(${text})`);

/** The faults of the tables of a schema of this version or a newer one, one line each. */
export const tableFaults = (connection: PostgresConnection) =>
  faultsBy(connection, FAULTS.join(' UNION ALL '));

export async function faultsBy(connection: PostgresConnection, text: string): Promise<readonly string[]> {
  const rows = await connection.run<{ fault: string | null }>(text);
  return rows.flatMap(({ fault }) => fault ?? []);
}
