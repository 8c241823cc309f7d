import { MEMBERS } from '../todo.ts';
import type { Ask, ServerConnection } from './connection.ts';

/** Something of the schema that must be there, and the right to use it. */
interface Need {
  /** A sequence is the one that gives out the ids of a table. */
  readonly kind: 'table' | 'column' | 'sequence' | 'trigger' | 'function';
  /** Of the table or the function. */
  readonly name: string;
  /** The right, where one is needed; of a column or a trigger, its name. */
  readonly part?: string;
  /** Of a column. */
  readonly type?: string;
  /** The function whose owner needs the right, else the role that asks does. */
  readonly by?: string;
}

/** A need that is not met, or that of a sequence. */
interface Found extends Need {
  /** Who needs the right, as SQL writes it. */
  readonly role: string;
  /** As SQL writes it; null when there is none, and for all that is no sequence. */
  readonly sequence: string | null;
  /** That it is not there, for people, or null. */
  readonly missing: string | null;
  /** That it has another type, for people, or null. */
  readonly mistyped: string | null;
  readonly denied: boolean;
}

/** A sequence that would give out ids again (contract D12). */
interface Behind {
  /** For people. */
  readonly fault: string;
  /** As SQL writes it. */
  readonly sequence: string;
  /** The highest id that is known. */
  readonly highest: number;
}

/** Which needs are not met. */
interface Lacks {
  /** What is not there, for people. */
  readonly missing: readonly string[];
  /** What has another type, for people: what is read or written of it is wrong. */
  readonly mistyped: readonly string[];
  /** Which rights are not there on what is, for people, with what grants them. */
  readonly denied: string | undefined;
  /** Looked for when nothing else is wrong. */
  readonly behind: readonly Behind[];
}

const TO_WRITE: readonly (string | undefined)[] = ['INSERT', 'UPDATE', 'DELETE'];
const READ = ['SELECT'];
const WRITE = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** The kinds of members are types of PostgreSQL. */
const TODO = Object.fromEntries(MEMBERS.map(({ column, kind }) => [column, kind]));
const CATEGORY = { id: 'integer', name: 'text' };
const KEY = { key: 'text', body: 'text', todo_id: 'integer', at: 'timestamptz' };

/** What an instance that serves needs. */
export const TO_SERVE: readonly Need[] = [
  ...ofTable('todos', { id: 'integer', ...TODO, changed: 'xid8' }, WRITE),
  ...ofTable('categories', CATEGORY, READ),
  ...ofTable('todo_schema', { version: 'integer', oldest_program: 'integer' }, READ),
  ...ofTable('todo_tombstones', { id: 'integer', changed: 'xid8', at: 'timestamptz' }, READ),
  ...ofTable('todo_purged', { changed: 'xid8' }, READ),
  ...ofTable('idempotency_keys', KEY, WRITE),
  { kind: 'sequence', name: 'todos', part: 'SELECT' },
  { kind: 'sequence', name: 'categories', part: 'SELECT' },
  { kind: 'function', name: 'todo_changed()' },
  { kind: 'trigger', name: 'todos', part: 'todo_changed' },
  { kind: 'function', name: 'todo_removed()' },
  { kind: 'function', name: 'todo_unseen(pg_snapshot,integer)', part: 'EXECUTE' },
  { kind: 'function', name: 'todo_purge()', part: 'EXECUTE' },
  { kind: 'table', name: 'todo_tombstones', part: 'INSERT', by: 'todo_removed()' },
  { kind: 'table', name: 'todo_tombstones', part: 'DELETE', by: 'todo_purge()' },
  { kind: 'table', name: 'todo_purged', part: 'UPDATE', by: 'todo_purge()' },
];

/** The same without what only writes need. */
export const TO_CHECK = TO_SERVE.filter(({ kind, part }) => kind !== 'trigger' && !TO_WRITE.includes(part));

export const toChangeCategories = (right: 'INSERT' | 'UPDATE') =>
  ofTable('categories', CATEGORY, ['SELECT', right]);

/** The highest id of each table that a row has; an index knows it. */
export const IN_ROWS = {
  todos: 'SELECT max(id) FROM todos',
  categories: 'SELECT max(id) FROM categories',
};

/** The highest that anything knows of. It reads all tombstones and keys. */
export const EVER = {
  ...IN_ROWS,
  todos: `SELECT greatest((${IN_ROWS.todos}), (SELECT max(id) FROM todo_tombstones),
    (SELECT max(todo_id) FROM idempotency_keys))`,
};

