import { setImmediate as turn } from 'node:timers/promises';
import { chunkOf, makeChunk, todosOf } from '../list/chunk.ts';
import { ListChunks } from '../list/chunks.ts';
import { singleFlight } from '../list/single-flight.ts';
import type { ListVersion } from '../list/version.ts';
import type { Todo } from '../todo.ts';
import {
  type ChangeRow,
  KEEP_TABLE,
  MOST_CHANGES,
  type Moment,
  PART_SIZE,
  PURGE,
  READ_CHANGES,
  READ_MOMENT,
  READ_PART,
} from './changes.ts';
import type { Ask, Database } from './database.ts';

/** Milliseconds after which a list that nobody asked for is read anew. Tombstones stay for a day. */
const LONGEST_KEPT_MS = 3_600_000;

const PURGE_INTERVAL_MS = 3_600_000;

/** How many chunks are changed before other requests have their turn: a few milliseconds. */
const CHUNKS_A_TURN = 16;

interface Kept extends Moment {
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * The list. Each call reads what changed since the last one, whoever changed it: another instance, or `psql`. What
 * else the server does costs nothing.
 */
export class PostgresList implements Disposable {
  readonly #quick: Database;
  readonly #patient: Database;
  readonly #now: () => number;
  readonly #purging: NodeJS.Timeout;
  readonly #chunks = new ListChunks();
  /** The moment whose list the chunks are, when they are one that can be kept. */
  #kept: Kept | undefined;

  /**
   * @param patient Its statements may take longer than is right for one todo.
   * @param now Milliseconds since 1970.
   */
  constructor(quick: Database, patient: Database, now: () => number = Date.now) {
    this.#quick = quick;
    this.#patient = patient;
    this.#now = now;
    this.#purging = setInterval(() => this.#purge(), PURGE_INTERVAL_MS).unref();
  }

  get bytes(): number {
    return this.#chunks.bytes;
  }

  /** Never older than the call. */
  readonly current = singleFlight(async (): Promise<ListVersion> => {
    const at = this.#now();
    const kept = this.#kept;
    const young = kept !== undefined && at - kept.at < LONGEST_KEPT_MS;
    const moment = (young ? await this.#readChanges(kept) : undefined) ?? (await this.#readAll());
    this.#kept = moment.tracked ? { ...moment, at } : undefined;
    return this.#chunks.version();
  });

  [Symbol.dispose](): void {
    clearInterval(this.#purging);
  }

  /** Undefined when the whole list must be read. */
  async #readChanges({ snapshot, life }: Kept): Promise<Moment | undefined> {
    const query = { name: 'changes', text: READ_CHANGES, values: [snapshot] };
    const rows = await this.#quick.read<ChangeRow>(query);
    const [now] = rows;
    if (now === undefined || now.life !== life || !now.complete || rows.length > MOST_CHANGES)
      return undefined;
    const changes = new Map<number, Map<number, Todo | undefined>>();
    for (const row of rows) {
      if (row.unseen === null) continue;
      const number = chunkOf(row.unseen);
      const ofChunk = changes.get(number) ?? new Map<number, Todo | undefined>();
      changes.set(number, ofChunk.set(row.unseen, row.id === null ? undefined : row));
    }
    await this.#apply(changes);
    return now;
  }

  async #apply(changes: ReadonlyMap<number, ReadonlyMap<number, Todo | undefined>>): Promise<void> {
    let done = 0;
    for (const [number, ofChunk] of changes) {
      const chunk = this.#chunks.get(number);
      const todos = new Map(chunk === undefined ? [] : todosOf(chunk).map((todo) => [todo.id, todo]));
      for (const [id, todo] of ofChunk) {
        if (todo === undefined) todos.delete(id);
        else todos.set(id, todo);
      }
      this.#chunks.set(number, makeChunk([...todos.values()].sort((one, other) => one.id - other.id)));
      done += 1;
      if (done % CHUNKS_A_TURN === 0) await turn();
    }
  }

  /** As it is at one moment, in parts: the server is never silent for long, and little is on its way at a time. */
  async #readAll(): Promise<Moment> {
    this.#kept = undefined;
    return this.#patient.transaction(async (ask) => {
      await ask({ text: KEEP_TABLE });
      const [moment] = await ask<Moment>({ text: READ_MOMENT });
      if (moment === undefined) throw new Error('The server did not say what moment it is');
      await this.#readParts(ask);
      return moment;
    });
  }

  async #readParts(ask: Ask): Promise<void> {
    const part = (after: number) => ask<Todo>({ name: 'part', text: READ_PART, values: [after] });
    const seen = new Set<number>();
    let todos: Todo[] = [];
    const keep = (): void => {
      const [first] = todos;
      if (first === undefined) return;
      seen.add(chunkOf(first.id));
      this.#chunks.set(chunkOf(first.id), makeChunk(todos));
      todos = [];
    };
    let after = 0;
    for (let size = PART_SIZE; size === PART_SIZE; ) {
      const rows = await part(after);
      for (const row of rows) {
        if (chunkOf(row.id) !== chunkOf(after)) keep();
        todos.push(row);
        after = row.id;
      }
      size = rows.length;
    }
    keep();
    this.#chunks.keepOnly(seen);
  }

  /** What goes wrong now is done an hour later. */
  #purge(): void {
    this.#quick.write({ name: 'purge', text: PURGE }).catch(() => {});
  }
}
