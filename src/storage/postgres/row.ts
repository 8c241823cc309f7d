import { COLUMN_NAMES, MEMBERS } from '../../todos/todo.ts';

/**
 * The columns of a query whose rows are todos. The casts hold also where a column got another type unnoticed, which the
 * driver would read as a text. The kinds of members are types of PostgreSQL.
 */
export const SELECTED = [
  'todos.id',
  ...MEMBERS.map(({ name, column, kind }) => `todos.${column}::${kind} AS "${name}"`),
].join(', ');

/** The columns that a write sets. */
export const COLUMNS = COLUMN_NAMES.join(', ');

/** The parameters for them, `valuesOf` a todo, from number `first` on. */
export const parametersFrom = (first: number): string =>
  COLUMN_NAMES.map((_, index) => `$${first + index}`).join(', ');
