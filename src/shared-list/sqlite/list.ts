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
 * moment a batch leaves until it is settled, its changes may be visible to some: what was read meanwhile is
 * for those who wait for it, and for nobody later.
 */
export class SqliteList implements Watcher, AsyncDisposable {
  readonly #thread: Thread<Dirty, ListChange | Failure>;
  #segments: ReadonlyMap<number, Segment> = new Map();
  #version: ListVersion | undefined;
  /** The version is what everybody sees. */
  #fresh = false;
  #suspicions = 0;
  #dirty: Set<number> | 'all' = 'all';
  /** The chunks of the batch that is under way. */
  #underWay: readonly number[] | undefined;

  constructor(file: string) {
    // A thread that is started anew knows nothing of what the one before it has told.
    this.#thread = new Thread(THREAD, file, { ended: () => this.invalidate() });
  }

  /** Never older than the call. */
  current(): ListVersion | Promise<ListVersion> {
    return this.#fresh && this.#version !== undefined ? this.#version : this.#renewed();
  }

  batchSent(writes: readonly Write[]): void {
    this.#underWay = writes.flatMap((write) => (write.kind === 'add' ? [] : chunkOf(write.id)));
    this.#suspect(this.#underWay);
  }

  batchDone(): void {
    this.#suspect(this.#underWay ?? []);
    this.#underWay = undefined;
  }

  invalidate(): void {
    this.#suspect('all');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#thread[Symbol.asyncDispose]();
  }

  #suspect(chunks: readonly number[] | 'all'): void {
    this.#fresh = false;
    this.#suspicions += 1;
    if (chunks === 'all') this.#dirty = 'all';
    else if (this.#dirty !== 'all') for (const chunk of chunks) this.#dirty.add(chunk);
  }

  readonly #renewed = sharedRun(async (): Promise<ListVersion> => {
    if (this.#fresh && this.#version !== undefined) return this.#version;
    this.#version = await this.#read();
    return this.#version;
  });

  async #read(): Promise<ListVersion> {
    const dirty = this.#dirty;
    const calm = this.#underWay === undefined;
    const suspicions = this.#suspicions;
    this.#dirty = new Set();
    const answer = await this.#thread.ask(dirty).catch(unavailable);
    if ('failure' in answer) {
      this.invalidate();
      throw errorOf(answer);
    }
    this.#fresh = calm && suspicions === this.#suspicions;
    this.#segments = new Map([...(dirty === 'all' ? [] : this.#segments), ...answer.segments]);
    return new ListVersion(this.#segments, answer.etag);
  }
}

function unavailable({ message }: ThreadEnded): Failure {
  return { failure: 'unavailable', message };
}
