import { isAscii } from 'node:buffer';
import { type Body, lengthOf } from '../../lib/pieces.ts';
import type { Coding, ListRepresentation } from '../../todos/store.ts';
import {
  type EntityTag,
  entityTag,
  matchesChanged,
  matchesWeakly,
  type Preconditions,
} from '../../todos/todo.ts';
import type { Chunk } from './chunk.ts';
import { bytesOf, gzipOf } from './gzip.ts';

/** Bytes; what is not longer fits one packet anyway. */
const WORTH_GZIP = 1024;

/** Bytes up to which a text of ASCII costs less to send than bytes do. */
const SHORT = 4 * 1024;

/** Bytes up to which it costs less to have a list in one piece than to share chunks among versions. */
const ONE_PIECE = 128 * 1024;

/** The list as it was at one moment, in both codings. Versions share the bytes of chunks, compressed or not. */
export class ListVersion {
  readonly #chunks: readonly Chunk[];
  readonly #identity: ListRepresentation;
  readonly #length: number;
  readonly #gzipTag: EntityTag;
  #gzip: Promise<ListRepresentation> | undefined;
  #asked = false;

  /** @param chunks Ascending. Their bytes are not copied when the list is long. */
  constructor(chunks: readonly Chunk[]) {
    const array = arrayOf(chunks);
    this.#chunks = chunks;
    this.#length = lengthOf(array);
    const etag = entityTag(chunks.map((chunk) => chunk.etag).join());
    this.#identity = { body: bodyOf(array, this.#length), coding: 'identity', etag };
    this.#gzipTag = `${etag.slice(0, -1)}-gzip"`;
  }

  /** The tag of the list as it is, not compressed. */
  get etag(): EntityTag {
    return this.#identity.etag;
  }

  /**
   * The coding whose tag the client names, as it stands or as a proxy has changed it; else the shorter one. A version
   * that is asked for a second time is compressed; one that fails to be is tried again when it is asked for again.
   */
  select(
    admitted: Coding = 'identity',
    { ifMatch = '*', ifNoneMatch = [] }: Preconditions = {},
  ): ListRepresentation | Promise<ListRepresentation> {
    const askedBefore = this.#asked;
    this.#asked = true;
    if (admitted === 'identity' || this.#length <= WORTH_GZIP) return this.#identity;
    // What is weak names nothing in `If-Match` (RFC 9110 §13.1.1).
    const named = ifMatch === '*' ? ifNoneMatch : ifMatch.filter((tag) => !tag.startsWith('W/'));
    const { etag } = this.#identity;
    if (matchesWeakly(named, etag)) return this.#identity;
    const namesGzip = matchesWeakly(named, this.#gzipTag) || matchesChanged(named, this.#gzipTag);
    if (!namesGzip && (!askedBefore || matchesChanged(named, etag))) return this.#identity;
    this.#gzip ??= this.#compress();
    return this.#gzip;
  }

  async #compress(): Promise<ListRepresentation> {
    try {
      const pieces = await gzipOf(this.#chunks);
      return { body: bodyOf(pieces, lengthOf(pieces)), coding: 'gzip', etag: this.#gzipTag };
    } catch (error) {
      this.#gzip = undefined;
      throw error;
    }
  }
}

/**
 * The list, chunk by chunk: a change costs its chunk. What is set again and equal stays the chunk that it was, so
 * that versions of the list share it.
 */
export class ListChunks {
  readonly #chunks = new Map<number, Chunk>();
  #version = new ListVersion([]);
  /** Since the version was made. */
  #changed = false;

  /** The highest number of a chunk, 0 when there is none. */
  get highest(): number {
    return this.#chunks.keys().reduce((highest, number) => Math.max(highest, number), 0);
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
    if (chunk === undefined) this.#chunks.delete(number);
    else this.#chunks.set(number, chunk);
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

/** Chunks as one JSON array: the comma before the first makes way for the bracket. */
function arrayOf(chunks: readonly Chunk[]): readonly Uint8Array[] {
  const [first, ...rest] = chunks.map(({ json }) => json);
  return first === undefined ? [EMPTY] : [OPEN, first.subarray(1), ...rest, CLOSE];
}

function bodyOf(pieces: readonly Uint8Array[], length: number): Body {
  if (length > ONE_PIECE) return pieces;
  const whole = Buffer.concat(pieces);
  return length <= SHORT && isAscii(whole) ? whole.toString('latin1') : whole;
}

const EMPTY = Buffer.from('[]');
const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
