import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { makeFolder } from '../../lib/durable-files.ts';
import { errorCode } from '../../lib/errors.ts';
import { type Failure, NotOurs } from './error.ts';
import { isMountedAlone } from './file-system.ts';

const { R_OK, W_OK, X_OK } = constants;

/** Milliseconds to wait, at start, for another program's write or, beside the database, its read (the `sqlite3` shell). */
export const BUSY_TIMEOUT_MS = 2_000;

/** Milliseconds to wait for the service's write. */
const SERVED_TIMEOUT_MS = 5_000;

/** Suffixes of the files in which SQLite keeps changes that are not in the database itself yet, or no longer. */
export const LOGS = ['-journal', '-wal'];

/** Suffixes of the database itself, and of the files that SQLite keeps beside it. */
const BESIDE = ['', ...LOGS, '-shm'];

/** Makes the folder (0700) where it is missing, and gives the path with every link resolved. */
export function resolvePath(path: string): string {
  const absolute = resolve(path);
  makeFolder(dirname(absolute));
  const isThere = lstatSync(absolute, { throwIfNoEntry: false }) !== undefined;
  return isThere ? realpathSync(absolute) : join(realpathSync(dirname(absolute)), basename(absolute));
}

/** Throws an Error for people when a file is not there, or is not to be opened. */
export function checkFile(path: string): void {
  const stats = checkKind(path);
  if (stats === undefined) throw new Error('there is no such file, "todo-service serve" makes it');
  if (stats.size > 0) return;
  throw new NotOurs(
    'it is empty, as after an interrupted copy: restore a backup, or remove it to begin with no todos',
  );
}

/** Throws an Error for people when a path is no file, has several names, or it or a file beside it is mounted alone. */
export function checkKind(path: string): Stats | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw new Error('it must be a file');
  if (stats.nlink !== 1)
    throw new Error(
      `it has ${stats.nlink} names (hard links), and SQLite keeps another log for each: remove all but one`,
    );
  const resolved = realpathSync(path);
  const alone = [...BESIDE, '-owner'].find((suffix) => isMountedAlone(resolved + suffix));
  if (alone === undefined) return stats;
  const name = alone === '' ? 'it' : `"${basename(resolved)}${alone}"`;
  throw new Error(
    `${name} is mounted alone, and SQLite keeps its log beside it: mount its folder in its place`,
  );
}

/**
 * Throws an Error for people when this user may not write a database, or a file that SQLite keeps beside it. SQLite also
 * opens a file that it may only read, and makes `-shm` with the mode of the database: a read-only one keeps every process
 * from writing, for good.
 */
export function checkWritable(path: string): void {
  checkLength(path);
  for (const suffix of BESIDE) {
    if (statSync(path + suffix, { throwIfNoEntry: false })?.isDirectory())
      throw new Error(`"${basename(path)}${suffix}" is a folder: remove it`);
    checkRights(path + suffix, R_OK | W_OK, 'read and write');
  }
  if (!existsSync(`${path}-shm`)) checkRights(dirname(path), W_OK | X_OK, 'make files in');
}

/** Throws an Error for people when this user may not read a database. */
export function checkReadable(path: string): void {
  checkLength(path);
  for (const suffix of BESIDE) checkRights(path + suffix, R_OK, 'read');
}

/**
 * Opens a database beside the process that serves it, or when no process does. A user who may only read it can do so
 * beside that process, which has made the files that SQLite keeps beside it.
 *
 * @throws Error for people when this user lacks rights.
 */
export function openExisting(path: string): DatabaseSync {
  const readOnly = existsSync(`${path}-shm`) && accessFault(path, W_OK) !== undefined;
  if (readOnly) checkReadable(path);
  else checkWritable(path);
  // A URI, because SQLite would take the name `file:t.db` for one.
  return new DatabaseSync(existing(path, readOnly), { timeout: SERVED_TIMEOUT_MS });
}

/** Bytes. SQLite opens no longer path: it keeps 512 for that of a journal, and its error is "unable to open". */
const MAX_PATH_LENGTH = 504;

/** Throws an Error for people when SQLite cannot open a path for its length. */
export function checkLength(path: string): void {
  const length = Buffer.byteLength(resolve(path));
  if (length <= MAX_PATH_LENGTH) return;
  throw new Error(
    `the path of "${basename(path)}" must have at most ${MAX_PATH_LENGTH} bytes for SQLite, received ${length}`,
  );
}

