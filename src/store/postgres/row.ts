import { COLUMN_NAMES, MEMBERS } from '../todo.ts';

/** What a query selects so that its rows are todos. */
export const SELECTED = [
  'todos.id',
  ...MEMBERS.map(({ name, column }) => `todos.${column} AS "${name}"`),
].join(', ');

const names = COLUMN_NAMES.join(', ');
const parametersFrom = (first: number): string =>
  COLUMN_NAMES.map((_, index) => `$${first + index}`).join(', ');

/** Takes `valuesOf` a todo. */
export const ADD = `INSERT INTO todos (${names}) VALUES (${parametersFrom(1)}) RETURNING id`;

/** As `ADD`, from parameter `first` on, one todo for each row of `source`. */
export const addFrom = (source: string, first: number): string =>
  `INSERT INTO todos (${names}) SELECT ${parametersFrom(first)} FROM ${source} RETURNING id`;

/** Takes the id, what `xmin` was or null, and `valuesOf` a todo. */
export const REPLACE = `UPDATE todos SET (${names}) = ROW (${parametersFrom(3)})
  WHERE id = $1 AND ($2::xid IS NULL OR xmin = $2) RETURNING id`;
