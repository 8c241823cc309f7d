import { existsSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { LogEvent } from '../../events.ts';
import { keepNames, newPrivateFile } from '../../lib/durable-files.ts';
import { messageOf } from '../../lib/errors.ts';
import { OutcomeUnknown } from '../../shared-list/store.ts';
import type { Migrated } from '../maintenance.ts';
import { makeDurable } from './durability.ts';
import { asNotOpened } from './error.ts';
import {
  BUSY_TIMEOUT_MS,
  checkFile,
  checkKind,
  checkWritable,
  existing,
  LOGS,
  ownerFor,
  removeDatabase,
  resolvePath,
} from './file.ts';
import { lockFile } from './owner-lock.ts';
import { checkLibrary, libraryVersion, migrate } from './schema.ts';

export interface OwnedOptions {
  /** Milliseconds to wait for another process that serves the same file, 10 000 by default (contract D6). */
  readonly patienceMs?: number;
  readonly logEvent: LogEvent;
}

/**
 * Opens a file as its only server until it is disposed of, makes it when it is missing (`isNew`), and brings its schema
 * up to date.
 *
 * @returns the path with every link resolved, the database, which is durable, and the versions of its schema, from 0 when
 * it is new.
 * @throws {OperatorError} `in-use` when another process serves it, `unavailable` when the file is unusable.
 */
export async function openOwned(name: string, { patienceMs = 10_000, logEvent }: OwnedOptions) {
  using parts = new DisposableStack();
  try {
    if (name === ':memory:') throw new Error('it must be a file');
    const path = resolvePath(name);
    checkKind(path);
    checkWritable(path);
    parts.use(await lockFile(path, patienceMs, (owner) => logEvent({ event: 'waiting', owner })));
    const made = existsSync(path) ? undefined : makeDatabase(path, logEvent);
    checkFile(path);
    reportLeftLogs(path, logEvent);
    const database = parts.use(new DatabaseSync(existing(path), { timeout: BUSY_TIMEOUT_MS }));
    checkLibrary(libraryVersion(database));
    const versions = made ?? migrate(database);
    makeDurable(database);
    const owned = parts.move();
    return { path, database, versions, isNew: made !== undefined, [Symbol.dispose]: () => owned.dispose() };
  } catch (error) {
    throw asNotOpened(name, error);
  }
}

/** Bytes before the first page of a write-ahead log (https://www.sqlite.org/fileformat2.html#walformat). */
const LOG_HEADER = 32;

/** Reports logs with pages, which SQLite is about to bring into the database. */
function reportLeftLogs(path: string, logEvent: LogEvent): void {
  for (const suffix of LOGS) {
    const stats = statSync(path + suffix, { throwIfNoEntry: false });
    if (stats === undefined || stats.size <= LOG_HEADER) continue;
    const modified = stats.mtime.toISOString();
    logEvent({ event: 'log-found', path: path + suffix, bytes: stats.size, modified });
  }
}

/**
 * Makes a database (0600) where there is none. It gets its name when it is complete and on disk: a kill before that
 * leaves nothing that looks like a database. No other process makes one meanwhile. Logs that a database of this name has
 * left behind get other names: SQLite would write their pages into the new one.
 */
function makeDatabase(path: string, logEvent: LogEvent): Migrated {
  const unfinished = `${path}.new`;
  removeDatabase(unfinished);
  try {
    newPrivateFile(unfinished, ownerFor(path));
    const versions = migrateFile(unfinished);
    nameDatabase(unfinished, path, logEvent);
    return versions;
  } catch (error) {
    removeDatabase(unfinished);
    throw error;
  }
}

function migrateFile(path: string): Migrated {
  using database = new DatabaseSync(path);
  return migrate(database);
}

/**
 * Gives a database that is complete and on disk its name. Logs beside that name belong to another, and get other names.
 *
 * @param asideOf The new name of a log, by its suffix.
 * @throws {OutcomeUnknown} when only a power cut would show which names are on disk. After any other error, all names are
 * as they were.
 */
export function nameDatabase(
  unfinished: string,
  path: string,
  logEvent: LogEvent,
  asideOf = (suffix: string) => `${path}${suffix}.${Date.now()}`,
): void {
  const moved: { readonly log: string; readonly aside: string }[] = [];
  try {
    for (const suffix of LOGS) {
      const log = path + suffix;
      if (!existsSync(log) || statSync(log).size === 0) continue;
      const aside = asideOf(suffix);
      renameSync(log, aside);
      moved.push({ log, aside });
    }
    keepNames(dirname(path));
    renameSync(unfinished, path);
  } catch (error) {
    orUnknown(
      () => {
        for (const { log, aside } of moved) renameSync(aside, log);
        if (moved.length > 0) keepNames(dirname(path));
      },
      `whether ${moved.map(({ aside }) => aside).join(' and ')} got the old name again`,
    );
    throw error;
  }
  for (const { aside } of moved) logEvent({ event: 'log-moved', path: aside });
  orUnknown(() => keepNames(dirname(path)), 'whether it was done');
}

/** @throws {OutcomeUnknown} when this step fails. @param what For people, behind "nobody knows". */
function orUnknown(step: () => void, what: string): void {
  try {
    step();
  } catch (error) {
    throw new OutcomeUnknown(`nobody knows ${what}: ${messageOf(error)}`, { cause: error });
  }
}
