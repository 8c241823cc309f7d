import { type Failure, failureBy } from './failure.ts';
import { type Service, serveThread } from './in-thread.ts';
import { openKnown } from './known-file.ts';
import { type ListPart, prepareList, type ReadChunk } from './list-reader.ts';

// The thread that reads the list.
serveThread((file): Service<ListPart, readonly ReadChunk[] | Failure> => {
  const database = openKnown(file, { timeout: 0 });
  database.exec('PRAGMA query_only = ON');
  const read = prepareList(database);
  return {
    answer: (part) => {
      try {
        const chunks = read(part);
        return { answer: chunks, transfer: chunks.flatMap(([, chunk]) => chunk?.json.buffer ?? []) };
      } catch (error) {
        return { answer: failureBy(error) };
      }
    },
    [Symbol.dispose]: () => database.close(),
  };
});
