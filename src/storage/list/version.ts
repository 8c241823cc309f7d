import { isAscii } from 'node:buffer';
import { type Body, lengthOf } from '../../lib/answer-body.ts';
import {
  type EntityTag,
  entityTag,
  matchesChanged,
  matchesWeakly,
  type Preconditions,
} from '../../shared-list/entity-tags.ts';
import type { Coding, ListRepresentation } from '../../shared-list/store.ts';
import type { Chunk } from './chunk.ts';
import { bytesOf, gzipOf } from './gzip.ts';

/** Bytes above which a list is compressed; a shorter one fits one packet anyway. */
const WORTH_GZIP = 1024;

/** Bytes up to which an ASCII text costs less to send than bytes do. */
const SHORT = 4 * 1024;

/** Bytes up to which a list in one piece costs less than chunks shared among versions. */
const ONE_PIECE = 128 * 1024;

export type ListVersion = ReturnType<typeof listVersion>;

/** The list of one moment, in both codings. @param chunks Ascending; versions share their bytes when it is long. */
export function listVersion(chunks: readonly Chunk[]) {
  const array = arrayOf(chunks);
  const length = lengthOf(array);
  /** The tag of the list, not compressed. */
  const etag = entityTag(chunks.map((chunk) => chunk.etag).join());
  const identity: ListRepresentation = { body: bodyOf(array, length), coding: 'identity', etag };
  const gzipTag: EntityTag = `${etag.slice(0, -1)}-gzip"`;
  let gzip: Promise<ListRepresentation> | undefined;
  let asked = false;

  async function compress(): Promise<ListRepresentation> {
    try {
      const pieces = await gzipOf(chunks);
      return { body: bodyOf(pieces, lengthOf(pieces)), coding: 'gzip', etag: gzipTag };
    } catch (error) {
      gzip = undefined;
      throw error;
    }
  }

  /**
   * The list in the coding whose tag the client names, unchanged or changed by a proxy; else in the shorter one. A
   * version is compressed when it is asked for a second time. A failed compression is repeated at the next call.
   */
  function select(
    admitted: Coding = 'identity',
    { ifMatch = '*', ifNoneMatch = [] }: Preconditions = {},
  ): ListRepresentation | Promise<ListRepresentation> {
    const askedBefore = asked;
    asked = true;
    if (admitted === 'identity' || length <= WORTH_GZIP) return identity;
    // A weak tag matches nothing in `If-Match` (RFC 9110 §13.1.1).
    const named = ifMatch === '*' ? ifNoneMatch : ifMatch.filter((tag) => !tag.startsWith('W/'));
    if (matchesWeakly(named, etag)) return identity;
    const namesGzip = matchesChanged(named, gzipTag);
    if (!namesGzip && (!askedBefore || matchesChanged(named, etag))) return identity;
    gzip ??= compress();
    return gzip;
  }

  return { etag, select };
}

/** The list, chunk by chunk: a change costs its chunk. An equal chunk keeps the old one, which versions share. */
export class ListChunks {
  readonly #chunks = new Map<number, Chunk>();
  #version = listVersion([]);
  /** Whether chunks have changed since the version was made. */
  #changed = false;

  /** The highest number of a chunk, 0 when there is none. */
  get highest(): number {
    return this.#chunks.keys().reduce((highest, number) => Math.max(highest, number), 0);
  }

  /** Bytes of all chunks, and of their compressed copies. */
  get bytes(): number {
    return this.#chunks.values().reduce((sum, chunk) => sum + bytesOf(chunk), 0);
  }

  get(number: number): Chunk | undefined {
    return this.#chunks.get(number);
  }

  /** @param chunk Undefined when it has no todos left. */
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

  /** The list as it is now. After a change that was undone it is the same version, with its copy in gzip. */
  version(): ListVersion {
    if (this.#changed) {
      const ascending = [...this.#chunks].sort(([one], [other]) => one - other);
      const version = listVersion(ascending.map(([, chunk]) => chunk));
      if (version.etag !== this.#version.etag) this.#version = version;
      this.#changed = false;
    }
    return this.#version;
  }
}

/** Chunks as one JSON array: the comma before the first makes way for the bracket. */
function arrayOf(chunks: readonly Chunk[]): readonly Uint8Array[] {
  return [OPEN, ...chunks.map(({ json }, index) => (index === 0 ? json.subarray(1) : json)), CLOSE];
}

function bodyOf(pieces: readonly Uint8Array[], length: number): Body {
  if (length > ONE_PIECE) return pieces;
  const whole = Buffer.concat(pieces);
  return length <= SHORT && isAscii(whole) ? whole.toString('latin1') : whole;
}

const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
