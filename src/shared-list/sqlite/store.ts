import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { entityTag, type Preconditions } from '../entity-tag.ts';
import { type ListRepresentation, represent, type TodoRepresentation } from '../representation.ts';
import { IdsExhausted, StoreUnavailable, type TodoStore } from '../store.ts';
import type { NewTodo, Replacement } from '../todo.ts';
import { isMachineFault, messageOf } from './error.ts';
import { FIND, LIST, todoOf } from './row.ts';
import type { Writer } from './writer.ts';

/** The list in one SQLite file: reads on this thread, writes on another. */
export class SqliteTodoStore implements TodoStore {
  readonly #list: StatementSync;
  readonly #find: StatementSync;
  readonly #writer: Writer;
  readonly #parts: AsyncDisposable;

  /** @param parts What else ends with the store, `reader` and `writer` included. */
  constructor(reader: DatabaseSync, writer: Writer, parts: AsyncDisposable) {
    this.#list = reader.prepare(LIST);
    this.#find = reader.prepare(FIND);
    this.#writer = writer;
    this.#parts = parts;
  }

  async list(): Promise<ListRepresentation> {
    const bytes = Buffer.from(JSON.stringify(read(() => this.#list.all()).map(todoOf)));
    return { bytes, etag: entityTag(bytes) };
  }

  find(id: number): TodoRepresentation | undefined {
    const row = read(() => this.#find.get(id));
    return row === undefined ? undefined : represent(todoOf(row));
  }

  async add(todo: NewTodo): Promise<TodoRepresentation | 'category-missing'> {
    const outcome = await this.#writer.write({ kind: 'add', ...todo });
    if (outcome === 'ids-exhausted') throw new IdsExhausted();
    return outcome === 'category-missing' ? outcome : represent({ id: outcome, done: false, ...todo });
  }

  replace(id: number, replacement: Replacement, preconditions: Preconditions = {}) {
    return this.#writer.write({ kind: 'replace', id, preconditions, ...replacement });
  }

  remove(id: number, preconditions: Preconditions = {}) {
    return this.#writer.write({ kind: 'remove', id, preconditions });
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#parts[Symbol.asyncDispose]();
  }
}

function read<T>(statement: () => T): T {
  try {
    return statement();
  } catch (error) {
    throw isMachineFault(error) ? new StoreUnavailable(messageOf(error), { cause: error }) : error;
  }
}
