import type { QueryConfig } from 'pg';
import { COLUMN_NAMES } from '../todo.ts';
import { inTransaction, run } from './connect.ts';
import type { ServerConnection } from './connection.ts';
import { isInsufficientPrivilege } from './error.ts';

/** Something of the schema that must be there, and the right to use it. */
interface Need {
  /** A sequence is the one that gives out the ids of a table. */
  readonly kind: 'table' | 'column' | 'sequence' | 'trigger' | 'function';
  /** Of the table or the function. */
  readonly name: string;
  /** The right, null for none; of a column or a trigger, its name. */
  readonly part: string | null;
  /** The function whose owner needs the right; null: the role that asks does. */
  readonly by: string | null;
}

/** A need that is not met. */
export interface Lack extends Need {
  /** False: it is missing. */
  readonly found: boolean;
  /** Whose right is missing, as SQL writes it. */
  readonly role: string;
  /** As SQL writes it; null when there is none, and for all that is no sequence. */
  readonly sequence: string | null;
  /** Of a sequence that is behind: the id to come, and the highest that is known. */
  readonly next: number | null;
  readonly highest: number | null;
}

const TO_WRITE: readonly (string | null)[] = ['INSERT', 'UPDATE', 'DELETE'];
const READ = ['SELECT'];
const WRITE = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** What an instance that serves needs. */
export const TO_SERVE: readonly Need[] = [
  ...ofTable('todos', ['id', ...COLUMN_NAMES, 'changed'], WRITE),
  ...ofTable('categories', ['id', 'name'], READ),
  ...ofTable('todo_schema', ['version', 'oldest_program'], READ),
  ...ofTable('todo_tombstones', ['id', 'changed', 'at'], READ),
  ...ofTable('todo_purged', ['changed'], READ),
  ...ofTable('idempotency_keys', ['key', 'body', 'todo_id', 'at'], WRITE),
  need('sequence', 'todos', 'SELECT'),
  need('sequence', 'categories', 'SELECT'),
  need('function', 'todo_changed()', null),
  need('trigger', 'todos', 'todo_changed'),
  need('function', 'todo_removed()', null),
  need('function', 'todo_unseen(pg_snapshot,integer)', 'EXECUTE'),
  need('function', 'todo_purge()', 'EXECUTE'),
  need('table', 'todo_tombstones', 'INSERT', 'todo_removed()'),
  need('table', 'todo_tombstones', 'DELETE', 'todo_purge()'),
  need('table', 'todo_purged', 'UPDATE', 'todo_purge()'),
];

/** The same without what only writes need. */
export const TO_CHECK = TO_SERVE.filter(({ kind, part }) => kind !== 'trigger' && !TO_WRITE.includes(part));

export const toChangeCategories = (right: 'INSERT' | 'UPDATE') =>
  ofTable('categories', ['id', 'name'], ['SELECT', right]);

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

/** The name of the sequence that gives out the ids of a table, as SQL writes it. */
export const SEQUENCE_OF = "SELECT pg_get_serial_sequence($1, 'id')::regclass::text AS name";

// A statement that spells a name fails when that is missing, so this one looks names up. What a sequence is at can only be
// read by name: that is a text, which runs when nothing is missing.
const LACKING = `WITH needed AS (
    SELECT place, kind, name, part, by,
      (SELECT oid FROM pg_roles WHERE CASE WHEN by IS NULL THEN rolname = current_user
        ELSE oid = (SELECT proowner FROM pg_proc WHERE oid = to_regprocedure(by)) END) AS role,
      CASE kind WHEN 'function' THEN to_regprocedure(name)::oid ELSE to_regclass(name)::oid END AS object,
      CASE WHEN kind = 'sequence' AND EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = to_regclass(name) AND attname = 'id' AND NOT attisdropped
      ) THEN to_regclass(pg_get_serial_sequence(name, 'id')) END AS sequence
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
      WITH ORDINALITY AS need (kind, name, part, by, place)
  ), lacking AS MATERIALIZED (
    SELECT *, CASE WHEN kind IN ('column', 'trigger') THEN false WHEN kind = 'sequence' THEN sequence IS NOT NULL
      ELSE object IS NOT NULL END AS found
    FROM needed WHERE CASE kind
      WHEN 'table' THEN CASE WHEN part IS NULL THEN object IS NULL ELSE NOT has_table_privilege(role, object, part) END
      WHEN 'function' THEN object IS NULL OR NOT has_function_privilege(role, object, part)
      WHEN 'sequence' THEN object IS NOT NULL
        AND (sequence IS NULL OR NOT has_sequence_privilege(role, sequence, part))
      WHEN 'trigger' THEN object IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_trigger WHERE tgrelid = object AND tgname = part AND tgenabled IN ('A', 'O'))
      ELSE object IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = object AND attname = part AND NOT attisdropped)
      END
  )
  SELECT place, kind, name, part, by, found, role::regrole::text AS role, sequence::text AS sequence,
    NULL::float8 AS next, NULL::float8 AS highest
  FROM lacking
  UNION ALL
  SELECT place, kind, name, part, by, true, role::regrole::text, sequence::text, next, highest
  FROM needed JOIN unnest($5::text[], $6::text[]) AS ids (name, text) USING (name),
    XMLTABLE('//row' PASSING CASE WHEN NOT EXISTS (SELECT FROM lacking) THEN query_to_xml(
        format('SELECT last_value + is_called::int AS next, (%s) AS highest FROM %s', ids.text, sequence),
        false, false, '') END
      COLUMNS next float8, highest float8)
  WHERE kind = 'sequence' AND next <= highest
  ORDER BY place`;

/**
 * Asks which needs are not met. Its rows are `Lack`s.
 *
 * @param highest What each sequence must be above, asked when all else is met. Without it none is looked at.
 */
