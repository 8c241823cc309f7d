import { StoreUnavailable } from '../../shared-list/store.ts';
import {
  type Counts,
  type ExportRows,
  type Kind,
  PART_SIZE,
  type StoredRow,
  TABLES,
} from '../transfer/contents.ts';
import type { Ask } from './postgres-connection.ts';
import { USED_IDS } from './requirements.ts';
import { SELECTED } from './row.ts';

/** The mode of a transaction that reads one moment. */
export const SNAPSHOT = 'ISOLATION LEVEL REPEATABLE READ, READ ONLY';

/** Within a transaction, `now()` stays the same. */
const KEPT = `idempotency_keys WHERE at > now() - interval '24 hours'`;
const COUNT = `SELECT (SELECT count(*)::int FROM categories) AS categories, (SELECT count(*)::int FROM todos) AS todos,
  (SELECT count(*)::int FROM ${KEPT}) AS keys`;

/** The rows behind one, by the id or the key of that. */
const READ = {
  categories: `SELECT id, name FROM categories WHERE ($1::integer IS NULL OR id > $1) ORDER BY id LIMIT ${PART_SIZE}`,
  todos: `SELECT ${SELECTED} FROM todos WHERE ($1::integer IS NULL OR id > $1) ORDER BY id LIMIT ${PART_SIZE}`,
  keys: `SELECT key, body, todo_id AS "todoId", floor(extract(epoch FROM at))::float8 AS at
    FROM ${KEPT} AND ($1::text IS NULL OR key > $1) ORDER BY key LIMIT ${PART_SIZE}`,
};

/** A database in a transaction of the caller's, which reads one snapshot. */
export async function sourceBy(ask: Ask): Promise<ExportRows> {
  const [counts] = await ask<Counts>(COUNT);
  // A sequence belongs to no snapshot: read after it, it is above all of its rows.
  const [ever] = await ask<{ highest: number }>(
    `SELECT greatest(last_value - (NOT is_called)::int, (${USED_IDS.todos}))::int AS highest
      FROM ${await sequenceOf('todos', ask)}`,
  );
  if (counts === undefined || ever === undefined) throw new StoreUnavailable('the server counted nothing');

  async function* parts(kind: Kind): AsyncGenerator<readonly StoredRow[]> {
    let last: unknown = null;
    do {
      const rows = await ask<StoredRow>({ text: READ[kind], values: [last] });
      if (rows.length > 0) yield rows.map(withoutNulls);
      last = rows.at(-1)?.[TABLES[kind].columns[0].name];
    } while (last !== undefined && last !== null);
  }

  return { counts, highestId: ever.highest, parts, check: async () => void (await ask('SELECT')) };
}

/** A row whose members are undefined where they are missing, as those of a request are. */
const withoutNulls = (row: StoredRow): StoredRow =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined]));

/** The sequence that gives out the ids of a table, as SQL writes it. */
export async function sequenceOf(table: string, ask: Ask): Promise<string> {
  const text = "SELECT pg_get_serial_sequence($1, 'id')::regclass::text AS name";
  const [row] = await ask<{ name: string }>({ text, values: [table] });
  return row?.name ?? '';
}
