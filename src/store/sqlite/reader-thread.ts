import { type Failure, failureBy } from './error.ts';
import { type ListPart, prepareList, type ReadChunk } from './list-reader.ts';
import { serveThread } from './thread.ts';

// The thread that reads the list, or examines the whole of a file which seemed damaged.
serveThread<ListPart | 'examine', readonly ReadChunk[] | boolean | Failure>(0, (database) => {
  database.exec('PRAGMA query_only = ON');
  let read: ReturnType<typeof prepareList> | undefined;
  return (order) => {
    try {
      if (order === 'examine') {
        const found = database.prepare('PRAGMA integrity_check(1)').get();
        return { answer: found?.integrity_check === 'ok' };
      }
      read ??= prepareList(database);
      const chunks = read(order);
      // Each once: several chunks may be parts of one.
      const buffers = new Set(chunks.flatMap(([, chunk]) => chunk?.json.buffer ?? []));
      return { answer: chunks, transfer: [...buffers] };
    } catch (error) {
      return { answer: failureBy(error) };
    }
  };
});
