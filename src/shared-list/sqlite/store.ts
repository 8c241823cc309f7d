import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Preconditions } from '../entity-tag.ts';
import type { ListRepresentation, ListWish } from '../list/version.ts';
import { represent, type TodoRepresentation } from '../representation.ts';
import { type CreateOutcome, IdsExhausted, type Once, type TodoStore } from '../store.ts';
import type { NewTodo, Replacement } from '../todo.ts';
import type { Known, TodoCache } from './cache.ts';
import { errorOf, failureBy } from './failure.ts';
import type { FileHealth } from './health.ts';
import type { SqliteList } from './list.ts';
import { prepareFind } from './row.ts';
import type { Writer } from './writer.ts';

const HIGHEST_ID = "SELECT seq FROM sqlite_sequence WHERE name = 'todos'";

/** What a store is made of. */
export interface StoreParts {
  /** Reads one todo. */
  readonly reader: DatabaseSync;
  readonly cache: TodoCache;
  readonly list: SqliteList;
  readonly writer: Writer;
  readonly health: FileHealth;
}

/** The list in one SQLite file: reads on this thread, writes on another. */
export class SqliteTodoStore implements TodoStore {
  readonly #find: ReturnType<typeof prepareFind>;
  readonly #highestId: StatementSync;
  readonly #cache: TodoCache;
  readonly #list: SqliteList;
  readonly #writer: Writer;
  readonly #health: FileHealth;
  readonly #owned: AsyncDisposable;

  /** @param owned What ends with the store, its parts included. */
  constructor({ reader, cache, list, writer, health }: StoreParts, owned: AsyncDisposable) {
    this.#find = prepareFind(reader);
    this.#highestId = reader.prepare(HIGHEST_ID);
    this.#cache = cache;
    this.#list = list;
    this.#writer = writer;
    this.#health = health;
    this.#owned = owned;
  }

  list(wish: ListWish = { gzip: false }): ListRepresentation | Promise<ListRepresentation> {
    this.#assertReadable();
    const version = this.#list.current();
    return version instanceof Promise ? version.then((built) => built.select(wish)) : version.select(wish);
  }

  find(id: number): TodoRepresentation | undefined {
    this.#assertReadable();
    const known = this.#cache.get(id) ?? this.#read(() => this.#look(id));
    return known === 'missing' ? undefined : known;
  }

  /** Writes have one order, so nobody waits for a key here but for their turn. */
  async add(todo: NewTodo, once?: Once): Promise<CreateOutcome> {
    const outcome = await this.#writer.write({ kind: 'add', once, ...todo });
    if (outcome === 'ids-exhausted') throw new IdsExhausted();
    if (typeof outcome === 'string') return outcome;
    if (typeof outcome === 'object')
      return { repeated: represent({ id: outcome.repeated, done: false, ...todo }) };
    return represent({ id: outcome, done: false, ...todo });
  }

  replace(id: number, replacement: Replacement, preconditions: Preconditions = {}) {
    return this.#writer.write({ kind: 'replace', id, preconditions, ...replacement });
  }

  remove(id: number, preconditions: Preconditions = {}) {
    return this.#writer.write({ kind: 'remove', id, preconditions });
  }

  async check(): Promise<void> {
    const fault = this.#health.writeFault;
    if (fault !== undefined) throw errorOf(fault);
    this.#read(() => this.#highestId.get());
    await this.#writer.probe();
  }

  #assertReadable(): void {
    const fault = this.#health.readFault;
    if (fault !== undefined) throw errorOf(fault);
  }

  #read<T>(statement: () => T): T {
    try {
      return statement();
    } catch (error) {
      const failure = failureBy(error);
      this.#health.note(failure);
      throw failure.failure === 'error' ? error : errorOf(failure, error);
    }
  }

  #look(id: number): Known {
    if (this.#cache.wantsHighest) this.#cache.setHighest(Number(this.#highestId.get()?.seq ?? 0));
    const todo = this.#find(id);
    const known = todo === undefined ? 'missing' : represent(todo);
    this.#cache.set(id, known);
    return known;
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#owned[Symbol.asyncDispose]();
  }
}
