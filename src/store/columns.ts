import type { Replacement } from './todo.ts';

/** What a write sets: the members of a todo and their columns. */
export const COLUMNS = [
  ['title', 'title'],
  ['done', 'done'],
  ['categoryId', 'category_id'],
] as const satisfies readonly (readonly [member: keyof Replacement, column: string])[];

/** The same columns, for a list in SQL. */
export const COLUMN_NAMES = COLUMNS.map(([, column]) => column);

/** In the order of `COLUMNS`. */
export function valuesOf(todo: Replacement) {
  return COLUMNS.map(([member]) => todo[member]);
}
