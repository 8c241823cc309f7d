import { DatabaseSync } from 'node:sqlite';
import { type TodoStore, unusable } from '../store.ts';
import { TodoCache } from './cache.ts';
import { type Committed, timed } from './commit-clock.ts';
import { makeDurable } from './durability.ts';
import { notOpened } from './error.ts';
import { privateFile } from './file.ts';
import { SqliteList } from './list.ts';
import { lockFile } from './owner.ts';
import { libraryFault, libraryVersion, migrate } from './schema.ts';
import { SqliteTodoStore } from './store.ts';
import { Writer } from './writer.ts';

/** How long to wait, at start, for another program's write (the `sqlite3` shell). */
const BUSY_TIMEOUT_MS = 2_000;

const DEFAULT_CACHE_BYTES = 64 * 2 ** 20;

export interface SqliteOptions {
  /** Milliseconds to wait for another process that serves the same file, 10 000 by default (contract D6). */
  readonly patience?: number;
  /** Called once, with who it is, when another process serves the file and is waited for. */
  readonly waiting?: (owner: string) => void;
  /** Bytes of todos to keep at hand, 64 MiB by default; 0 asks SQLite for every read. */
  readonly cacheBytes?: number;
  /** Called after each commit. */
  readonly committed?: Committed;
}

/**
 * Opens the todo list in the SQLite file at `path`, and makes file and folder when they are missing (0600,
 * 0700; what exists keeps its mode). This process is its only server until the store is disposed.
 *
 * @throws {StoreNotOpened} with one line for people.
 */
export async function openSqliteStore(path: string, options: SqliteOptions = {}): Promise<TodoStore> {
  if (path === '' || path === ':memory:') throw unusable(path, 'it must be a file');
  await using parts = new AsyncDisposableStack();
  try {
    const file = privateFile(path);
    parts.use(await lockFile(file, options.patience ?? 10_000, options.waiting));
    const reader = parts.use(new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }));
    const fault = libraryFault(libraryVersion(reader)) ?? migrate(reader) ?? makeDurable(reader);
    if (fault !== undefined) throw unusable(path, fault);
    readOnly(reader);
    const cache = new TodoCache(options.cacheBytes ?? DEFAULT_CACHE_BYTES);
    const list = parts.use(new SqliteList(file));
    const writer = parts.use(new Writer(file, [timed(cache, options.committed), list]));
    return new SqliteTodoStore({ reader, cache, list, writer }, parts.move());
  } catch (error) {
    throw notOpened(path, error);
  }
}

/**
 * Turns the connection that brought the schema up into the one that reads. It runs on the main thread, so it
 * never waits for a lock; in a write-ahead log a read has none to wait for.
 */
function readOnly(database: DatabaseSync): void {
  database.exec('PRAGMA query_only = ON; PRAGMA busy_timeout = 0');
}
