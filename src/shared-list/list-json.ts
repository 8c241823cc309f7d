import { hash } from 'node:crypto';
import { type EntityTag, entityTag } from './entity-tag.ts';

/**
 * Ids 0 to 63 are chunk 0, and so on: few enough that scattered writes leave most chunks as they are. Chunks
 * begin at the same ids everywhere, so equal lists have equal tags.
 */
export const CHUNK_SIZE = 64;

/**
 * Chunks 0 to 15 are segment 0, and so on: some 75 KB. Versions of the list share the segments in which they do
 * not differ, and a system call sends many of them for the price of one buffer.
 */
const SEGMENT_SIZE = 16;

/** The chunk that a todo belongs to. */
export function chunkOf(id: number): number {
  return Math.floor(id / CHUNK_SIZE);
}

/** The segment that a chunk belongs to. */
export function segmentOf(chunk: number): number {
  return Math.floor(chunk / SEGMENT_SIZE);
}

/** Neighbouring todos, as JSON separated by commas. */
export interface Chunk {
  readonly json: Uint8Array;
  readonly digest: Uint8Array;
}

/** The todos of a segment, as JSON, a comma before each. */
export type Segment = Uint8Array<ArrayBuffer>;

/** A chunk of todos, none at all included. */
export function chunk(json: Uint8Array): Chunk {
  return { json, digest: hash('sha256', json, 'buffer') };
}

/** Joins the chunks of each of these segments; `chunks` has all that are not empty. */
export function joinSegments(
  chunks: ReadonlyMap<number, Chunk>,
  wanted: Iterable<number>,
): ReadonlyMap<number, Segment> {
  const segments = new Map<number, Segment>();
  for (const segment of wanted) {
    const first = segment * SEGMENT_SIZE;
    const numbers = Array.from({ length: SEGMENT_SIZE }, (_, index) => first + index);
    segments.set(segment, join(numbers.map((number) => chunks.get(number)?.json ?? NOTHING)));
  }
  return segments;
}

/** The same segments; those that are as they were are the very ones that were kept. */
export function keepEqual(
  kept: ReadonlyMap<number, Segment>,
  segments: ReadonlyMap<number, Segment>,
): ReadonlyMap<number, Segment> {
  const equal = (number: number, segment: Segment): Segment => {
    const before = kept.get(number);
    return before !== undefined && Buffer.from(before.buffer).equals(segment) ? before : segment;
  };
  return new Map(segments.entries().map(([number, segment]) => [number, equal(number, segment)]));
}

function join(texts: readonly Uint8Array[]): Segment {
  const present = texts.filter(({ length }) => length > 0);
  const segment = new Uint8Array(present.reduce((sum, { length }) => sum + length + 1, 0));
  let end = 0;
  for (const text of present) {
    segment[end] = COMMA;
    segment.set(text, end + 1);
    end += text.length + 1;
  }
  return segment;
}

/** The tag of the list that consists of these chunks, ascending. */
export function tagOf(chunks: Iterable<Chunk>): EntityTag {
  const digests: Uint8Array[] = [];
  for (const { json, digest } of chunks) if (json.length > 0) digests.push(digest);
  return entityTag(Buffer.concat(digests));
}

/** The list as a JSON array in pieces; nothing but its brackets is copied. */
export function arrayOf(segments: ReadonlyMap<number, Segment>): readonly Buffer[] {
  const [first, ...rest] = [...segments]
    .filter(([, { length }]) => length > 0)
    .sort(([one], [other]) => one - other)
    .map(([, { buffer }]) => Buffer.from(buffer));
  return first === undefined ? [EMPTY] : [OPEN, first.subarray(1), ...rest, CLOSE];
}

const NOTHING = new Uint8Array();
const COMMA = 0x2c;
const EMPTY = Buffer.from('[]');
const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
