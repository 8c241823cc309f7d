import { Batches, type BatchResult, type Probe, type Write } from './batch.ts';
import { watchElsewhere } from './changes-elsewhere.ts';
import { makeDurable } from './durability.ts';
import { isMachineFault } from './error.ts';
import { type Service, serveThread } from './in-thread.ts';
import { changeOf, openKnown } from './known-file.ts';

/**
 * How long to wait for another program's write (the `sqlite3` shell). A write may wait for the batch
 * before it too, and is to be refused within 2.5 s.
 */
const BUSY_TIMEOUT_MS = 1_000;

/** Between two looks for another program's changes, which are to be seen within 100. */
const LOOK_INTERVAL_MS = 50;

// The one thread that writes.
serveThread(
  (file, onNews: (news: 'changed-elsewhere') => void): Service<readonly (Write | Probe)[], BatchResult> => {
    const database = openKnown(file, { timeout: BUSY_TIMEOUT_MS });
    makeDurable(database);
    const lookElsewhere = watchElsewhere(database, () => onNews('changed-elsewhere'));
    const batches = new Batches(database, lookElsewhere, () => changeOf(file));
    const looking = setInterval(() => lookIfReadable(lookElsewhere), LOOK_INTERVAL_MS);
    return {
      answer: (writes) => ({ answer: batches.commit(writes) }),
      [Symbol.dispose]: () => {
        clearInterval(looking);
        database.close();
      },
    };
  },
);

/** A database that cannot be read now is looked at again in a moment. */
function lookIfReadable(look: () => void): void {
  try {
    look();
  } catch (error) {
    if (!isMachineFault(error)) throw error;
  }
}
