import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { CreateKey } from '../../shared-list/create-keys.ts';
import {
  COLUMN_NAMES,
  MEMBERS,
  MISSING,
  type Todo,
  type TodoMembers,
  valuesOf,
} from '../../shared-list/members.ts';
import { RowLeftOut } from './error.ts';

const names = COLUMN_NAMES.join(', ');
const parameters = COLUMN_NAMES.map(() => '?').join(', ');

const SELECT = `SELECT id, ${names}`;

export const ADD = `INSERT INTO todos (${names}) VALUES (${parameters})`;
export const REPLACE = `UPDATE todos SET (${names}) = (${parameters}) WHERE id = ?`;

/** Takes the id of a todo, and its `columnValues`. */
export const ADD_WITH_ID = `INSERT INTO todos (id, ${names}) VALUES (?, ${parameters})`;

/** The values of `ADD` and `REPLACE`; SQLite has no booleans. */
export function columnValues(todo: TodoMembers): readonly SQLInputValue[] {
  return valuesOf(todo).map((value) => (typeof value === 'boolean' ? Number(value) : value));
}

export function prepareFind(database: DatabaseSync): (id: number) => Todo | undefined {
  const find = prepareRows(database, `${SELECT} FROM todos WHERE id = ?`);
  return (id) => {
    const row = find.get(id);
    return row === undefined ? undefined : todoOf(row);
  };
}

/** Finds todos by the rest of a SELECT from its FROM on, and its parameters. */
export function prepareTodos(database: DatabaseSync, from: string): (...by: number[]) => readonly Todo[] {
  const chosen = prepareRows(database, `${SELECT} ${from}`);
  return (...by) => chosen.all(...by).map(todoOf);
}

/** Rows come as arrays: half the time of objects. */
function prepareRows(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** The tables are STRICT: a column holds nothing but its type. */
function todoOf(row: Readonly<Record<number, SQLOutputValue>>): Todo {
  const todo: { -readonly [Member in keyof Todo]?: unknown } = { id: row[0] };
  let at = 1;
  for (const { name, kind } of MEMBERS) {
    // An older schema may lack the column, which is null then.
    const value = row[at] ?? MISSING[name];
    todo[name] = kind === 'boolean' && value !== undefined ? Boolean(value) : value;
    at += 1;
  }
  return todo as Todo;
}

// The end of a key: 24 hours by this clock, which is the machine's (contract I2).
export const OVER = 'at <= unixepoch() - 86400';

const FIND_KEY = `SELECT body, todo_id FROM idempotency_keys WHERE key = ? AND NOT (${OVER})`;

/** Replaces an expired key that is still there. */
const KEEP_KEY = 'INSERT OR REPLACE INTO idempotency_keys (key, body, todo_id) VALUES (?, ?, ?)';

/** Deletes up to four at a time, more than are added, so that a backlog shrinks. */
const SWEEP_KEYS = `DELETE FROM idempotency_keys
  WHERE key IN (SELECT key FROM idempotency_keys WHERE ${OVER} ORDER BY at LIMIT 4)`;

/** The keys of creates that may be repeated, within a transaction of the caller's. */
export function prepareKeys(database: DatabaseSync) {
  const find = database.prepare(FIND_KEY);
  const keep = database.prepare(KEEP_KEY);
  const sweep = database.prepare(SWEEP_KEYS);
  return {
    /** The body and the todo that the key was used for. */
    find(key: string) {
      const row = find.get(key);
      return row === undefined ? undefined : { id: Number(row.todo_id), body: String(row.body) };
    },
    /** Keeps a key, and deletes a few expired ones. @throws {RowLeftOut} */
    keep({ key, body }: CreateKey, id: number): void {
      if (keep.run(key, body, id).changes === 0) throw new RowLeftOut();
      sweep.run();
    },
  };
}
