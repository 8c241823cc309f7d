import type { DatabaseSync } from 'node:sqlite';
import { type BatchResult, prepareBatches, type Write } from './batch.ts';
import { isMachineFault } from './error.ts';
import { changeOf } from './file.ts';
import { makeDurable } from './schema.ts';
import { serveThread } from './thread.ts';

/**
 * How long to wait for another program's write (the `sqlite3` shell). A write may wait for the batch
 * before it too, and is to be refused within 2.5 s.
 */
const BUSY_TIMEOUT_MS = 1_000;

/** Between two polls for another program's changes, which are to be seen within 100. */
const POLL_INTERVAL_MS = 50;

// The one thread that writes.
serveThread<readonly Write[], BatchResult>(BUSY_TIMEOUT_MS, (database, file, onChanged) => {
  makeDurable(database);
  const pollElsewhere = preparePoll(database, onChanged);
  // What was read before may be older than a change that is not seen here.
  onChanged();
  setInterval(() => {
    try {
      if (database.isOpen) pollElsewhere();
    } catch (error) {
      // A database that cannot be read now may be read in a moment.
      if (!isMachineFault(error)) throw error;
    }
  }, POLL_INTERVAL_MS).unref();
  const commit = prepareBatches(database, pollElsewhere, () => changeOf(file));
  return (writes) => ({ answer: commit(writes) });
});

/**
 * Finds changes that another connection has committed since the last poll; those of this connection, and what others
 * read, do not count: https://www.sqlite.org/pragma.html#pragma_data_version
 */
function preparePoll(database: DatabaseSync, onChanged: () => void): () => void {
  const statement = database.prepare('PRAGMA data_version');
  let seen = statement.get()?.data_version;
  return () => {
    const version = statement.get()?.data_version;
    if (version !== seen) onChanged();
    seen = version;
  };
}
