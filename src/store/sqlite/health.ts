import { setTimeout as pause } from 'node:timers/promises';
import { errorOf, type Failure } from './failure.ts';
import { changeOf, type KnownFile } from './known-file.ts';
import { Thread } from './thread.ts';

/** What an operator must know about the file. */
export type FileNews =
  /** Deleted, moved or replaced. Nothing is read or written until a restart. */
  | { readonly kind: 'gone'; readonly reason: string }
  /** Corrupt, or the disk does not read it. Nothing is written; the file is examined. */
  | { readonly kind: 'damaged'; readonly reason: string }
  /** The examination found a sound file: the fault has passed. */
  | { readonly kind: 'recovered' };

const EXAMINER = new URL('./examine-thread.ts', import.meta.url);

/** Between two looks at the names of the file. */
const LOOK_INTERVAL_MS = 1_000;

/** How often a damaged file is examined before only a restart helps, and the time before each. */
const EXAMINATIONS = 5;
const EXAMINATION_INTERVAL_MS = 1_000;

/**
 * Whether a file that is served can be used (contract D11). What is gone stays gone until a restart. What is
 * damaged is examined a few times, because a disk may fail for a moment, and then stays damaged as well.
 */
export class FileHealth implements AsyncDisposable {
  readonly #file: KnownFile;
  readonly #onNews: (news: FileNews) => void;
  readonly #looking: NodeJS.Timeout;
  readonly #closing = new AbortController();
  #examining: Promise<void> = Promise.resolve();
  #fault: Failure | undefined;
  #final = false;

  constructor(file: KnownFile, onNews: (news: FileNews) => void) {
    this.#file = file;
    this.#onNews = onNews;
    this.#looking = setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref();
  }

  /** Why nothing is written, or undefined. */
  get writeFault(): Failure | undefined {
    return this.#fault;
  }

  /** Throws when nothing is read. While a damaged file is examined, what can be read of it is. */
  assertReadable(): void {
    if (this.#final && this.#fault !== undefined) throw errorOf(this.#fault);
  }

  /** Draws the conclusions from a failure that somebody met. */
  note({ trouble, message }: Failure): void {
    if (trouble === 'gone') this.#setGone(message);
    else if (trouble === 'damaged' && this.#fault === undefined) {
      this.#fault = { failure: 'broken', message };
      this.#onNews({ kind: 'damaged', reason: message });
      this.#examining = this.#examine();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#looking);
    this.#closing.abort();
    await this.#examining;
  }

  #look(): void {
    const change = changeOf(this.#file);
    if (change !== undefined) this.#setGone(change);
  }

  #setGone(reason: string): void {
    if (this.#final) return;
    this.#final = true;
    this.#fault = { failure: 'broken', message: reason };
    this.#onNews({ kind: 'gone', reason });
  }

  async #examine(): Promise<void> {
    const { signal } = this.#closing;
    for (let left = EXAMINATIONS; left > 0; left -= 1) {
      await pause(EXAMINATION_INTERVAL_MS, undefined, { ref: false, signal }).catch(() => {});
      if (signal.aborted) return;
      const sound = await isSound(this.#file);
      if (this.#final) return;
      if (!sound) continue;
      this.#fault = undefined;
      this.#onNews({ kind: 'recovered' });
      return;
    }
    this.#final = true;
  }
}

/** Reads the whole file, in a thread and by a connection of its own, which has no page at hand. */
async function isSound(file: KnownFile): Promise<boolean> {
  await using examiner = new Thread<'examine', boolean>(EXAMINER, file);
  return examiner.ask('examine').catch(() => false);
}
