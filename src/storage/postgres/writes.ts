import type { QueryConfig, QueryResultRow } from 'pg';
import { MEMBERS, type TodoMembers, valuesOf } from '../../shared-list/members.ts';
import { isCategoryMissing } from './error.ts';
import { COLUMNS, parametersFrom } from './row.ts';
import { sharing } from './sharing.ts';
import type { StatementPool } from './statement-pool.ts';

const ADD = `INSERT INTO todos (${COLUMNS}) VALUES (${parametersFrom(1)}) RETURNING id`;

// Each takes the id, and the `xmin` that was read or null. A missing row violates no foreign key: the todo is missing
// before its category is (contract Endpoints A, rule 2).
const REPLACE = `UPDATE todos SET (${COLUMNS}) = ROW (${parametersFrom(3)})
  WHERE id = $1 AND ($2::xid IS NULL OR xmin = $2) RETURNING id`;
const REMOVE = 'DELETE FROM todos WHERE id = $1 AND ($2::xid IS NULL OR xmin = $2) RETURNING id';

// A category that somebody holds keeps up the writes of others no longer than this.
const BOUNDED = "bounded AS MATERIALIZED (SELECT set_config('lock_timeout', '50ms', true))";

/** The parameters of several todos, an array for each column, from number `first` on. */
const arraysFrom = (first: number): string =>
  MEMBERS.map(({ kind }, index) => `$${first + index}::${kind}[]`).join(', ');

// Ids belong to todos by their order. Where a row is left out or an id does not ascend, the division undoes all. Not by an
// aggregate with an order beside one without: the server may sort once, for both.
const ADD_SEVERAL = `WITH ${BOUNDED}, added AS (
    INSERT INTO todos (${COLUMNS}) SELECT ${COLUMNS}
    FROM bounded, unnest(${arraysFrom(1)}) WITH ORDINALITY AS given (${COLUMNS}, place) ORDER BY place
    RETURNING id
  ), compared AS (
    SELECT id, lag(id) OVER () AS before FROM added
  )
  SELECT array_agg(id) AS ids,
    1 / (count(*) = cardinality($1) AND coalesce(bool_and(id > before), true))::integer AS in_order
  FROM compared`;

// A row that somebody holds is passed over, so that no two statements wait for each other. The ids are named twice: a plan of
// before the first statistics would read the whole table.
const REPLACE_SEVERAL = `WITH ${BOUNDED}, free AS MATERIALIZED (
    SELECT id FROM todos WHERE id = ANY ($1::integer[]) FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE todos SET (${COLUMNS}) = ROW (${MEMBERS.map(({ column }) => `given.${column}`).join(', ')})
  FROM bounded, free JOIN unnest($1::integer[], ${arraysFrom(2)}) AS given (given_id, ${COLUMNS}) ON free.id = given_id
  WHERE todos.id = ANY ($1::integer[]) AND todos.id = free.id RETURNING todos.id`;
const REMOVE_SEVERAL = `WITH ${BOUNDED}, free AS MATERIALIZED (
    SELECT id FROM todos WHERE id = ANY ($1::integer[]) FOR UPDATE SKIP LOCKED
  )
  DELETE FROM todos USING bounded, free WHERE todos.id = ANY ($1::integer[]) AND todos.id = free.id RETURNING todos.id`;

/** Categories that are known to be there, at most. */
const MOST_CATEGORIES = 10_000;

/** Takes the id of a todo, and the `xmin` that it must have, if any. Whether a row was changed. */
type Change<Values extends readonly unknown[]> = (
  id: number,
  version: string | null,
  ...values: Values
) => Promise<boolean>;

/** The writes of todos. Each is committed by itself, or with others of the same turn of the event loop. */
export interface Writes {
  /** The id of a new todo; undefined where a trigger leaves it out. */
  readonly add: (todo: TodoMembers) => Promise<number | undefined>;
  readonly replace: Change<[todo: TodoMembers]>;
  readonly remove: Change<[]>;
}

/** @param withinMs The time for a write, its wait for a connection included. */
export function writesOf(database: StatementPool, withinMs: number): Writes {
  /** Categories that have taken a todo. A write that names another one is sent alone: it cannot undo those of others. */
  const categories = new Set<number>();

  const isKnown = (todo: TodoMembers) => categories.has(todo.categoryId);

  function keep(todo: TodoMembers | undefined): void {
    if (todo !== undefined && categories.size < MOST_CATEGORIES) categories.add(todo.categoryId);
  }

  async function several<Row extends QueryResultRow>(query: QueryConfig): Promise<readonly Row[]> {
    try {
      return await database.write<Row>(query);
    } catch (error) {
      if (isCategoryMissing(error)) categories.clear();
      throw error;
    }
  }

  const add = sharing<TodoMembers, number | undefined>(
    {
      async alone(todo, until) {
        const query = { name: 'add', text: ADD, values: valuesOf(todo) };
        const [added] = await database.write<{ readonly id: number }>(query, until);
        if (added !== undefined) keep(todo);
        return added?.id;
      },
      async together(todos) {
        const query = { name: 'add-several', text: ADD_SEVERAL, values: arraysOf(todos) };
        const [added] = await several<{ readonly ids: readonly number[] }>(query);
        return added?.ids ?? [];
      },
      mayShare: isKnown,
      subjectOf: (todo) => todo,
    },
    withinMs,
  );

  /** A change by its two statements. */
  function changing<Values extends readonly [todo?: TodoMembers]>(
    name: string,
    one: string,
    many: string,
  ): Change<Values> {
    type Wanted = readonly [id: number, ...Values];
    async function alone([id, todo]: Wanted, version: string | null, until?: number): Promise<boolean> {
      const values = [id, version, ...(todo === undefined ? [] : valuesOf(todo))];
      const isChanged = (await database.write({ name, text: one, values }, until)).length > 0;
      if (isChanged) keep(todo);
      return isChanged;
    }
    const share = sharing<Wanted, boolean>(
      {
        alone: (wanted, until) => alone(wanted, null, until),
        async together(wanted) {
          const ids = wanted.map(([id]) => id);
          const values = [`{${ids.join(',')}}`, ...arraysOf(wanted.flatMap(([, todo]) => todo ?? []))];
          const rows = await several<{ readonly id: number }>({
            name: `${name}-several`,
            text: many,
            values,
          });
          const changed = new Set(rows.map(({ id }) => id));
          return ids.map((id) => changed.has(id) || undefined);
        },
        mayShare: ([, todo]) => todo === undefined || isKnown(todo),
        subjectOf: ([id]) => id,
      },
      withinMs,
    );
    return (id, version, ...values) =>
      version === null ? share([id, ...values]) : alone([id, ...values], version);
  }

  return {
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
