import { closeSync, fsyncSync, openSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { makeFolder } from '../../make-folder.ts';

/**
 * Makes the folder (0700) and an empty file (0600) where they are missing, and gives the path with every
 * link resolved. SQLite gives its `-wal` and `-shm` the mode of the main file.
 *
 * `wx` opens only what did not exist: closing any descriptor of a database that is open in this process
 * would drop its locks (POSIX `fcntl`, https://www.sqlite.org/howtocorrupt.html §2.2).
 */
export function privateFile(path: string): string {
  const absolute = resolve(path);
  makeFolder(dirname(absolute));
  try {
    newPrivateFile(absolute);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return realpathSync(absolute);
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
