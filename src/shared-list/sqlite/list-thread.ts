import { DatabaseSync } from 'node:sqlite';
import { type Failure, failureBy } from './failure.ts';
import { type Service, serveThread } from './in-thread.ts';
import { type Dirty, type ListChange, ListChunks } from './list-chunks.ts';

// The thread that builds the list.
serveThread((file): Service<Dirty, ListChange | Failure> => {
  const database = new DatabaseSync(file, { timeout: 0 });
  database.exec('PRAGMA query_only = ON');
  const chunks = new ListChunks(database);
  return {
    answer: (dirty) => {
      try {
        const change = chunks.refresh(dirty);
        return { answer: change, transfer: [...change.segments.values()].map(({ buffer }) => buffer) };
      } catch (error) {
        return { answer: failureBy(error) };
      }
    },
    [Symbol.dispose]: () => database.close(),
  };
});
