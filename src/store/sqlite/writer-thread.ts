import type { DatabaseSync } from 'node:sqlite';
import { type BatchResult, type Probe, prepareBatches, type Write } from './batch.ts';
import { watchElsewhere } from './changes-elsewhere.ts';
import { makeDurable } from './durability.ts';
import { isMachineFault } from './error.ts';
import { serveThread } from './in-thread.ts';
import { changeOf } from './known-file.ts';

/**
 * How long to wait for another program's write (the `sqlite3` shell). A write may wait for the batch
 * before it too, and is to be refused within 2.5 s.
 */
const BUSY_TIMEOUT_MS = 1_000;

/** Between two looks for another program's changes, which are to be seen within 100. */
const LOOK_INTERVAL_MS = 50;

// The one thread that writes.
serveThread<readonly (Write | Probe)[], BatchResult>(BUSY_TIMEOUT_MS, (database, file, onChanged) => {
  makeDurable(database);
  const lookElsewhere = watchElsewhere(database, onChanged);
  // What was read before may be older than a change that is not seen here.
  onChanged();
  const commit = prepareBatches(database, lookElsewhere, () => changeOf(file));
  setInterval(() => lookIfReadable(database, lookElsewhere), LOOK_INTERVAL_MS).unref();
  return (writes) => ({ answer: commit(writes) });
});

/** A database that cannot be read now is looked at again in a moment; one that is closed, never. */
function lookIfReadable(database: DatabaseSync, look: () => void): void {
  try {
    if (database.isOpen) look();
  } catch (error) {
    if (!isMachineFault(error)) throw error;
  }
}
