import type { CreateKey } from '../../shared-list/create-keys.ts';
import { MEMBERS, type TodoMembers } from '../../shared-list/members.ts';
import { StoreUnavailable } from '../../shared-list/store.ts';
import type { Category } from '../maintenance.ts';

/** Rows that are read or handed on together, at most. */
export const PART_SIZE = 2_048;

/** The counts in the first line of an export. */
export interface Counts {
  readonly categories: number;
  readonly todos: number;
  readonly keys: number;
}

/** A create that may be repeated: its key is valid for 24 hours. */
export interface KeptKey extends CreateKey {
  /** The todo that was made; it may be gone. */
  readonly todoId: number;
  /** Whole seconds since 1970. */
  readonly at: number;
}

/** A todo that obeys every rule, except that its category may not exist: only the database knows that. */
export type ParsedTodo = TodoMembers & { readonly id: number };

/** Some of the rows of an export, in its order: categories and todos by id, keys by key. */
export interface Rows {
  readonly categories: readonly Category[];
  readonly todos: readonly ParsedTodo[];
  readonly keys: readonly KeptKey[];
}

/** An export that was read to its end, and is complete and unchanged. */
export interface Contents extends Counts {
  /** The highest id of a todo that was ever given out; 0 when there was none. */
  readonly highestId: number;
  /** The highest id of a category that was ever given out. */
  readonly highestCategoryId: number;
}

/** A column of a table, and the member of a line that has its value. */
interface Column {
  readonly name: string;
  readonly column: string;
  /** A type of PostgreSQL. */
  readonly kind: 'text' | 'boolean' | 'integer';
}

const columnOf = (name: string, kind: Column['kind'], column = name): Column => ({ name, column, kind });

/** The tables of an export, in its order. The rows of each are ordered by its first column. */
export const TABLES = {
  categories: { table: 'categories', columns: [columnOf('id', 'integer'), columnOf('name', 'text')] },
  todos: { table: 'todos', columns: [columnOf('id', 'integer'), ...MEMBERS] },
  keys: {
    table: 'idempotency_keys',
    columns: [
      columnOf('key', 'text'),
      columnOf('body', 'text'),
      columnOf('todoId', 'integer', 'todo_id'),
      columnOf('at', 'integer'),
    ],
  },
} as const satisfies Record<keyof Counts, { readonly table: string; readonly columns: readonly Column[] }>;

export type Kind = keyof typeof TABLES;

export const KINDS = ['categories', 'todos', 'keys'] as const satisfies readonly Kind[];

/**
 * A row as a database has it, which may break any rule, by the names of members. Bytes that are no text in the encoding of
 * the database stay bytes; `at` is a number of seconds since 1970.
 */
export type StoredRow = Readonly<Record<string, unknown>>;

/** A database as it is at one moment, whatever is written meanwhile. Rejects with `StoreUnavailable`. */
export interface ExportRows {
  readonly counts: Counts;
  /** As in `Contents`. */
  readonly highestId: number;
  /** All rows of a kind, in parts; of the keys those of the last 24 hours. */
  parts(kind: Kind): AsyncIterable<readonly StoredRow[]>;
  /** Called now and then, so that no proxy ends the connection, and at the end. Rejects for parts of two moments. */
  check(): Promise<void>;
}

export type ExportSource = ExportRows & AsyncDisposable;

/** Takes an import in one transaction. Disposed of before `commit` resolves, or with its process, it changes no row. */
export interface ImportTarget extends AsyncDisposable {
  /** Rejects with `StoreUnavailable`. */
  add(rows: Rows): Promise<void>;
  /**
   * Makes all rows that were read, or none; later ids are above them, and every instance shows them when it resolves. Rejects with
   * `OutcomeUnknown` when the outcome of the commit is unknown, with `StoreUnavailable` as `checkWritten` throws.
   *
   * @returns the number of keys that were kept: those that are older than 24 hours are not.
   */
  commit(contents: Contents): Promise<number>;
}

/** SQL for the reason why a database is not empty, or null (contract E2). @param wereGiven Whether ids were given. */
export const contentBy = (wereGiven: string): string => `SELECT CASE
    WHEN EXISTS (SELECT 1 FROM todos) THEN 'it has todos'
    WHEN EXISTS (SELECT 1 FROM idempotency_keys) THEN 'it has keys of creates'
    WHEN ${wereGiven} THEN 'ids of todos were given out'
    WHEN EXISTS (SELECT 1 FROM categories WHERE (id, name) NOT IN (VALUES (1, 'Work'), (2, 'Life')))
      THEN 'it has other categories than those of a first start'
  END AS content`;

export function notEmpty(content: unknown): StoreUnavailable {
  const wanted = 'make a new one, and set TODO_DATABASE to it';
  return new StoreUnavailable(`the database must be empty, and ${content}: ${wanted}`);
}

/** SQL for the rows of each kind, with keys of any age. */
export const COUNT_ROWS = `SELECT ${KINDS.map(
  (kind) => `(SELECT CAST(count(*) AS integer) FROM ${TABLES[kind].table}) AS ${kind}`,
).join(', ')}`;

/** @param written By `COUNT_ROWS`. @throws {StoreUnavailable} when an import has written other rows than were read. */
export function checkWritten(read: Counts, written: Readonly<Partial<Record<Kind, unknown>>> = {}): void {
  for (const kind of KINDS) {
    if (written[kind] === read[kind]) continue;
    throw new StoreUnavailable(
      `"${TABLES[kind].table}" must have ${read[kind]} rows, received ${written[kind]}: a trigger or a rule that is not of ` +
        'this program leaves out or adds some. "todo-service check" names it',
    );
  }
}