/** The owner for a file that root makes beside a database: that of the database, or of its folder. */
export function ownerFor(path: string): Stats {
  return statSync(path, { throwIfNoEntry: false }) ?? statSync(dirname(path));
}

/** Removes a database that no other process has open, with SQLite's files beside it. Never throws: an earlier error says why. */
export function removeDatabase(path: string): void {
  for (const suffix of BESIDE) {
    try {
      rmSync(path + suffix, { force: true });
    } catch {
      // A name that is too long for a look was not made.
    }
  }
}

/** Throws an Error for people when this user lacks rights on an existing path. */
function checkRights(path: string, wanted: number, action: string): void {
  const fault = accessFault(path, wanted);
  if (fault === undefined || fault === 'ENOENT') return;
  throw new Error(
    `user ${process.getuid?.()} may not ${action} "${basename(path)}": ${reasonOf(fault, path)} (${fault})`,
  );
}

/** The reason of a refusal. Owner and mode decide nothing on a read-only file system, or against an attribute. */
function reasonOf(fault: string, path: string): string {
  if (fault === 'EROFS') return 'its file system is mounted read-only';
  if (fault === 'EPERM') return 'it may be immutable, which "lsattr" shows';
  const { uid, gid, mode } = statSync(path);
  const octal = (mode & 0o7777).toString(8).padStart(3, '0');
  return `it belongs to user ${uid} and group ${gid}, and its mode is ${octal}`;
}

/** The code of the system's refusal, like `EACCES`. */
function accessFault(path: string, wanted: number): string | undefined {
  try {
    accessSync(path, wanted);
    return undefined;
  } catch (error) {
    return errorCode(error) ?? String(error);
  }
}

/** A database that was opened, and the files of its names at that time. It crosses threads. */
export interface KnownFile {
  /** The path that the operator gave: a link in it may lead elsewhere one day. */
  readonly name: string;
  /** Absolute, every link resolved. */
  readonly path: string;
  /** Device and inode by path: of the file, its log, its index of the log and its lock. */
  readonly identities: ReadonlyMap<string, string | undefined>;
}

/**
 * The files behind the names of an open database. They are looked at, never opened: closing any descriptor of a database
 * drops the locks of this process (POSIX `fcntl`, https://www.sqlite.org/howtocorrupt.html §2.2).
 */
export function knownFile(name: string, path: string): KnownFile {
  const paths = new Set([resolve(name), path, ...['-wal', '-shm', '-owner'].map((suffix) => path + suffix)]);
  return { name, path, identities: new Map([...paths].map((each) => [each, identityOf(each)])) };
}

/**
 * Undefined when each name still has its file, else the failure. A name that is gone counts even where the others cannot
 * be looked at (contract D11; D16). The message names no folder.
 */
export function lookAt({ identities }: KnownFile): Failure | undefined {
  let unseen: Failure | undefined;
  for (const [path, identity] of identities) {
    const name = `"${basename(path)}"`;
    const gone = (message: string) => ({ failure: 'broken', state: 'gone', message }) as const;
    try {
      const now = identityOf(path);
      if (now === undefined) return gone(`${name} was deleted or moved away`);
      if (now !== identity) return gone(`${name} was replaced by another file`);
    } catch (error) {
      const message = `${name} cannot be looked at: ${errorCode(error)}`;
      unseen ??= { failure: 'unavailable', state: 'unseen', message };
    }
  }
  return unseen;
}

/** Another connection to a known file, with a `timeout` in ms. @throws Error when it is gone, another, or unseen. */
export function openKnown(file: KnownFile, timeout: number): DatabaseSync {
  const database = new DatabaseSync(existing(file.path), { timeout });
  const found = lookAt(file);
  if (found === undefined) return database;
  database.close();
  throw new Error(found.message);
}

/** The URL of a file that SQLite must not make, nor write when it is `readOnly`. The path may be relative. */
export function existing(path: string, readOnly = false): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', readOnly ? 'ro' : 'rw');
  // Without it SQLite would make the file, with the rights of this user.
  if (readOnly) url.searchParams.set('readonly_shm', '1');
  return url;
}

/** Device and inode; undefined when there is nothing of this name. */
export function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}
