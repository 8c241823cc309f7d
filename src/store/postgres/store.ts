import { setImmediate as turn } from 'node:timers/promises';
import type { QueryConfig } from 'pg';
import { admitsWrite, type Preconditions } from '../entity-tag.ts';
import type { CreateOutcome, TodoStore } from '../store.ts';
import {
  type NewTodo,
  type Replacement,
  represent,
  type Todo,
  type TodoRepresentation,
  valuesOf,
} from '../todo.ts';
import { addingOnce } from './add-once.ts';
import type { Database } from './database.ts';
import { FOREIGN_KEY_VIOLATION, hasCode } from './error.ts';
import type { SchemaHealth } from './health.ts';
import type { PostgresList } from './list.ts';
import { ADD, REPLACE, SELECTED } from './row.ts';

const FIND = `SELECT ${SELECTED} FROM todos WHERE id = ANY($1)`;
const REMOVE = 'DELETE FROM todos WHERE id = $1 AND ($2::xid IS NULL OR xmin = $2) RETURNING id';

// What preconditions are decided by. `xmin` tells the row from what a later write makes of it.
const READ_ROW = `SELECT ${SELECTED}, xmin::text AS version,
    $2::integer IS NULL OR EXISTS (SELECT FROM categories WHERE id = $2) AS category_found
  FROM todos WHERE id = $1`;

/** What a store is made of. */
interface Resources {
  readonly database: Database;
  readonly list: PostgresList;
  readonly health: SchemaHealth;
}

/**
 * The list in a PostgreSQL database, which other instances change as well. One statement is one round trip.
 *
 * @param dispose Ends what the store is made of.
 */
export function postgresStore(
  { database, list, health }: Resources,
  dispose: () => Promise<void>,
): TodoStore {
  const findOne = findTogether(database);
  const addOnce = addingOnce(database);
  const size = sizeOf(database);

  async function add(todo: NewTodo): Promise<CreateOutcome> {
    try {
      const values = [...valuesOf({ ...todo, done: false })];
      const [added] = await database.write<{ id: number }>({ name: 'add', text: ADD, values });
      if (added === undefined) throw new Error('INSERT returned no id');
      return represent({ id: added.id, done: false, ...todo });
    } catch (error) {
      if (hasCode(error, FOREIGN_KEY_VIOLATION)) return 'category-missing';
      throw error;
    }
  }

  async function replace(id: number, replacement: Replacement, preconditions: Preconditions) {
    const write = (version: string | null) =>
      change({ name: 'replace', text: REPLACE, values: [id, version, ...valuesOf(replacement)] });
    try {
      if (asksNothing(preconditions)) return (await write(null)) ? 'replaced' : 'todo-missing';
      // When another writer was faster, read again: its todo is the one to compare with.
      for (;;) {
        const row = await readRow(id, replacement.categoryId);
        if (row === undefined) return 'todo-missing';
        if (!row.category_found) return 'category-missing';
        if (!admitsRow(preconditions, row)) return 'precondition-failed';
        if (await write(row.version)) return 'replaced';
      }
    } catch (error) {
      if (hasCode(error, FOREIGN_KEY_VIOLATION)) return 'category-missing';
      throw error;
    }
  }

  async function remove(id: number, preconditions: Preconditions) {
    const write = (version: string | null) => change({ name: 'remove', text: REMOVE, values: [id, version] });
    if (asksNothing(preconditions)) return (await write(null)) ? 'removed' : 'todo-missing';
    for (;;) {
      const row = await readRow(id, null);
      if (row === undefined) return 'todo-missing';
      if (!admitsRow(preconditions, row)) return 'precondition-failed';
      if (await write(row.version)) return 'removed';
    }
  }

  async function readRow(id: number, categoryId: number | null): Promise<Row | undefined> {
    const [row] = await database.read<Row>({ name: 'row', text: READ_ROW, values: [id, categoryId] });
    return row;
  }

  /** Whether a row was changed. */
  async function change(query: QueryConfig): Promise<boolean> {
    return (await database.write(query)).length > 0;
  }

  return {
    list: async (wish = { gzip: false }) => (await health.watch(list.current())).select(wish),
    find: (id) => health.watch(findOne(id)),
    add: (todo, once) => health.watch(once === undefined ? add(todo) : addOnce(todo, once)),
    replace: (id, replacement, preconditions = {}) => health.watch(replace(id, replacement, preconditions)),
    remove: (id, preconditions = {}) => health.watch(remove(id, preconditions)),
    async check() {
      await database.check();
      await health.check();
    },
    sizes: {
      get database() {
        const bytes = size();
        return bytes === undefined ? [] : [{ bytes }];
      },
      get list() {
        return list.bytes;
      },
    },
    connections: () => database.counts(),
    [Symbol.asyncDispose]: dispose,
  };
}

interface Row extends Todo {
  readonly version: string;
  readonly category_found: boolean;
}

/** `If-Match: *` asks nothing of a todo that is there. */
function asksNothing({ ifMatch, ifNoneMatch }: Preconditions): boolean {
  return (ifMatch === undefined || ifMatch === '*') && ifNoneMatch === undefined;
}

function admitsRow(preconditions: Preconditions, row: Todo): boolean {
  return admitsWrite(preconditions, represent(row).etag);
}

/**
 * Finds todos by id. Those that are asked for in one turn of the event loop come with one statement: it costs the
 * server and this process more than a row. Who asks later waits for a connection of their own, and no longer
 * than others do.
 */
function findTogether(database: Database): (id: number) => Promise<TodoRepresentation | undefined> {
  let gathered: number[] = [];
  let found: Promise<ReadonlyMap<number, TodoRepresentation>>;

  async function ask(): Promise<ReadonlyMap<number, TodoRepresentation>> {
    await turn();
    const ids = gathered;
    gathered = [];
    const rows = await database.read<Todo>({ name: 'find', text: FIND, values: [`{${ids.join(',')}}`] });
    return new Map(rows.map((todo) => [todo.id, represent(todo)]));
  }

  return (id) => {
    if (gathered.length === 0) found = ask();
    gathered.push(id);
    return found.then((todos) => todos.get(id));
  };
}

/** Milliseconds for which a size is good enough. */
const SIZE_INTERVAL_MS = 60_000;

const SIZE = `SELECT sum(pg_total_relation_size(name))::float8 AS bytes FROM unnest(ARRAY['todos', 'categories',
  'todo_tombstones', 'todo_purged', 'idempotency_keys', 'todo_schema']::regclass[]) AS name`;

/**
 * The bytes of the service's tables with their indexes, as the server said them last; undefined while that is not known. A
 * call whose answer is older than a minute asks anew, and does not wait.
 *
 * @param now Milliseconds that only grow.
 */
export function sizeOf(database: Database, now = () => performance.now()): () => number | undefined {
  let bytes: number | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;

  async function ask(): Promise<void> {
    const rows = await database.read<{ bytes: number }>({ text: SIZE }).catch(() => []);
    bytes = rows[0]?.bytes;
  }

  return () => {
    if (now() - askedAt >= SIZE_INTERVAL_MS) {
      askedAt = now();
      void ask();
    }
    return bytes;
  };
}
