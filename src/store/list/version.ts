import { isAscii } from 'node:buffer';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { Body } from '../../http/message/answer.ts';
import { type EntityTag, type EntityTags, entityTag, matchesWeakly } from '../entity-tag.ts';
import type { Chunk } from './chunk.ts';

/** What a client can read, and what it has already. */
export interface ListWish {
  /** `Accept-Encoding` admits gzip. */
  readonly gzip: boolean;
  readonly ifNoneMatch?: EntityTags | undefined;
}

/** The whole list as it goes over the wire, and the tag of exactly these bytes. */
export interface ListRepresentation {
  readonly body: Body;
  /** The coding of the whole body; `identity` for a client that wishes no gzip. */
  readonly coding: 'identity' | 'gzip';
  /** Strong, and another for each coding (RFC 9110 §8.8.3.3). */
  readonly etag: EntityTag;
}

/** Bytes; what is not longer fits one packet anyway. */
const WORTH_GZIP = 1024;

/** Bytes up to which a text of ASCII costs less to send than bytes do. */
const SHORT = 4 * 1024;

/** Bytes up to which it costs less to have a list in one piece than to share chunks among versions. */
const ONE_PIECE = 128 * 1024;

/** Above 3, zlib takes more than twice the time and saves some 5 % of a list. */
const GZIP_LEVEL = 3;

/** The list as it was at one moment, in both codings. */
export class ListVersion {
  readonly #identity: ListRepresentation;
  readonly #length: number;
  readonly #gzipTag: EntityTag;
  #gzip: Promise<ListRepresentation> | undefined;
  #asked = false;

  /** @param chunks Ascending. Their bytes are not copied when the list is long. */
  constructor(chunks: readonly Chunk[]) {
    const array = arrayOf(chunks);
    this.#length = array.reduce((sum, { length }) => sum + length, 0);
    const etag = entityTag(chunks.map((chunk) => chunk.etag).join());
    this.#identity = { body: bodyOf(array, this.#length), coding: 'identity', etag };
    this.#gzipTag = `${etag.slice(0, -1)}-gzip"`;
  }

  /** The tag of the list as it is, not compressed. */
  get etag(): EntityTag {
    return this.#identity.etag;
  }

  /**
   * The coding that the client has already, so that the answer is a 304; else the shorter one. A version that
   * is asked for a second time is compressed, off the main thread.
   */
  select({ gzip, ifNoneMatch = [] }: ListWish): ListRepresentation | Promise<ListRepresentation> {
    const askedBefore = this.#asked;
    this.#asked = true;
    if (!gzip || this.#length <= WORTH_GZIP) return this.#identity;
    if (matchesWeakly(ifNoneMatch, this.#identity.etag)) return this.#identity;
    if (!askedBefore && !matchesWeakly(ifNoneMatch, this.#gzipTag)) return this.#identity;
    this.#gzip ??= this.#compress();
    return this.#gzip;
  }

  async #compress(): Promise<ListRepresentation> {
    const gzip = Readable.from(this.#identity.body).pipe(createGzip({ level: GZIP_LEVEL }));
    return { body: Buffer.concat(await gzip.toArray()), coding: 'gzip', etag: this.#gzipTag };
  }
}

/** Chunks as one JSON array: the comma before the first makes way for the bracket. */
function arrayOf(chunks: readonly Chunk[]): readonly Buffer[] {
  const [first, ...rest] = chunks.map(({ json }) => Buffer.from(json.buffer));
  return first === undefined ? [EMPTY] : [OPEN, first.subarray(1), ...rest, CLOSE];
}

function bodyOf(pieces: readonly Buffer[], length: number): Body {
  if (length > ONE_PIECE) return pieces;
  const whole = Buffer.concat(pieces);
  return length <= SHORT && isAscii(whole) ? whole.toString('latin1') : whole;
}

const EMPTY = Buffer.from('[]');
const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
