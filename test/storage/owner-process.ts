// A process that makes itself the only server of each SQLite file that it is sent, and answers what came of it. A message
// with a path alone frees that file.

import { lockFile } from '../../src/storage/sqlite/owner-lock.ts';

interface Order {
  readonly path: string;
  /** Milliseconds. */
  readonly patienceMs?: number;
}

const held = new Map<string, Disposable>();

process.on('message', async ({ path, patienceMs }: Order) => {
  process.send?.({ path, outcome: await done(path, patienceMs) });
});

async function done(path: string, patienceMs?: number): Promise<string> {
  if (patienceMs === undefined) {
    held.get(path)?.[Symbol.dispose]();
    return 'free';
  }
  try {
    held.set(path, await lockFile(path, patienceMs, () => {}));
    return 'held';
  } catch (error) {
    const { reason, message } = error as { reason?: string; message: string };
    return reason ?? message;
  }
}