export function lacking(needs: readonly Need[], highest: Readonly<Record<string, string>> = {}): QueryConfig {
  return {
    text: LACKING,
    values: [
      needs.map(({ kind }) => kind),
      needs.map(({ name }) => name),
      needs.map(({ part }) => part),
      needs.map(({ by }) => by),
      Object.keys(highest),
      Object.values(highest),
    ],
  };
}

/** Which rights the role lacks on what is there, for people, with what grants them; or undefined. */
export async function rightsFault(
  connection: ServerConnection,
  needs = TO_SERVE,
): Promise<string | undefined> {
  return rightsFaultOf(await lacks(connection, needs));
}

/** What is missing of a schema of this version, or behind: one line for people, or undefined. */
export async function needsFault(connection: ServerConnection): Promise<string | undefined> {
  return faultOf(await lacksOf(connection, TO_SERVE));
}

/** The needs of a schema of this version that are not met, its sequences among them. */
export function lacksOf(connection: ServerConnection, needs: readonly Need[]): Promise<readonly Lack[]> {
  // Tombstones and keys may be many.
  return inTransaction(connection, () => lacks(connection, needs, EVER));
}

function lacks(
  connection: ServerConnection,
  needs: readonly Need[],
  highest?: Readonly<Record<string, string>>,
): Promise<readonly Lack[]> {
  const { text, values } = lacking(needs, highest);
  return run<Lack>(connection, text, values);
}

/**
 * Nobody creates meanwhile, and ids that others were given before are seen: each sequence goes forward, and no further
 * than it must.
 *
 * @returns what is wrong afterwards, for people, or undefined.
 */
export async function raiseSequences(connection: ServerConnection): Promise<string | undefined> {
  const found = await lacksOf(connection, TO_SERVE);
  const fault = faultOf(found);
  if (fault === undefined || !found.every(isBehind)) return fault;
  try {
    await inTransaction(connection, () => raiseAbove(connection, EVER));
  } catch (error) {
    if (isInsufficientPrivilege(error)) return `${fault}, as the owner of the tables`;
    throw error;
  }
  return needsFault(connection);
}

/**
 * The same within a transaction, until whose end nobody creates. Where no sequence is behind, nothing is locked.
 *
 * @param known By table, SQL that gives the highest id that is taken.
 * @returns what must be mended first, for people, or undefined.
 */
export async function raiseAbove(
  connection: ServerConnection,
  known: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const found = await lacks(connection, TO_SERVE, known);
  if (!found.every(isBehind)) return faultOf(found);
  if (found.length === 0) return undefined;
  await run(connection, 'LOCK TABLE categories, todos IN SHARE ROW EXCLUSIVE MODE');
  for (const { sequence, highest } of await lacks(connection, TO_SERVE, known))
    await run(connection, 'SELECT setval($1, $2)', [sequence, highest]);
  return undefined;
}

/** What is wrong, for people, one line each. */
export function faultsOf(lacks: readonly Lack[]): readonly string[] {
  const missing = lacks.filter(({ found }) => !found).map(whatIsMissing);
  const behind = lacks.filter(isBehind).map(behindFault);
  const denied = rightsFaultOf(lacks);
  return [...missing, ...behind, ...(denied === undefined ? [] : [denied])];
}

/** The same in one line, or undefined. */
export function faultOf(lacks: readonly Lack[]): string | undefined {
  return lacks.length === 0 ? undefined : faultsOf(lacks).join('; ');
}

/** Which rights are missing, for people, with what grants them; or undefined. */
export function rightsFaultOf(lacks: readonly Lack[]): string | undefined {
  const denied = lacks.filter((lack) => lack.found && !isBehind(lack));
  return denied.length === 0 ? undefined : `its role lacks rights: ${grants(denied)}`;
}

function isBehind({ next }: Lack): boolean {
  return next !== null;
}

/** `GRANT SELECT, INSERT ON todos TO role; GRANT …`. */
export function grants(needs: readonly (Need & Partial<Lack>)[], otherwise = ''): string {
  const rights = needs.filter(({ kind, part }) => !['column', 'trigger'].includes(kind) && part !== null);
  const byObject = Object.groupBy(rights, (each) => `${objectOf(each)} TO ${each.role ?? otherwise}`);
  return Object.entries(byObject)
    .map(([object, of = []]) => `GRANT ${of.map(({ part }) => part).join(', ')} ON ${object}`)
    .join('; ');
}

function objectOf({ kind, name, sequence }: Need & Partial<Lack>): string {
  if (kind === 'sequence') return `SEQUENCE ${sequence ?? `${name}_id_seq`}`;
  return kind === 'function' ? `FUNCTION ${name}` : name;
}

function whatIsMissing({ kind, name, part }: Lack): string {
  switch (kind) {
    case 'table':
      return `its table "${name}" is missing`;
    case 'column':
      return `the column "${part}" of "${name}" is missing`;
    case 'sequence':
      return `no sequence gives out the ids of "${name}"`;
    case 'trigger':
      return `its trigger "${part}" is missing or off: ALTER TABLE ${name} ENABLE ALWAYS TRIGGER ${part}`;
    case 'function':
      return `its function ${name} is missing`;
  }
}

function behindFault({ name, next, highest }: Lack): string {
  return `the next id of "${name}" is ${next}, and ids up to ${highest} are taken: run "todo-service migrate"`;
}

function ofTable(table: string, columns: readonly string[], rights: readonly string[]): readonly Need[] {
  return [
    need('table', table, null),
    ...rights.map((right) => need('table', table, right)),
    ...columns.map((column) => need('column', table, column)),
  ];
}

function need(kind: Need['kind'], name: string, part: string | null, by: string | null = null): Need {
  return { kind, name, part, by };
}
