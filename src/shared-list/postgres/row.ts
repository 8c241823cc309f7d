import { COLUMNS } from '../columns.ts';
import type { Todo } from '../todo.ts';

/** What a query selects for `todoOf`. */
export const SELECTED = ['id', ...COLUMNS].map((column) => `todos.${column}`).join(', ');

const parametersFrom = (first: number): readonly string[] => COLUMNS.map((_, index) => `$${first + index}`);

/** Takes `valuesOf` a todo. */
export const ADD = `INSERT INTO todos (${COLUMNS.join(', ')}) VALUES (${parametersFrom(1).join(', ')}) RETURNING id`;

/** Takes the id, what `xmin` was or null, and `valuesOf` a todo. */
export const REPLACE = `UPDATE todos SET (${COLUMNS.join(', ')}) = ROW (${parametersFrom(3).join(', ')})
  WHERE id = $1 AND ($2::xid IS NULL OR xmin = $2) RETURNING id`;

/** A row of `SELECTED`. */
export interface TodoRow {
  readonly id: number;
  readonly title: string;
  readonly done: boolean;
  readonly category_id: number;
}

export function todoOf({ id, title, done, category_id: categoryId }: TodoRow): Todo {
  return { id, title, done, categoryId };
}
