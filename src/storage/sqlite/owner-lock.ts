import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPrivateFile } from '../../lib/durable-files.ts';
import { errorCode, orUndefined } from '../../lib/errors.ts';
import type { OperatorError } from '../../lib/operator-error.ts';
import { notOpened } from '../../shared-list/store.ts';
import { isBusy } from './error.ts';
import { BUSY_TIMEOUT_MS, checkWritable, existing, ownerFor } from './file.ts';

const { O_RDWR, O_NOFOLLOW } = constants;

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
