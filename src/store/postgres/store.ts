import { setImmediate as turn } from 'node:timers/promises';
import type { QueryConfig } from 'pg';
import { admitsWrite, type Preconditions } from '../entity-tag.ts';
import type { ListRepresentation, ListWish } from '../list/version.ts';
import { represent, type TodoRepresentation } from '../representation.ts';
import type { CreateOutcome, Once, PoolCounts, StoreSizes, TodoStore } from '../store.ts';
import { type NewTodo, type Replacement, type Todo, valuesOf } from '../todo.ts';
import { addingOnce } from './add-once.ts';
import type { Database } from './database.ts';
import { isForeignKeyViolation } from './error.ts';
import type { SchemaHealth } from './health.ts';
import type { PostgresList } from './list.ts';
import { ADD, REPLACE, SELECTED } from './row.ts';
import { sizeOf } from './size.ts';

const FIND = `SELECT ${SELECTED} FROM todos WHERE id = ANY($1)`;
const REMOVE = 'DELETE FROM todos WHERE id = $1 AND ($2::xid IS NULL OR xmin = $2) RETURNING id';

// What preconditions are decided by. `xmin` tells the row from what a later write makes of it.
const READ_ROW = `SELECT ${SELECTED}, xmin::text AS version,
    $2::integer IS NULL OR EXISTS (SELECT FROM categories WHERE id = $2) AS category_found
  FROM todos WHERE id = $1`;

/** The list in a PostgreSQL database, which other instances change as well. One statement is one round trip. */
export class PostgresTodoStore implements TodoStore {
  readonly #database: Database;
  readonly #find: ReturnType<typeof findTogether>;
  readonly #list: PostgresList;
  readonly #addOnce: ReturnType<typeof addingOnce>;
  readonly #size: ReturnType<typeof sizeOf>;
  readonly #health: SchemaHealth;
  readonly #owned: AsyncDisposable;

  /** @param owned What ends with the store, its pool included. */
  constructor(database: Database, list: PostgresList, health: SchemaHealth, owned: AsyncDisposable) {
    this.#database = database;
    this.#health = health;
    this.#find = findTogether(database);
    this.#list = list;
    this.#addOnce = addingOnce(database);
    this.#size = sizeOf(database);
    this.#owned = owned;
  }

  async list(wish: ListWish = { gzip: false }): Promise<ListRepresentation> {
    const version = await this.#health.watch(this.#list.current());
    return version.select(wish);
  }

  find(id: number): Promise<TodoRepresentation | undefined> {
    return this.#health.watch(this.#find(id));
  }

  add(todo: NewTodo, once?: Once): Promise<CreateOutcome> {
    return this.#health.watch(once === undefined ? this.#add(todo) : this.#addOnce(todo, once));
  }

  async #add(todo: NewTodo): Promise<CreateOutcome> {
    try {
      const values = [...valuesOf({ ...todo, done: false })];
      const [added] = await this.#database.write<{ id: number }>({ name: 'add', text: ADD, values });
      if (added === undefined) throw new Error('INSERT returned no id');
      return represent({ id: added.id, done: false, ...todo });
    } catch (error) {
      if (isForeignKeyViolation(error)) return 'category-missing';
      throw error;
    }
  }

  replace(id: number, replacement: Replacement, preconditions: Preconditions = {}) {
    return this.#health.watch(this.#replace(id, replacement, preconditions));
  }

  async #replace(id: number, replacement: Replacement, preconditions: Preconditions) {
    const write = (version: string | null) =>
      this.#change({ name: 'replace', text: REPLACE, values: [id, version, ...valuesOf(replacement)] });
    try {
      if (asksNothing(preconditions)) return (await write(null)) ? 'replaced' : 'todo-missing';
      // When another writer was faster, read again: its todo is the one to compare with.
      for (;;) {
        const row = await this.#readRow(id, replacement.categoryId);
        if (row === undefined) return 'todo-missing';
        if (!row.category_found) return 'category-missing';
        if (!admitsRow(preconditions, row)) return 'precondition-failed';
        if (await write(row.version)) return 'replaced';
      }
    } catch (error) {
      if (isForeignKeyViolation(error)) return 'category-missing';
      throw error;
    }
  }

  remove(id: number, preconditions: Preconditions = {}) {
    return this.#health.watch(this.#remove(id, preconditions));
  }

  async #remove(id: number, preconditions: Preconditions) {
    const write = (version: string | null) =>
      this.#change({ name: 'remove', text: REMOVE, values: [id, version] });
    if (asksNothing(preconditions)) return (await write(null)) ? 'removed' : 'todo-missing';
    for (;;) {
      const row = await this.#readRow(id, null);
      if (row === undefined) return 'todo-missing';
      if (!admitsRow(preconditions, row)) return 'precondition-failed';
      if (await write(row.version)) return 'removed';
    }
  }

  async check(): Promise<void> {
    await this.#database.check();
    await this.#health.check();
  }

  sizes(): StoreSizes {
    const bytes = this.#size();
    return { database: bytes === undefined ? [] : [{ bytes }], list: this.#list.bytes };
  }

  connections(): PoolCounts {
    return this.#database.counts();
  }

  async #readRow(id: number, categoryId: number | null): Promise<Row | undefined> {
    const [row] = await this.#database.read<Row>({ name: 'row', text: READ_ROW, values: [id, categoryId] });
    return row;
  }

  /** Whether a row was changed. */
  async #change(query: QueryConfig): Promise<boolean> {
    return (await this.#database.write(query)).length > 0;
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#owned[Symbol.asyncDispose]();
  }
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
