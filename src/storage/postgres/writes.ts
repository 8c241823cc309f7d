import type { QueryConfig } from 'pg';
import { MEMBERS, type TodoMembers, valuesOf } from '../../shared-list/members.ts';
import { isCategoryMissing } from './error.ts';
import { COLUMNS, parametersFrom } from './row.ts';
import { sharing } from './sharing.ts';
import type { StatementPool } from './statement-pool.ts';

const ADD = `INSERT INTO todos (${COLUMNS}) VALUES (${parametersFrom(1)}) RETURNING id`;

// Each takes the id, and the `xmin` that was read or null. A missing row violates no foreign key: the todo is missing
// before its category is (contract Endpoints A, rule 2).
const OF_ID = 'WHERE id = $1 AND ($2::xid IS NULL OR xmin = $2) RETURNING id';
const REPLACE = `UPDATE todos SET (${COLUMNS}) = ROW (${parametersFrom(3)}) ${OF_ID}`;
const REMOVE = `DELETE FROM todos ${OF_ID}`;

// A category that somebody holds keeps up the writes of others no longer than this.
const BOUNDED = "bounded AS MATERIALIZED (SELECT set_config('lock_timeout', '50ms', true))";

// A subquery, whose value the planner does not look at: it would plan short arrays anew each time.
const arrayFrom = (number: number, type: string): string => `(SELECT $${number}::${type}[])`;

/** The parameters of several todos, an array for each column, from number `first` on. */
const arraysFrom = (first: number): string =>
  MEMBERS.map(({ kind }, index) => arrayFrom(first + index, kind)).join(', ');

// Ids belong to todos by their order. Where a row is left out or an id does not ascend, the division undoes all. Not by an
// aggregate with an order beside one without: the server may sort once, for both.
const ADD_SEVERAL = `WITH ${BOUNDED}, added AS (
    INSERT INTO todos (${COLUMNS}) SELECT ${COLUMNS}
    FROM bounded, unnest(${arraysFrom(1)}) WITH ORDINALITY AS given (${COLUMNS}, place) ORDER BY place
    RETURNING id
  ), compared AS (SELECT id, lag(id) OVER () AS before FROM added)
  SELECT array_agg(id) AS ids,
    1 / (count(*) = cardinality($1) AND coalesce(bool_and(id > before), true))::integer AS in_order
  FROM compared`;

// The ids are named twice: a plan of before the first statistics would read the whole table.
const GIVEN = `todos.id = ANY (${arrayFrom(1, 'integer')}::integer[])`;

// A row that somebody holds is passed over, so that no two statements wait for each other.
const free = (lock: string): string =>
  `WITH ${BOUNDED}, free AS MATERIALIZED (SELECT id FROM todos WHERE ${GIVEN} FOR ${lock} SKIP LOCKED)`;

/** The rows to change, by the parameters of ids, of versions, and of these further ones. */
const changesOf = (parameters = '', columns = ''): string =>
  `bounded, free JOIN unnest(${arrayFrom(1, 'integer')}, ${arrayFrom(2, 'xid')}${parameters})
    AS given (given_id, version${columns}) ON free.id = given_id
  WHERE ${GIVEN} AND todos.id = free.id AND (version = '0' OR xmin = version) RETURNING todos.id`;

const REPLACE_SEVERAL = `${free('NO KEY UPDATE')}
    UPDATE todos SET (${COLUMNS}) = ROW (${MEMBERS.map(({ column }) => `given.${column}`).join(', ')})
    FROM ${changesOf(`, ${arraysFrom(3)}`, `, ${COLUMNS}`)}`;
const REMOVE_SEVERAL = `${free('UPDATE')} DELETE FROM todos USING ${changesOf()}`;

/** The id of a todo, the `xmin` that it must have or null, and what replaces it, if anything. */
type Change = readonly [id: number, version: string | null, todo?: TodoMembers];

/**
 * The writes of todos. Each is committed by itself, or with others of the same turn of the event loop.
 *
 * @param withinMs The time to send a write, its wait for a connection included.
 */
export function writesOf(database: StatementPool, withinMs: number) {
  /** Categories that have taken a todo. A write that names another one is sent alone: it cannot undo those of others. */
  const known = new Set<number>();

  /** The row of a write by itself, if it made or changed one. */
  async function one(query: QueryConfig, sentBy: number, todo?: TodoMembers) {
    try {
      const [row] = await database.write<{ readonly id: number }>(query, sentBy);
      if (todo !== undefined && row !== undefined) known.add(todo.categoryId);
      return row;
    } catch (error) {
      if (todo !== undefined && isCategoryMissing(error)) known.delete(todo.categoryId);
      throw error;
    }
  }

  const common = { withinMs, counts: () => database.counts() };

  const add = sharing<TodoMembers, number | undefined>({
    ...common,
    mayShare: ({ categoryId }) => known.has(categoryId),
    subjectOf: (todo) => todo,
    alone: async (todo, sentBy) =>
      (await one({ name: 'add', text: ADD, values: valuesOf(todo) }, sentBy, todo))?.id,
    async together(todos, ...when) {
      const query = { name: 'add-several', text: ADD_SEVERAL, values: arraysOf(todos) };
      const [added] = await database.write<{ readonly ids: readonly number[] }>(query, ...when);
      return added?.ids ?? [];
    },
  });

  /** A change by its two statements: whether it was made. */
  const changing = (name: string, text: string, textOfSeveral: string) =>
    sharing<Change, boolean>({
      ...common,
      mayShare: ([, , todo]) => todo === undefined || known.has(todo.categoryId),
      subjectOf: ([id]) => id,
      async alone([id, version, todo], sentBy) {
        const values = [id, version, ...(todo === undefined ? [] : valuesOf(todo))];
        return (await one({ name, text, values }, sentBy, todo)) !== undefined;
      },
      async together(changes, ...when) {
        const ids = changes.map(([id]) => id);
        // A null would need the server's `array_nulls`. No row has the xmin 0.
        const versions = changes.map(([, version]) => version ?? '0');
        const values = [ids, versions, ...arraysOf(changes.flatMap(([, , todo]) => todo ?? []))];
        const query = { name: `${name}-several`, text: textOfSeveral, values };
        const rows = await database.write<{ readonly id: number }>(query, ...when);
        const changed = new Set(rows.map(({ id }) => id));
        return ids.map((id) => changed.has(id) || undefined);
      },
    });

  return {
    /** The id of a new todo; undefined where a trigger leaves it out. */
    add,
    replace: changing('replace', REPLACE, REPLACE_SEVERAL),
    remove: changing('remove', REMOVE, REMOVE_SEVERAL),
  };
}

/** The values of several todos, an array for each column; of none, nothing. */
function arraysOf(todos: readonly TodoMembers[]): unknown[] {
  const rows = todos.map(valuesOf);
  return rows.length === 0 ? [] : MEMBERS.map((_, column) => rows.map((values) => values[column]));
}
