import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { SETTINGS } from '../../settings.ts';
import type { TodoStore } from '../store.ts';
import { TodoCache } from './cache.ts';
import { notOpened } from './error.ts';
import { knownFile } from './file.ts';
import { FileHealth } from './health.ts';
import { SqliteList } from './list.ts';
import { type OwnedOptions, openOwned } from './owned-database.ts';
import { latestVersion } from './schema.ts';
import { sqliteStore } from './store.ts';
import { Writer } from './writer.ts';

export interface SqliteOptions extends OwnedOptions {
  /** Bytes of todos to keep at hand, 64 MiB by default; 0 asks SQLite for every read. */
  readonly cacheBytes?: number;
}

/**
 * Opens the todo list in the SQLite file at `path`, and makes file and folder when they are missing (0600,
 * 0700; what exists keeps its mode). This process is its only server until the store is disposed.
 *
 * @throws {StoreNotOpened} with one line for people.
 */
export async function openSqliteStore(path: string, options: SqliteOptions = {}): Promise<TodoStore> {
  const { tell = () => {} } = options;
  await using resources = new AsyncDisposableStack();
  try {
    const owned = resources.use(await openOwned(path, options));
    const { database: reader, versions } = owned;
    if (versions.from !== versions.to) tell({ event: 'schema-migrated', ...versions });
    const own = latestVersion();
    if (versions.to > own) tell({ event: 'schema-newer', version: versions.to, own });
    readOnly(reader);
    const file = knownFile(resolve(path), owned.path);
    const health = resources.use(new FileHealth(file, path, tell));
    const cache = new TodoCache(options.cacheBytes ?? SETTINGS.TODO_CACHE_MB.default * 2 ** 20);
    const list = resources.use(new SqliteList(file, health));
    const writer = resources.use(new Writer(file, [cache, list], health));
    const opened = resources.move();
    return sqliteStore({ file, reader, cache, list, writer, health }, () => opened.disposeAsync());
  } catch (error) {
    throw notOpened(path, error);
  }
}

/**
 * Turns the connection that brought the schema up into the one that reads. It runs on the main thread, so it
 * never waits for a lock; in a write-ahead log a read has none to wait for. The first read makes that log.
 */
function readOnly(database: DatabaseSync): void {
  database.exec('PRAGMA query_only = ON; PRAGMA busy_timeout = 0; SELECT 1 FROM sqlite_schema LIMIT 1');
}
