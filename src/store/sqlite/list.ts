import { chunkOf } from '../list/chunk.ts';
import { singleFlight } from '../list/single-flight.ts';
import { ListChunks, type ListVersion } from '../list/version.ts';
import { errorOf } from './error.ts';
import type { KnownFile } from './file.ts';
import type { FileHealth } from './health.ts';
import type { ListPart, ReadChunk } from './reader-thread.ts';
import { Thread } from './thread.ts';
import type { Watcher } from './writer.ts';
import type { Write } from './writer-thread.ts';

const THREAD = new URL('./reader-thread.ts', import.meta.url);

/**
 * The list, of which a thread reads what changed. The thread starts when the list is first asked for. From the
 * moment a batch is sent until it is done, its changes may be visible to some: whoever asks meanwhile gets what is
 * read then.
 */
export class SqliteList implements Watcher, AsyncDisposable {
  readonly #thread: Thread<ListPart, readonly ReadChunk[]>;
  readonly #chunks = new ListChunks();
  readonly #health: FileHealth;
  /** Nothing has changed since the chunks were read, except by the batch that is under way. */
  #fresh = false;
  /** Chunks to read before the next version. */
  #dirty: Set<number> | 'all' = 'all';
  /** The chunks of the batch that is under way. */
  #underWay: readonly number[] | undefined;

  constructor(file: KnownFile, health: FileHealth) {
    this.#thread = new Thread(THREAD, file);
    this.#health = health;
  }

  get bytes(): number {
    return this.#chunks.bytes;
  }

  /** Never older than the call. */
  current(): ListVersion | Promise<ListVersion> {
    return this.#known() ?? this.#refreshed();
  }

  batchSent(writes: readonly Write[]): void {
    // New todos come at the end, which is always read.
    this.#underWay = writes.flatMap((write) => ('id' in write ? chunkOf(write.id) : []));
  }

  batchDone(changed: readonly number[]): void {
    this.#underWay = undefined;
    if (changed.length > 0) this.#noteChange(changed);
  }

  invalidate(): void {
    this.#noteChange('all');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }

  #known(): ListVersion | undefined {
    return this.#fresh && this.#underWay === undefined ? this.#chunks.version() : undefined;
  }

  #noteChange(ids: readonly number[] | 'all'): void {
    this.#fresh = false;
    if (ids === 'all') this.#dirty = 'all';
    else if (this.#dirty !== 'all') for (const id of ids) this.#dirty.add(chunkOf(id));
  }

  readonly #refreshed = singleFlight(async (): Promise<ListVersion> => {
    const known = this.#known();
    if (known !== undefined) return known;
    await this.#read();
    return this.#chunks.version();
  });

  async #read(): Promise<void> {
    const dirty = this.#dirty;
    const dirtied = new Set<number>();
    this.#dirty = dirtied;
    const part =
      dirty === 'all'
        ? { chunks: [], from: 0 }
        : { chunks: new Set([...dirty, ...(this.#underWay ?? [])]), from: this.#chunks.highest };
    const answer = await this.#thread.ask(part);
    if ('failure' in answer) {
      this.invalidate();
      this.#health.note(answer);
      throw errorOf(answer);
    }
    for (const [number, chunk] of answer) this.#chunks.set(number, chunk);
    if (dirty === 'all') this.#chunks.keepOnly(new Set(answer.map(([number]) => number)));
    this.#fresh = this.#dirty === dirtied && dirtied.size === 0;
  }
}
