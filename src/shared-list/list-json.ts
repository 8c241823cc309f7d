import { hash } from 'node:crypto';
import { type EntityTag, entityTag } from './entity-tag.ts';

/**
 * Ids 0 to 63 are chunk 0, and so on: few enough that scattered writes leave most chunks as they are. Chunks
 * begin at the same ids everywhere, so equal lists have equal tags.
 */
export const CHUNK_SIZE = 64;

/** The chunk that a todo belongs to. */
export function chunkOf(id: number): number {
  return Math.floor(id / CHUNK_SIZE);
}

/** Neighbouring todos, as JSON separated by commas. */
export interface Chunk {
  readonly json: Uint8Array;
  readonly digest: Uint8Array;
}

/** The whole list at one moment, as a JSON array. */
export interface ListSnapshot {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly etag: EntityTag;
}

/** A chunk of todos, none at all included. */
export function chunk(json: Uint8Array): Chunk {
  return { json, digest: hash('sha256', json, 'buffer') };
}

/** Joins chunks in ascending order into the list. */
export function joinChunks(all: readonly Chunk[]): ListSnapshot {
  const chunks = all.filter(({ json }) => json.length > 0);
  const length = chunks.reduce((sum, { json }) => sum + json.length + 1, 1);
  const bytes = new Uint8Array(Math.max(length, 2));
  let end = 0;
  for (const { json } of chunks) {
    bytes[end] = COMMA;
    bytes.set(json, end + 1);
    end += json.length + 1;
  }
  bytes[0] = OPEN;
  bytes[bytes.length - 1] = CLOSE;
  return { bytes, etag: entityTag(Buffer.concat(chunks.map(({ digest }) => digest))) };
}

const OPEN = 0x5b;
const COMMA = 0x2c;
const CLOSE = 0x5d;
