import { closeSync, fsyncSync, lstatSync, openSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolder } from '../../make-folder.ts';

/** Makes the folder (0700) where it is missing, and gives the path with every link resolved. */
export function resolvePath(path: string): string {
  const absolute = resolve(path);
  makeFolder(dirname(absolute));
  const isThere = lstatSync(absolute, { throwIfNoEntry: false }) !== undefined;
  return isThere ? realpathSync(absolute) : join(realpathSync(dirname(absolute)), basename(absolute));
}

/** Throws an Error for people when a file that is there is not to be opened. */
export function checkFile(path: string): void {
  const stats = statSync(path);
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

/** Makes an empty file (0600) that did not exist, and keeps its name through a power cut. Throws when it exists. */
export function newPrivateFile(path: string): void {
  closeSync(openSync(path, 'wx', 0o600));
  keepNames(dirname(path));
}

/** Keeps the names in a folder, as they are now, through a power cut. */
export function keepNames(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
