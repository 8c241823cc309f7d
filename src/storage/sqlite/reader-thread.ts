import type { DatabaseSync } from 'node:sqlite';
import { CHUNK_SIZE, type Chunk, chunkOf, makeChunk } from '../list/chunk.ts';
import { type Failure, failureBy } from './error.ts';
import { prepareTodos } from './row.ts';
import { serveThread } from './thread.ts';

const NEXT_ID = 'SELECT min(id) AS id FROM todos WHERE id >= ?';

export interface ListPart {
  readonly chunks: Iterable<number>;
  /** The number from which on every chunk is read too. */
  readonly from: number;
}

/** A chunk as it is now, by its number; undefined when it has no todos left. */
export type ReadChunk = readonly [number: number, chunk: Chunk | undefined];

/** Reads parts of the list, each as it is at one moment. */
export function prepareList(database: DatabaseSync): (part: ListPart) => readonly ReadChunk[] {
  const range = prepareTodos(database, 'FROM todos WHERE id BETWEEN ? AND ? ORDER BY id');
  const nextId = database.prepare(NEXT_ID);

  function readChunk(number: number): ReadChunk {
    const first = number * CHUNK_SIZE;
    return [number, makeChunk(range(first, first + CHUNK_SIZE - 1))];
  }

  /** The number of the first chunk from this one on that has a todo. */
  function nextChunk(from: number): number | undefined {
    const id = nextId.get(from * CHUNK_SIZE)?.id;
    return typeof id === 'number' ? chunkOf(id) : undefined;
  }

  return function read({ chunks, from }) {
    const found: ReadChunk[] = [];
    database.exec('BEGIN');
    try {
      for (const number of chunks) if (number < from) found.push(readChunk(number));
      // The chunk may have lost its todos.
      found.push(readChunk(from));
      for (let next = nextChunk(from + 1); next !== undefined; next = nextChunk(next + 1)) {
        found.push(readChunk(next));
      }
      database.exec('COMMIT');
    } catch (error) {
      // A fault of the disk may have ended the transaction.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
    return found;
  };
}

serveThread<ListPart, readonly ReadChunk[] | Failure>(0, (database) => {
  let read: ReturnType<typeof prepareList> | undefined;
  return (part) => {
    try {
      read ??= prepareList(database);
      const chunks = read(part);
      // Each buffer once: several chunks may be parts of one.
      const buffers = new Set(chunks.flatMap(([, chunk]) => chunk?.json.buffer ?? []));
      return { answer: chunks, transfer: [...buffers] };
    } catch (error) {
      return { answer: failureBy(error) };
    }
  };
});
