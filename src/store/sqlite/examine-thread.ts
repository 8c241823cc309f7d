import { serveThread } from './thread.ts';

// The thread that reads a whole file which seemed damaged. It ends by itself where the disk does not read it.
serveThread<'examine', boolean>(0, (database) => {
  const examine = database.prepare('PRAGMA integrity_check(1)');
  return () => ({ answer: examine.get()?.integrity_check === 'ok' });
});
