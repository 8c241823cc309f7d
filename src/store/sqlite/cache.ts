import { RecentCache } from '../../recent-cache.ts';
import type { TodoRepresentation } from '../todo.ts';
import type { Changed, UnderWay } from './writer.ts';

/** What is known of a todo. */
type Known = TodoRepresentation | 'missing';

/** Bytes that an entry costs beside its text: its objects, its tag, its place in the map. Rounded up. */
const OVERHEAD = 256;

/** A JavaScript string takes at most two bytes for a UTF-16 unit. */
const weigh = (_id: number, known: Known): number =>
  OVERHEAD + (known === 'missing' ? 0 : 2 * known.json.length);

/**
 * Todos that were read and that this process may trust without asking SQLite, because the writer tells of every change, of
 * another program's within 100 ms: a read of SQLite costs half of a request. What is written is not kept: most of it
 * nobody reads soon, and keeping it costs as much. From the moment a batch is sent until it is done, its changes may be
 * visible to some and not to others: the todos that it may change are asked of SQLite meanwhile.
 */
export class TodoCache {
  readonly #readHighest: (() => number) | undefined;
  readonly #todos: RecentCache<number, Known>;
  readonly #underWay: UnderWay;
  /** No higher id was given out; undefined while that is not known. */
  #highest: number | undefined;

  /**
   * @param limit Bytes; 0 switches the cache off.
   * @param readHighest Asks SQLite for the highest id that was given out, 0 before the first.
   */
  constructor(limit: number, underWay: UnderWay, readHighest: () => number) {
    this.#underWay = underWay;
    this.#readHighest = limit > 0 ? readHighest : undefined;
    this.#todos = new RecentCache(limit, weigh);
  }

  /** What its todos take, as `limit` counts it. */
  get bytes(): number {
    return this.#todos.weight;
  }

  /** Undefined when SQLite has to be asked. */
  get(id: number): Known | undefined {
    if (this.#underWay.ids.has(id)) return undefined;
    const known = this.#todos.get(id);
    if (known !== undefined) return known;
    const highest = this.#underWay.adds ? undefined : this.#highest;
    return highest !== undefined && (id > highest || id < 1) ? 'missing' : undefined;
  }

  /** What SQLite said of a todo. */
  set(id: number, known: Known): void {
    this.#highest ??= this.#readHighest?.();
    if (!this.#underWay.ids.has(id)) this.#todos.set(id, known);
  }

  forget(changed: Changed): void {
    if (changed === 'all') {
      this.#todos.clear();
      this.#highest = undefined;
      return;
    }
    for (const id of changed) {
      // A read before the commit may have remembered a new id as missing.
      this.#todos.delete(id);
      if (this.#highest !== undefined && id > this.#highest) this.#highest = id;
    }
  }
}
