import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { orUndefined } from './errors.ts';

/** Makes a file (0600) that did not exist, and opens it. Throws when it exists. */
export function openNew(path: string): number {
  return openSync(path, 'wx', 0o600);
}

/** Makes a new empty file (0600); a power cut may take it. @param owner Its owner when root makes it; else root. */
export function newPrivateFile(path: string, owner?: { readonly uid: number; readonly gid: number }): void {
  const descriptor = openNew(path);
  try {
    if (owner !== undefined && process.geteuid?.() === 0) fchownSync(descriptor, owner.uid, owner.gid);
  } finally {
    closeSync(descriptor);
  }
}

/** Keeps the names in a folder, as they are now, through a power cut. */
export function keepNames(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** A unique name for a file while it is made: a partial file is never taken for a whole one. */
export function partialOf(file: string): string {
  return `${resolve(file)}.${randomBytes(6).toString('hex')}.partial`;
}

/** Unfinished files of other runs for the same file, and milliseconds since each was written. */
export function unfinishedOf(file: string): readonly { readonly path: string; readonly ageMs: number }[] {
  const folder = dirname(resolve(file));
  const begin = `${basename(file)}.`;
  const names = orUndefined(() => readdirSync(folder)) ?? [];
  return names.flatMap((name) => {
    if (!name.startsWith(begin) || !/^\w+\.partial$/.test(name.slice(begin.length))) return [];
    const stats = statSync(join(folder, name), { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ path: join(folder, name), ageMs: Date.now() - stats.mtimeMs }];
  });
}

/** Gives a file that is complete and on disk its name. Throws when there is something of this name, and replaces nothing. */
export function nameComplete(partial: string, file: string): void {
  // A rename alone would replace a file that has got this name meanwhile.
  closeSync(openNew(file));
  try {
    renameSync(partial, file);
    keepNames(dirname(file));
  } catch (error) {
    rmSync(file);
    throw error;
  }
}

/**
 * Makes a folder (0700) and those that it is in, where they are missing, and keeps their names through a power cut.
 * Throws as `mkdir` does, and leaves none then. Disposing of the result removes those of them that are empty.
 *
 * Not by `recursive`, which never ends below a folder that takes none, such as `/proc`.
 */
export function makeFolder(path: string): Disposable {
  using made = new DisposableStack();
  if (existsSync(path)) return made.move();
  made.use(makeFolder(dirname(path)));
  try {
    mkdirSync(path, { mode: 0o700 });
    made.defer(() => orUndefined(() => rmdirSync(path)));
  } catch (error) {
    // Another process may have made it first.
    if (!existsSync(path)) throw error;
  }
  keepNames(dirname(path));
  return made.move();
}
