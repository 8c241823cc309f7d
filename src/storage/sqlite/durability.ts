import type { DatabaseSync } from 'node:sqlite';
import { pragma } from './schema.ts';

/** `PRAGMA synchronous`: 2 is FULL, a commit returns when its bytes are on disk. */
const FULL = 2;

/** Bytes. SQLite restarts the log at some 4 MB. One that grew under a long reader would keep its size for good. */
const LOG_LIMIT = 4 * 2 ** 20;

/**
 * Sets a write-ahead log, and a sync in every commit. Both are read back: where SQLite cannot follow a pragma (no shared
 * memory on this file system), its answer is the mode that it uses instead. Called after `migrate`: processes that switch
 * an empty file to WAL together refuse each other.
 *
 * @throws Error for people, when this is not possible.
 */
export function makeDurable(database: DatabaseSync): void {
  const journal = database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
  if (journal !== 'wal') throw new Error(`its journal mode must be "wal", received "${journal}"`);
  // `fullfsync` is for macOS, where fsync(2) leaves the bytes in the drive's cache.
  database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON');
  database.exec(`PRAGMA journal_size_limit = ${LOG_LIMIT}`);
  const synchronous = pragma(database, 'synchronous');
  if (synchronous !== FULL) throw new Error(`its "synchronous" must be ${FULL}, received ${synchronous}`);
}
