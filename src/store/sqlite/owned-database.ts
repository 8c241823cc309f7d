import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Migrated } from '../operator.ts';
import { makeDurable } from './durability.ts';
import { checkFile, checkWritable, resolvePath } from './file.ts';
import { existing } from './known-file.ts';
import { makeDatabase } from './new-database.ts';
import { lockFile } from './owner.ts';
import { checkLibrary, libraryVersion, migrate, pragma } from './schema.ts';

/** How long to wait, at start, for another program's write (the `sqlite3` shell). */
const BUSY_TIMEOUT_MS = 2_000;

export interface OwnedOptions {
  /** How long to wait for another process that serves the same file, 10 000 by default (contract D6). */
  readonly patienceMs?: number;
  /** Called once, with who it is, when another process serves the file and is waited for. */
  readonly waiting?: (owner: string) => void;
  /** Called for a log without its database, with its new path: the file that it belongs to was deleted. */
  readonly onLogMoved?: (path: string) => void;
  /** Called when the schema was made or brought up to date. */
  readonly onMigrated?: (versions: Migrated) => void;
}

/** A database that this process alone serves until it is disposed of. */
export interface OwnedDatabase extends Disposable {
  /** Absolute, every link resolved. */
  readonly path: string;
  /** Up to date, and durable. */
  readonly database: DatabaseSync;
  /** Of the schema; before, 0 when there was no file. */
  readonly versions: Migrated;
}

/**
 * Opens a file as its only server, makes it when it is missing, and brings its schema up to date.
 *
 * @throws {StoreNotOpened} `owned`, or an Error that says why the file will not do.
 */
export async function openOwned(name: string, options: OwnedOptions): Promise<OwnedDatabase> {
  if (name === '' || name === ':memory:') throw new Error('it must be a file');
  using parts = new DisposableStack();
  const path = resolvePath(name);
  checkWritable(path);
  parts.use(await lockFile(path, options.patienceMs ?? 10_000, options.waiting));
  const isNew = !existsSync(path);
  if (isNew) for (const log of makeDatabase(path)) options.onLogMoved?.(log);
  checkFile(path);
  const database = parts.use(new DatabaseSync(existing(path), { timeout: BUSY_TIMEOUT_MS }));
  const from = isNew ? 0 : pragma(database, 'user_version');
  checkLibrary(libraryVersion(database));
  migrate(database);
  const to = pragma(database, 'user_version');
  if (from !== to) options.onMigrated?.({ from, to });
  makeDurable(database);
  const owned = parts.move();
  return { path, database, versions: { from, to }, [Symbol.dispose]: () => owned.dispose() };
}
