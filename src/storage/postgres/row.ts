import { COLUMN_NAMES, MEMBERS } from '../../todos/todo.ts';

/**
 * What a query selects so that its rows are todos: also before anybody has noticed that a column has another type, of which
 * the driver would make a text. The kinds of members are types of PostgreSQL.
 */
export const SELECTED = [
  'todos.id',
  ...MEMBERS.map(({ name, column, kind }) => `todos.${column}::${kind} AS "${name}"`),
].join(', ');

/** What a write sets. */
export const COLUMNS = COLUMN_NAMES.join(', ');

/** The parameters for them, `valuesOf` a todo, from number `first` on. */
export const parametersFrom = (first: number): string =>
  COLUMN_NAMES.map((_, index) => `$${first + index}`).join(', ');
