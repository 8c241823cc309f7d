import { MEMBERS } from '../../shared-list/members.ts';

/** A part of the schema that must be there, and the right to use it. */
export interface Requirement {
  /**
   * The kind. A sequence gives out the ids of a table. Rows are those that row security does not hide. A path is the
   * search path of a function, by which it finds a table in the schema of `todos`.
   */
  readonly kind: 'table' | 'rows' | 'column' | 'sequence' | 'trigger' | 'function' | 'path';
  /** The name of the table or the function. */
  readonly name: string;
  /** The right, where one is needed; of a column or a trigger, its name; of a path, the name of the table. */
  readonly part?: string;
  readonly type?: string;
  /** The function that needs the right: as its owner with SECURITY DEFINER, else as the role that asks, which undefined is. */
  readonly by?: string;
}

/** The tables, in SQL. */
export const OWN_TABLES =
  "ARRAY['categories', 'idempotency_keys', 'todo_purged', 'todo_schema', 'todo_tombstones', 'todos']";

const TO_WRITE: readonly (string | undefined)[] = ['INSERT', 'UPDATE', 'DELETE'];
const READ = ['SELECT'];
const WRITE = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];

/** The kinds of members are types of PostgreSQL. */
const TODO = Object.fromEntries(MEMBERS.map(({ column, kind }) => [column, kind]));
const CATEGORY = { id: 'integer', name: 'text' };
const KEY = { key: 'text', body: 'text', todo_id: 'integer', at: 'timestamptz' };

export const TO_SERVE: readonly Requirement[] = [
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
  { kind: 'trigger', name: 'todos', part: 'todo_removed' },
  { kind: 'trigger', name: 'todos', part: 'todo_renumbered' },
  { kind: 'function', name: 'todo_removed()' },
  { kind: 'function', name: 'todo_unseen(pg_snapshot,integer)', part: 'EXECUTE' },
  { kind: 'path', name: 'todo_removed()', part: 'todo_tombstones' },
  { kind: 'path', name: 'todo_unseen(pg_snapshot,integer)', part: 'todos' },
  { kind: 'path', name: 'todo_unseen(pg_snapshot,integer)', part: 'todo_tombstones' },
  { kind: 'table', name: 'todo_tombstones', part: 'INSERT', by: 'todo_removed()' },
  { kind: 'rows', name: 'todo_tombstones', by: 'todo_removed()' },
];

/** The requirements of a purge of tombstones, without which an instance serves. */
export const TO_PURGE: readonly Requirement[] = [
  { kind: 'function', name: 'todo_purge()', part: 'EXECUTE' },
  { kind: 'table', name: 'todo_tombstones', part: 'DELETE', by: 'todo_purge()' },
  { kind: 'table', name: 'todo_purged', part: 'UPDATE', by: 'todo_purge()' },
  { kind: 'rows', name: 'todo_tombstones', by: 'todo_purge()' },
  { kind: 'rows', name: 'todo_purged', by: 'todo_purge()' },
];

/** The requirements without those of writes alone. */
export const TO_CHECK = TO_SERVE.filter(({ part }) => !TO_WRITE.includes(part));

export const TO_READ_LIST = TO_SERVE.filter(({ kind, by }) => kind === 'rows' && by === undefined);

export const TO_READ_VERSION = TO_CHECK.filter(({ name }) => name === 'todo_schema');

export const toUseCategories = (right: 'SELECT' | 'INSERT' | 'UPDATE') =>
  ofTable('categories', CATEGORY, [...new Set(['SELECT', right])]);

export const TO_NUMBER_CATEGORIES = TO_SERVE.filter(
  ({ kind, name }) => kind === 'sequence' && name === 'categories',
);

/** The highest id in the rows of each table; an index has it. */
export const IN_ROWS = {
  todos: 'SELECT max(id) FROM todos',
  categories: 'SELECT max(id) FROM categories',
};

/** The highest id in all records. Reads all tombstones and keys. */
export const USED_IDS = {
  ...IN_ROWS,
  todos: `SELECT greatest((${IN_ROWS.todos}), (SELECT max(id) FROM todo_tombstones),
    (SELECT max(todo_id) FROM idempotency_keys))`,
};

/** @param columns Their types, by name. */
function ofTable(
  name: string,
  columns: Readonly<Record<string, string>>,
  rights: readonly string[],
): readonly Requirement[] {
  return [
    { kind: 'table', name },
    { kind: 'rows', name },
    ...rights.map((part) => ({ kind: 'table', name, part }) as const),
    ...Object.entries(columns).map(([part, type]) => ({ kind: 'column', name, part, type }) as const),
  ];
}
