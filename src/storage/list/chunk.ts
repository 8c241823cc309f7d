import { type EntityTag, entityTag } from '../../shared-list/entity-tags.ts';
import { type Todo, todoJson } from '../../shared-list/members.ts';

/**
 * Ids in a chunk: 0 to 255 are chunk 0, and so on, some 19 KB. Few enough that a change costs little, many enough that a
 * list of a million has 4,000 pieces to send. Chunks begin at the same ids everywhere, so equal lists have equal tags.
 */
export const CHUNK_SIZE = 256;

/** Neighbouring todos, at least one. */
export interface Chunk {
  /** Ascending by id, as JSON, a comma before each. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly etag: EntityTag;
}

export function chunkOf(id: number): number {
  return Math.floor(id / CHUNK_SIZE);
}

/** Makes a chunk; undefined without todos. @param todos Of one chunk, ascending by id. */
export function makeChunk(todos: readonly Todo[]): Chunk | undefined {
  if (todos.length === 0) return undefined;
  let text = '';
  for (const todo of todos) text += `,${todoJson(todo)}`;
  const json = ENCODER.encode(text);
  return { json, etag: entityTag(json) };
}

/** The todos of a chunk, ascending by id. */
export function todosOf({ json }: Chunk): readonly Todo[] {
  return JSON.parse(`[${DECODER.decode(json.subarray(1))}]`);
}

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();
