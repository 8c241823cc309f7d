import { type Failure, failureBy } from './failure.ts';
import { serveThread } from './in-thread.ts';
import { type ListPart, prepareList, type ReadChunk } from './list-reader.ts';

// The thread that reads the list.
serveThread<ListPart, readonly ReadChunk[] | Failure>(0, (database) => {
  database.exec('PRAGMA query_only = ON');
  const read = prepareList(database);
  return (part) => {
    try {
      const chunks = read(part);
      return { answer: chunks, transfer: chunks.flatMap(([, chunk]) => chunk?.json.buffer ?? []) };
    } catch (error) {
      return { answer: failureBy(error) };
    }
  };
});
