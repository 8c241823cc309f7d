import { chunkOf, type Segment } from '../list-json.ts';
import { ListVersion } from '../list-version.ts';
import { sharedRun } from '../shared-run.ts';
import type { Write } from './batch.ts';
import { errorOf, type Failure } from './failure.ts';
import type { Dirty, ListChange } from './list-chunks.ts';
import { Thread, type ThreadEnded } from './thread.ts';
import type { Watcher } from './writer.ts';

const THREAD = new URL('./list-thread.ts', import.meta.url);

/**
 * The list, built once per change by a thread of its own, which starts when it is first asked for. From the
 * moment a batch is sent until it is done, its changes may be visible to some: whoever asks meanwhile gets what is
 * read then.
 */
export class SqliteList implements Watcher, AsyncDisposable {
  readonly #thread: Thread<Dirty, ListChange | Failure>;
  #segments: ReadonlyMap<number, Segment> = new Map();
  #version: ListVersion | undefined;
  /** Nothing has changed since the version was read, but for the batch that is under way. */
  #fresh = false;
  #changes = 0;
  #dirty: Set<number> | 'all' = 'all';
  /** The chunks of the batch that is under way. */
  #underWay: readonly number[] | undefined;

  constructor(file: string) {
    // A thread that is started anew knows nothing of what the one before it has told.
    this.#thread = new Thread(THREAD, file, { ended: () => this.invalidate() });
  }

  /** Never older than the call. */
  current(): ListVersion | Promise<ListVersion> {
    return this.#kept() ?? this.#renewed();
  }

  batchSent(writes: readonly Write[]): void {
    this.#underWay = chunksOf(writes);
  }

  batchDone(changed: readonly Write[]): void {
    this.#underWay = undefined;
    if (changed.length > 0) this.#noteChange(chunksOf(changed));
  }

  invalidate(): void {
    this.#noteChange('all');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }

  #kept(): ListVersion | undefined {
    return this.#fresh && this.#underWay === undefined ? this.#version : undefined;
  }

  #noteChange(chunks: readonly number[] | 'all'): void {
    this.#fresh = false;
    this.#changes += 1;
    if (chunks === 'all') this.#dirty = 'all';
    else if (this.#dirty !== 'all') for (const chunk of chunks) this.#dirty.add(chunk);
  }

  readonly #renewed = sharedRun(async (): Promise<ListVersion> => {
    const kept = this.#kept();
    if (kept !== undefined) return kept;
    this.#version = await this.#read();
    return this.#version;
  });

  async #read(): Promise<ListVersion> {
    const dirty = this.#dirty === 'all' ? 'all' : new Set([...this.#dirty, ...(this.#underWay ?? [])]);
    const changes = this.#changes;
    this.#dirty = new Set();
    const answer = await this.#thread.ask(dirty).catch(unavailable);
    if ('failure' in answer) {
      this.invalidate();
      throw errorOf(answer);
    }
    this.#fresh = changes === this.#changes;
    this.#segments = new Map([...(dirty === 'all' ? [] : this.#segments), ...answer.segments]);
    return new ListVersion(this.#segments, answer.etag);
  }
}

/** New todos come at the end, which is always read. */
function chunksOf(writes: readonly Write[]): readonly number[] {
  return writes.flatMap((write) => (write.kind === 'add' ? [] : chunkOf(write.id)));
}

function unavailable({ message }: ThreadEnded): Failure {
  return { failure: 'unavailable', message };
}
