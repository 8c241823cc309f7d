import { COLUMN_NAMES, MEMBERS } from '../../shared-list/members.ts';

/**
 * The columns of a query whose rows are todos. The casts keep the types even before a changed column is noticed: the
 * driver would read such a column as a text. The kinds of members are types of PostgreSQL.
 */
export const SELECTED = [
  'todos.id',
  ...MEMBERS.map(({ name, column, kind }) => `todos.${column}::${kind} AS "${name}"`),
].join(', ');

export const COLUMNS = COLUMN_NAMES.join(', ');

/** The parameters for them, `valuesOf` a todo, from number `first` on. */
export const parametersFrom = (first: number): string =>
  COLUMN_NAMES.map((_, index) => `$${first + index}`).join(', ');
