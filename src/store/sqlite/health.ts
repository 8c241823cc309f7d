import type { Tell } from '../../events.ts';
import { errorOf, type Failure } from './error.ts';
import { changeOf, type KnownFile } from './file.ts';
import { Thread } from './thread.ts';

const THREAD = new URL('./reader-thread.ts', import.meta.url);

const POLL_INTERVAL_MS = 1_000;

/**
 * Whether a file that is served can be used (contract D11). One that is gone cannot until a restart, and neither can
 * one that is damaged; a file that seems so is read whole, once, because a disk may fail for a moment.
 */
export class FileHealth implements AsyncDisposable {
  readonly file: KnownFile;
  readonly #tell: Tell;
  readonly #polling: NodeJS.Timeout;
  #examining: Promise<void> | undefined;
  #fault: Failure | undefined;

  constructor(file: KnownFile, tell: Tell) {
    this.file = file;
    this.#tell = tell;
    this.#polling = setInterval(() => {
      const change = changeOf(file);
      if (change !== undefined) this.note({ failure: 'broken', trouble: 'gone', message: change });
    }, POLL_INTERVAL_MS).unref();
  }

  /** Why the file cannot be used, or undefined. */
  get fault(): Failure | undefined {
    return this.#fault;
  }

  /** Throws when the file cannot be used. */
  assertUsable(): void {
    if (this.#fault !== undefined) throw errorOf(this.#fault);
  }

  /** Draws the conclusions from a failure that somebody met. */
  note({ trouble, message }: Failure): void {
    if (trouble === undefined || this.#fault !== undefined) return;
    this.#fault = { failure: 'broken', message };
    this.#tell({ event: `database-${trouble}`, reason: message, path: this.file.name });
    if (trouble === 'damaged') this.#examining = this.#examine();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#polling);
    await this.#examining;
  }

  /** In a thread, and by a connection of its own, which has no page at hand. */
  async #examine(): Promise<void> {
    await using examiner = new Thread<'examine', boolean>(THREAD, this.file);
    if ((await examiner.ask('examine')) !== true) return;
    this.#fault = undefined;
    this.#tell({ event: 'database-recovered', path: this.file.name });
  }
}
