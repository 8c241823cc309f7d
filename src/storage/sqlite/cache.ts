import { LRUCache } from 'lru-cache';
import type { TodoRepresentation } from '../../shared-list/members.ts';
import type { Changed, UnderWay } from './writer.ts';

/** Bytes that an entry costs beside its text, rounded up: its objects, its tag, its place in the cache. */
const OVERHEAD = 256;

/** A JavaScript string takes at most two bytes for a UTF-16 unit. */
const weigh = ({ json }: TodoRepresentation): number => OVERHEAD + 2 * json.length;

/** @param limit Bytes. 0 means no limit to `lru-cache`; no entry weighs only 1. */
const cacheOf = (limit: number) =>
  new LRUCache<number, TodoRepresentation>({ maxSize: Math.max(limit, 1), sizeCalculation: weigh });

/**
 * Todos that were read and that this process may trust without asking SQLite: a read of SQLite costs half of a request.
 * The writer reports every change, another program's within 100 ms. Written todos are not kept: most are not read soon,
 * and keeping them costs as much. Missing ids are not kept: a client that asks for many would push out the todos. From
 * the sending of a batch to its end, some readers may see its changes and others not: SQLite is asked meanwhile for the
 * todos that it may change: `src/storage/sqlite/cache.test.ts`.
 *
 * @param limit Bytes; 0 switches the cache off.
 * @param underWay The todos that a batch may change now.
 */
export function openTodoCache(limit: number, underWay: UnderWay['ids']) {
  let todos = cacheOf(limit);
  return {
    get bytes() {
      return todos.calculatedSize;
    },

    /** Undefined when SQLite has to be asked. */
    get: (id: number) => (underWay.has(id) ? undefined : todos.get(id)),

    /** Keeps the todo that SQLite gave. A todo that a batch changes meanwhile is dropped at its end. */
    set: (todo: TodoRepresentation) => void todos.set(todo.id, todo),

    forget(changed: Changed): void {
      // A new cache: clearing 170,000 todos one by one takes 15 ms or more.
      if (changed === 'all') todos = cacheOf(limit);
      else for (const id of changed) todos.delete(id);
    },
  };
}
