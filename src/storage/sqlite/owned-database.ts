import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  statSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogEvent } from '../../events.ts';
import { keepNames, newPrivateFile } from '../../lib/durable-files.ts';
import { errorCode, messageOf, orUndefined } from '../../lib/errors.ts';
import type { OperatorError } from '../../lib/operator-error.ts';
import { notOpened, OutcomeUnknown } from '../../shared-list/store.ts';
import type { Migrated } from '../maintenance.ts';
import { makeDurable } from './durability.ts';
import { asNotOpened, isBusy } from './error.ts';
import {
  checkFile,
  checkKind,
  checkWritable,
  existing,
  LOGS,
  ownerFor,
  removeDatabase,
  resolvePath,
} from './file.ts';
import { checkLibrary, libraryVersion, migrate } from './schema.ts';

const { O_RDWR, O_NOFOLLOW } = constants;

/** Milliseconds to wait, at start, for another program's write or, beside the database, its read (the `sqlite3` shell). */
export const BUSY_TIMEOUT_MS = 2_000;

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

const READ_OWNER = 'SELECT pid, host, since FROM owner WHERE only = 1';
const NAME_OWNER = 'INSERT OR REPLACE INTO owner (only, pid, host, since) VALUES (1, ?, ?, ?)';
const TABLE = `CREATE TABLE IF NOT EXISTS owner (
  only INTEGER PRIMARY KEY CHECK (only = 1), pid INTEGER NOT NULL, host TEXT NOT NULL, since TEXT NOT NULL
) STRICT`;

/** Milliseconds between two tries for a database that another process still owns. */
const RETRY_INTERVAL_MS = 50;

/** Tries of one claim. Each process that starts meanwhile may empty the sidecar once more, or write its name. */
const MAX_TRIES = 20;

/**
 * Makes this process the only one that serves `database`, until disposed or dead (contract D6).
 *
 * The lock is an open write transaction on the sidecar `<database>-owner`: the kernel frees it when the owner dies, and
 * the database itself stays writable for the `sqlite3` shell. The sidecar keeps a rollback journal, in which others may
 * read the owner's name while the transaction is open. It is never unlinked, renamed or replaced: the lock is one of the
 * inode, and a new file beside it would have a second owner.
 *
 * @param patienceMs Milliseconds to wait for another owner to leave.
 * @param waiting Called once, with the name of the other owner, when there is one.
 * @throws {OperatorError} `in-use`, naming the other process, when that time is over.
 */
export async function lockFile(
  database: string,
  patienceMs: number,
  waiting: (owner: string) => void,
): Promise<Disposable> {
  const path = `${database}-owner`;
  checkWritable(path);
  makeSidecar(path, database);
  const deadline = performance.now() + patienceMs;
  for (let isFirst = true; ; isFirst = false) {
    const claimed = claim(path);
    if (typeof claimed !== 'string') return claimed;
    if (isFirst) waiting(claimed);
    if (performance.now() >= deadline) throw owned(database, claimed, patienceMs);
    await sleep(RETRY_INTERVAL_MS);
  }
}

/** As `claimSound`. A sidecar that cannot be claimed for another reason than its owner is emptied first. */
function claim(path: string): Disposable | string {
  for (let tries = 1; ; tries += 1) {
    try {
      return claimSound(path);
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
      empty(path);
    }
  }
}

/**
 * The sidecar, locked, with this process's name; or the name of another owner. A name must be committed to be seen, and a
 * commit releases the lock for a moment, in which another process may write its own: the name is read under the lock that
 * stays.
 */
function claimSound(path: string): Disposable | string {
  using parts = new DisposableStack();
  const sidecar = parts.use(new DatabaseSync(existing(path)));
  const self = [process.pid, hostname(), new Date().toISOString()] as const;
  try {
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      lock(sidecar);
      sidecar.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; ${TABLE}`);
      if (ownerOf(sidecar) === nameOf(...self)) {
        parts.move();
        return sidecar;
      }
      sidecar.prepare(NAME_OWNER).run(...self);
      sidecar.exec('COMMIT');
    }
    throw new Error('its lock does not keep the name of its owner');
  } catch (error) {
    if (!isBusy(error)) throw error;
  }
  if (sidecar.isTransaction) sidecar.exec('ROLLBACK');
  return ownerOf(sidecar);
}

/** In a write-ahead log the lock is on another file, and keeps no owner out that has locked the sidecar itself. */
function lock(sidecar: DatabaseSync): void {
  sidecar.exec('BEGIN IMMEDIATE');
  const mode = sidecar.prepare('PRAGMA journal_mode').get()?.journal_mode;
  if (mode !== 'delete') throw new Error(`the journal mode of its lock must be "delete", received "${mode}"`);
}

/**
 * Empties a sidecar in place, whoever has it locked. This process has not: closing a descriptor would drop its lock.
 *
 * @throws Error for a link, a file with several names, and a database of todos, which stay as they are.
 */
function empty(path: string): void {
  const descriptor = openSync(path, O_RDWR | O_NOFOLLOW);
  try {
    const header = Buffer.alloc(72);
    readSync(descriptor, header, 0, header.length, 0);
    const isOfTodos = header.toString('latin1', 68) === 'todo';
    if (isOfTodos || fstatSync(descriptor).nlink !== 1)
      throw new Error(
        `"${basename(path)}" is no lock of this program: move it away while no process serves todos`,
      );
    ftruncateSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function owned(database: string, owner: string, patienceMs: number): OperatorError {
  const waited = patienceMs === 0 ? '' : `, and was not free within ${patienceMs / 1000} s`;
  const fault = `it is served by ${owner}${waited}. One SQLite file is served by one process`;
  return notOpened(database, fault, 'in-use');
}

function nameOf(pid: unknown, host: unknown, since: unknown): string {
  return `process ${pid} on ${host} since ${since}`;
}

function ownerOf(sidecar: DatabaseSync): string {
  // While the other process writes its name, there is no table, or it cannot be read.
  const owner = orUndefined(() => sidecar.prepare(READ_OWNER).get());
  return owner === undefined ? 'another process' : nameOf(owner.pid, owner.host, owner.since);
}

/**
 * Makes an empty file (0600) where there is none. It belongs to the owner of the database, as SQLite's log does, or of
 * the folder: else the service could not open a file that root's `migrate` has made.
 *
 * `wx` opens only a file that did not exist: closing any descriptor of a database that is open in this process would drop
 * its locks (POSIX `fcntl`, https://www.sqlite.org/howtocorrupt.html §2.2).
 */
function makeSidecar(path: string, database: string): void {
  try {
    newPrivateFile(path, ownerFor(database));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}
