import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Tell } from '../../events.ts';
import { keepNames, newPrivateFile } from '../../files.ts';
import type { Migrated } from '../operator.ts';
import { makeDurable } from './durability.ts';
import { checkFile, checkWritable, resolvePath } from './file.ts';
import { existing } from './known-file.ts';
import { lockFile } from './owner.ts';
import { checkLibrary, libraryVersion, migrate, pragma } from './schema.ts';

/** How long to wait, at start, for another program's write (the `sqlite3` shell). */
const BUSY_TIMEOUT_MS = 2_000;

export interface OwnedOptions {
  /** How long to wait for another process that serves the same file, 10 000 by default (contract D6). */
  readonly patienceMs?: number;
  /** Nobody is told by default. */
  readonly tell?: Tell;
}

/** A database that this process alone serves until it is disposed of. */
export interface OwnedDatabase extends Disposable {
  /** Absolute, every link resolved. */
  readonly path: string;
  /** Up to date, and durable. */
  readonly database: DatabaseSync;
  /** Of the schema; before, 0 when there was no file. */
  readonly versions: Migrated;
  /** There was no file. */
  readonly isNew: boolean;
}

/**
 * Opens a file as its only server, makes it when it is missing, and brings its schema up to date.
 *
 * @throws {StoreNotOpened} `owned`, or an Error that says why the file will not do.
 */
export async function openOwned(
  name: string,
  { patienceMs = 10_000, tell = () => {} }: OwnedOptions,
): Promise<OwnedDatabase> {
  if (name === '' || name === ':memory:') throw new Error('it must be a file');
  using parts = new DisposableStack();
  const path = resolvePath(name);
  checkWritable(path);
  parts.use(await lockFile(path, patienceMs, (owner) => tell({ event: 'waiting', owner })));
  const isNew = !existsSync(path);
  if (isNew) for (const log of makeDatabase(path)) tell({ event: 'log-moved', path: log });
  checkFile(path);
  const database = parts.use(new DatabaseSync(existing(path), { timeout: BUSY_TIMEOUT_MS }));
  const from = isNew ? 0 : pragma(database, 'user_version');
  checkLibrary(libraryVersion(database));
  migrate(database);
  const to = pragma(database, 'user_version');
  makeDurable(database);
  const owned = parts.move();
  return { path, database, versions: { from, to }, isNew, [Symbol.dispose]: () => owned.dispose() };
}

/**
 * Makes a database (0600) where there is none. It gets its name when it is complete and on disk: who is killed
 * before leaves nothing that looks like a database. Nobody else makes one meanwhile.
 *
 * @returns the new paths of logs that a database of this name has left behind: SQLite would write their pages into
 * the new one.
 */
function makeDatabase(path: string): readonly string[] {
  const unfinished = `${path}.new`;
  removeDatabase(unfinished);
  try {
    newPrivateFile(unfinished);
    using database = new DatabaseSync(unfinished);
    migrate(database);
  } catch (error) {
    removeDatabase(unfinished);
    throw error;
  }
  const moved = moveLogsAside(path);
  renameSync(unfinished, path);
  keepNames(dirname(path));
  return moved;
}

/** Removes a database that nobody has open, with all that SQLite puts beside it. */
export function removeDatabase(path: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

function moveLogsAside(path: string): readonly string[] {
  const logs = ['-journal', '-wal'].map((suffix) => path + suffix).filter(isLog);
  return logs.map((log) => {
    const aside = `${log}.${Date.now()}`;
    renameSync(log, aside);
    return aside;
  });
}

function isLog(path: string): boolean {
  return existsSync(path) && statSync(path).size > 0;
}
