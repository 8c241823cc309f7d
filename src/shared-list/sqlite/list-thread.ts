import { DatabaseSync } from 'node:sqlite';
import type { ListSnapshot } from '../list-json.ts';
import { type Failure, failureBy } from './failure.ts';
import { type Service, serveThread } from './in-thread.ts';
import { type Dirty, ListChunks } from './list-chunks.ts';

// The thread that builds the list.
serveThread((file): Service<Dirty, ListSnapshot | Failure> => {
  const database = new DatabaseSync(file, { timeout: 0 });
  database.exec('PRAGMA query_only = ON');
  const chunks = new ListChunks(database);
  return {
    answer: (dirty) => {
      try {
        const snapshot = chunks.refresh(dirty);
        return { answer: snapshot, transfer: [snapshot.bytes.buffer] };
      } catch (error) {
        return { answer: failureBy(error) };
      }
    },
    [Symbol.dispose]: () => database.close(),
  };
});
