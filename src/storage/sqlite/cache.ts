import { LRUCache } from 'lru-cache';
import type { TodoRepresentation } from '../../todos/todo.ts';
import type { Changed, UnderWay } from './writer.ts';

/** Bytes that an entry costs beside its text: its objects, its tag, its place in the cache. Rounded up. */
const OVERHEAD = 256;

/** A JavaScript string takes at most two bytes for a UTF-16 unit. */
const weigh = ({ json }: TodoRepresentation): number => OVERHEAD + 2 * json.length;

/** @param limit Bytes. 0 means no limit to `lru-cache`; nothing weighs only 1. */
const cacheOf = (limit: number) =>
  new LRUCache<number, TodoRepresentation>({ maxSize: Math.max(limit, 1), sizeCalculation: weigh });

/**
 * Todos that were read and that this process may trust without asking SQLite, because the writer tells of every change, of
 * another program's within 100 ms: a read of SQLite costs half of a request. What is written is not kept: most of it
 * nobody reads soon, and keeping it costs as much. Of ids without a todo nothing is kept: whoever asks for many would push
 * out the todos. From the moment a batch is sent until it is done, its changes may be visible to some and not to others:
 * what it may change is asked of SQLite meanwhile: `src/storage/sqlite/cache.test.ts`.
 */
export class TodoCache {
  readonly #limit: number;
  readonly #underWay: UnderWay['ids'];
  #todos: LRUCache<number, TodoRepresentation>;

  /** @param limit Bytes; 0 switches the cache off. @param underWay of the todos that a batch may change now. */
  constructor(limit: number, underWay: UnderWay['ids']) {
    this.#limit = limit;
    this.#underWay = underWay;
    this.#todos = cacheOf(limit);
  }

  /** What its todos take, as `limit` counts it. */
  get bytes(): number {
    return this.#todos.calculatedSize;
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
    // A new one: to clear 170,000 todos one by one takes 15 ms or more.
    if (changed === 'all') this.#todos = cacheOf(this.#limit);
    else for (const id of changed) this.#todos.delete(id);
  }
}
