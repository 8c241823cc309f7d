import type { SQLOutputValue } from 'node:sqlite';
import type { Todo } from '../todo.ts';

export const FIND = 'SELECT id, title, done, category_id FROM todos WHERE id = ?';

/** A row of `FIND`. The tables are STRICT: a column holds nothing but its type. */
export function todoOf(row: Record<string, SQLOutputValue>): Todo {
  return {
    id: Number(row.id),
    title: String(row.title),
    done: row.done === 1,
    categoryId: Number(row.category_id),
  };
}
