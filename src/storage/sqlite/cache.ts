import { RecentCache } from '../../lib/recent-cache.ts';
import type { TodoRepresentation } from '../../todos/todo.ts';
import type { Changed, UnderWay } from './writer.ts';

/** Bytes that an entry costs beside its text: its objects, its tag, its place in the map. Rounded up. */
const OVERHEAD = 256;

/** A JavaScript string takes at most two bytes for a UTF-16 unit. */
const weigh = (_id: number, { json }: TodoRepresentation): number => OVERHEAD + 2 * json.length;

/**
 * Todos that were read and that this process may trust without asking SQLite, because the writer tells of every change, of
 * another program's within 100 ms: a read of SQLite costs half of a request. What is written is not kept: most of it
 * nobody reads soon, and keeping it costs as much. Of ids without a todo nothing is kept: whoever asks for many would push
 * out the todos. From the moment a batch is sent until it is done, its changes may be visible to some and not to others:
 * what it may change is asked of SQLite meanwhile.
 */
export class TodoCache {
  readonly #todos: RecentCache<number, TodoRepresentation>;
  readonly #underWay: UnderWay['ids'];

  /** @param limit Bytes; 0 switches the cache off. @param underWay of the todos that a batch may change now. */
  constructor(limit: number, underWay: UnderWay['ids']) {
    this.#underWay = underWay;
    this.#todos = new RecentCache(limit, weigh);
  }

  /** What its todos take, as `limit` counts it. */
  get bytes(): number {
    return this.#todos.weight;
  }

  /** Undefined when SQLite has to be asked. */
  get(id: number): TodoRepresentation | undefined {
    return this.#underWay.has(id) ? undefined : this.#todos.get(id);
  }

  /** What SQLite said. What a batch changes meanwhile is forgotten at its end. */
  set(todo: TodoRepresentation): void {
    this.#todos.set(todo.id, todo);
  }

  forget(changed: Changed): void {
    if (changed === 'all') this.#todos.clear();
    else for (const id of changed) this.#todos.delete(id);
  }
}
