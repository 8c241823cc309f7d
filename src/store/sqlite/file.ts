import { accessSync, constants, existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolder, newPrivateFile } from '../../files.ts';

const { R_OK, W_OK, X_OK } = constants;

/** The database itself, and what SQLite keeps beside it. */
const BESIDE = ['', '-journal', '-wal', '-shm'];

/** Makes the folder (0700) where it is missing, and gives the path with every link resolved. */
export function resolvePath(path: string): string {
  const absolute = resolve(path);
  makeFolder(dirname(absolute));
  const isThere = lstatSync(absolute, { throwIfNoEntry: false }) !== undefined;
  return isThere ? realpathSync(absolute) : join(realpathSync(dirname(absolute)), basename(absolute));
}

/** Throws an Error for people when a file that is there is not to be opened. */
export function checkFile(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new Error('there is no such file, "todo-service serve" makes it');
  if (!stats.isFile()) throw new Error('it must be a file');
  if (stats.size === 0) {
    throw new Error(
      'it is empty, as after an interrupted copy: restore a backup, or remove it to begin with no todos',
    );
  }
  if (stats.nlink === 1) return;
  throw new Error(
    `it has ${stats.nlink} names (hard links), and SQLite keeps another log for each: remove all but one`,
  );
}

/**
 * Throws an Error for people when this user may not write a database, or a file that SQLite keeps beside it. SQLite
 * opens even what it may only read, and makes `-shm` with the mode of the database: one that is read-only
 * keeps everybody from writing, for good.
 */
export function checkWritable(path: string): void {
  for (const suffix of BESIDE) checkRights(path + suffix, R_OK | W_OK, 'read and write');
  if (!existsSync(`${path}-shm`)) checkRights(dirname(path), W_OK | X_OK, 'make files in');
}

/** Throws an Error for people when this user may not read a database. */
export function checkReadable(path: string): void {
  for (const suffix of BESIDE) checkRights(path + suffix, R_OK, 'read');
}

/**
 * Whether this user may only read a database, and somebody else has made what SQLite keeps beside it.
 *
 * @throws Error for people when a file of it may not be read either.
 */
export function isReadOnlyBeside(path: string): boolean {
  if (!existsSync(`${path}-shm`) || accessFault(path, W_OK) === undefined) return false;
  checkReadable(path);
  return true;
}

/** Throws an Error for people when this user lacks rights on what is there. */
function checkRights(path: string, wanted: number, action: string): void {
  const fault = accessFault(path, wanted);
  if (fault === undefined || fault === 'ENOENT') return;
  const { uid, gid, mode } = statSync(path);
  const octal = (mode & 0o7777).toString(8).padStart(3, '0');
  throw new Error(
    `user ${process.getuid?.()} may not ${action} "${basename(path)}": it belongs to user ${uid} and group ${gid}, ` +
      `and its mode is ${octal} (${fault})`,
  );
}

/** The code of the system's refusal, like `EACCES`. */
function accessFault(path: string, wanted: number): string | undefined {
  try {
    accessSync(path, wanted);
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/**
 * Makes an empty file (0600) where there is none.
 *
 * `wx` opens only what did not exist: closing any descriptor of a database that is open in this process
 * would drop its locks (POSIX `fcntl`, https://www.sqlite.org/howtocorrupt.html §2.2).
 */
export function privateFile(path: string): string {
  try {
    newPrivateFile(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return path;
}
