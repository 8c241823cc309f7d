import { type Service, serveThread } from './in-thread.ts';
import { openKnown } from './known-file.ts';

// The thread that reads a whole file which seemed damaged. It ends by itself where the disk does not read it.
serveThread((file): Service<'examine', boolean> => {
  const database = openKnown(file, { timeout: 0 });
  const examine = database.prepare('PRAGMA integrity_check(1)');
  return {
    answer: () => ({ answer: examine.get()?.integrity_check === 'ok' }),
    [Symbol.dispose]: () => database.close(),
  };
});
