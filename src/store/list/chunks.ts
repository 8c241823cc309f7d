import type { Chunk } from './chunk.ts';
import { bytesOf } from './gzip.ts';
import { ListVersion } from './version.ts';

/**
 * The list, chunk by chunk: a change costs its chunk. What is set again and equal stays the chunk that it was, so
 * that versions of the list share it.
 */
export class ListChunks {
  readonly #chunks = new Map<number, Chunk>();
  #highest = 0;
  #version = new ListVersion([]);
  /** Since the version was made. */
  #changed = false;

  /** The highest number of a chunk that there ever was, 0 before the first. */
  get highest(): number {
    return this.#highest;
  }

  /** Of all chunks, and of their compressed copies. */
  get bytes(): number {
    return this.#chunks.values().reduce((sum, chunk) => sum + bytesOf(chunk), 0);
  }

  get(number: number): Chunk | undefined {
    return this.#chunks.get(number);
  }

  /** @param chunk Undefined when no todo is left in it. */
  set(number: number, chunk: Chunk | undefined): void {
    if (this.#chunks.get(number)?.etag === chunk?.etag) return;
    this.#changed = true;
    if (chunk === undefined) {
      this.#chunks.delete(number);
    } else {
      this.#chunks.set(number, chunk);
      this.#highest = Math.max(this.#highest, number);
    }
  }

  /** Drops every other chunk. */
  keepOnly(numbers: ReadonlySet<number>): void {
    for (const number of this.#chunks.keys()) if (!numbers.has(number)) this.set(number, undefined);
  }

  /** The list as it is now; what was changed back is the version that it was, with its copy in gzip. */
  version(): ListVersion {
    if (this.#changed) {
      const ascending = [...this.#chunks].sort(([one], [other]) => one - other);
      const version = new ListVersion(ascending.map(([, chunk]) => chunk));
      if (version.etag !== this.#version.etag) this.#version = version;
      this.#changed = false;
    }
    return this.#version;
  }
}
