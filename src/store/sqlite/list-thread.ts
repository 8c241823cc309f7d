import { type Failure, failureBy } from './error.ts';
import { type ListPart, prepareList, type ReadChunk } from './list-reader.ts';
import { serveThread } from './thread.ts';

// The thread that reads the list.
serveThread<ListPart, readonly ReadChunk[] | Failure>(0, (database) => {
  database.exec('PRAGMA query_only = ON');
  const read = prepareList(database);
  return (part) => {
    try {
      const chunks = read(part);
      // Each once: several chunks may be parts of one.
      const buffers = new Set(chunks.flatMap(([, chunk]) => chunk?.json.buffer ?? []));
      return { answer: chunks, transfer: [...buffers] };
    } catch (error) {
      return { answer: failureBy(error) };
    }
  };
});
