import { chunkOf } from '../list/chunk.ts';
import { singleFlight } from '../list/single-flight.ts';
import { ListChunks, type ListVersion } from '../list/version.ts';
import { errorOf } from './error.ts';
import type { DatabaseHealth } from './health.ts';
import type { ListPart, ReadChunk } from './reader-thread.ts';
import { Thread } from './thread.ts';
import type { Changed, UnderWay } from './writer.ts';

const THREAD = new URL('./reader-thread.ts', import.meta.url);

/**
 * The list, of which a thread reads the changes. The thread starts at the first call. From the sending of a batch to its
 * end, some readers may see its changes: a call in that time gets what is read then: `test/storage/sqlite-reads.test.ts`.
 */
export class SqliteList implements AsyncDisposable {
  readonly #thread: Thread<ListPart, readonly ReadChunk[]>;
  readonly #chunks = new ListChunks();
  readonly #health: DatabaseHealth;
  readonly #underWay: UnderWay;
  /** Whether nothing has changed since the chunks were read, except by the batch that is under way. */
  #fresh = false;
  /** Chunks to read before the next version. */
  #dirty: Set<number> | 'all' = 'all';
  #hasFailed = false;

  constructor(health: DatabaseHealth, underWay: UnderWay) {
    this.#underWay = underWay;
    this.#thread = new Thread(THREAD, health.file);
    this.#health = health;
  }

  get bytes(): number {
    return this.#chunks.bytes;
  }

  /** The list, never older than the call. */
  current(): ListVersion | Promise<ListVersion> {
    return this.#known() ?? this.#refreshed();
  }

  /** Reads the list again after a failure. Rejects when it fails again. */
  async check(): Promise<void> {
    if (this.#hasFailed) await this.current();
  }

  /** Notes todos whose chunks are read before the next version. */
  forget(changed: Changed): void {
    this.#fresh = false;
    if (changed === 'all') this.#dirty = 'all';
    else if (this.#dirty !== 'all') for (const id of changed) this.#dirty.add(chunkOf(id));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }

  #known(): ListVersion | undefined {
    const { ids, adds } = this.#underWay;
    return this.#fresh && ids.size === 0 && !adds ? this.#chunks.version() : undefined;
  }

  readonly #refreshed = singleFlight(async () => this.#known() ?? this.#read());

  async #read(): Promise<ListVersion> {
    const dirty = this.#dirty;
    const dirtied = new Set<number>();
    this.#dirty = dirtied;
    // New todos come at the end, which is always read.
    const underWay = Array.from(this.#underWay.ids, chunkOf);
    const part =
      dirty === 'all'
        ? { chunks: [], from: 0 }
        : { chunks: new Set([...dirty, ...underWay]), from: this.#chunks.highest };
    const answer = await this.#thread.ask(part);
    this.#hasFailed = 'failure' in answer;
    if ('failure' in answer) {
      this.forget('all');
      throw errorOf(this.#health.note(answer));
    }
    for (const [number, chunk] of answer) this.#chunks.set(number, chunk);
    if (dirty === 'all') this.#chunks.keepOnly(new Set(answer.map(([number]) => number)));
    this.#fresh = this.#dirty === dirtied && dirtied.size === 0;
    return this.#chunks.version();
  }
}