// A statement that spells a name fails when that is missing, so this one looks names up. A function of rights says null
// where there is nothing to have a right on, or no right is needed.
const FIND = `WITH needed AS (
    SELECT place, kind, name, part, type,
      (SELECT oid FROM pg_roles WHERE CASE WHEN by IS NULL THEN rolname = current_user
        ELSE oid = (SELECT proowner FROM pg_proc WHERE oid = to_regprocedure(by)) END) AS role,
      CASE kind WHEN 'function' THEN to_regprocedure(name)::oid ELSE to_regclass(name)::oid END AS object,
      CASE WHEN kind = 'sequence' AND EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = to_regclass(name) AND attname = 'id' AND NOT attisdropped
      ) THEN to_regclass(pg_get_serial_sequence(name, 'id')) END AS sequence
    FROM ROWS FROM (json_to_recordset($1) AS (kind text, name text, part text, type text, by text))
      WITH ORDINALITY AS need (kind, name, part, type, by, place)
  ), found AS (
    SELECT *, CASE
        WHEN kind = 'function' AND object IS NULL THEN format('its function %s is missing', name)
        WHEN kind = 'table' AND part IS NULL AND object IS NULL THEN format('its table "%s" is missing', name)
        WHEN object IS NULL THEN NULL
        WHEN kind = 'column' AND NOT EXISTS (
            SELECT FROM pg_attribute WHERE attrelid = object AND attname = part AND NOT attisdropped)
          THEN format('the column "%s" of "%s" is missing', part, name)
        WHEN kind = 'sequence' AND sequence IS NULL THEN format('no sequence gives out the ids of "%s"', name)
        WHEN kind = 'trigger' AND NOT EXISTS (
            SELECT FROM pg_trigger WHERE tgrelid = object AND tgname = part AND tgenabled IN ('A', 'O'))
          THEN format('its trigger "%2$s" is missing or off: ALTER TABLE %1$s ENABLE ALWAYS TRIGGER %2$s', name, part)
      END AS missing,
      (SELECT format('the column "%s" of "%s" must be %s, received %s', part, name, type, format_type(atttypid, NULL))
        FROM pg_attribute WHERE kind = 'column' AND attrelid = object AND attname = part AND NOT attisdropped
          AND atttypid <> to_regtype(type)) AS mistyped,
      coalesce(CASE kind
        WHEN 'table' THEN NOT has_table_privilege(role, object, part)
        WHEN 'function' THEN NOT has_function_privilege(role, object, part)
        WHEN 'sequence' THEN NOT has_sequence_privilege(role, sequence, part)
      END, false) AS denied
    FROM needed
  )
  SELECT kind, name, part, role::regrole::text AS role, sequence::text AS sequence, missing, mistyped, denied
  FROM found WHERE missing IS NOT NULL OR mistyped IS NOT NULL OR denied OR kind = 'sequence' ORDER BY place`;

/** @param taken By table, SQL that gives the id that its sequence must be above; without it none is looked at. */
export async function findLacks(
  ask: Ask,
  needs: readonly Need[],
  taken: Readonly<Record<string, string>> = {},
): Promise<Lacks> {
  const found = await ask<Found>({ text: FIND, values: [JSON.stringify(needs)] });
  const missing = found.flatMap((each) => each.missing ?? []);
  const mistyped = found.flatMap((each) => each.mistyped ?? []);
  const denied = grants(found.filter((each) => each.denied));
  const behind: Behind[] = [];
  const whole = missing.length === 0 && mistyped.length === 0 && denied === '';
  for (const { name: table, sequence } of whole ? found : []) {
    // What a sequence is at can be read by its name alone.
    const text = `SELECT $2 AS sequence, highest::float8, format('the next id of "%s" is %s, and ids up to %s '
        'are taken: run "todo-service migrate"', $1::text, next, highest) AS fault
      FROM (SELECT last_value + is_called::int AS next, (${taken[table]}) AS highest FROM ${sequence}) AS at
      WHERE next <= highest`;
    if (table in taken) behind.push(...(await ask<Behind>({ text, values: [table, sequence] })));
  }
  return {
    missing,
    mistyped,
    denied: denied === '' ? undefined : `its role lacks rights: ${denied}`,
    behind,
  };
}

/** What is wrong, for people, or undefined. */
export function faultOf({ missing, mistyped, behind, denied }: Lacks): string | undefined {
  const faults = [...missing, ...mistyped, ...behind.map(({ fault }) => fault), denied];
  return faults.filter((fault) => fault !== undefined).join('; ') || undefined;
}

/** Which rights the role lacks on what is there, for people, with what grants them; or undefined. */
export async function rightsFault(
  connection: ServerConnection,
  needs = TO_SERVE,
): Promise<string | undefined> {
  return (await findLacks((statement) => connection.run(statement), needs)).denied;
}

/** What of a schema of this version is missing, denied or behind all ids that are known. */
export function findAllLacks(connection: ServerConnection, needs = TO_SERVE): Promise<Lacks> {
  // Tombstones and keys may be many.
  return connection.transaction((ask) => findLacks(ask, needs, EVER));
}

/** `GRANT SELECT, INSERT ON todos TO role; GRANT …`. */
export function grants(needs: readonly (Need & Partial<Found>)[], otherwise = ''): string {
  const rights = needs.filter(
    ({ kind, part }) => !['column', 'trigger'].includes(kind) && part !== undefined,
  );
  const byObject = Object.groupBy(rights, (each) => `${objectOf(each)} TO ${each.role ?? otherwise}`);
  return Object.entries(byObject)
    .map(([object, of = []]) => `GRANT ${of.map(({ part }) => part).join(', ')} ON ${object}`)
    .join('; ');
}

function objectOf({ kind, name, sequence }: Need & Partial<Found>): string {
  if (kind === 'sequence') return `SEQUENCE ${sequence ?? `${name}_id_seq`}`;
  return kind === 'function' ? `FUNCTION ${name}` : name;
}

/** @param columns Their types, by name. */
function ofTable(
  name: string,
  columns: Readonly<Record<string, string>>,
  rights: readonly string[],
): readonly Need[] {
  return [
    { kind: 'table', name },
    ...rights.map((part) => ({ kind: 'table', name, part }) as const),
    ...Object.entries(columns).map(([part, type]) => ({ kind: 'column', name, part, type }) as const),
  ];
}
