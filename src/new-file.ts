import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

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

/** The name that a file has while this process makes it: one that was cut off is never taken for a whole one. */
export function partialOf(file: string): string {
  return `${resolve(file)}.${process.pid}.partial`;
}

/** Gives a file that is complete and on disk its name. Throws when there is something of this name, and replaces nothing. */
export function nameComplete(partial: string, file: string): void {
  // A rename alone would replace what has got this name meanwhile.
  newPrivateFile(file);
  try {
    renameSync(partial, file);
    keepNames(dirname(file));
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}
