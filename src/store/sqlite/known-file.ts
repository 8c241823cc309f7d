import { type BigIntStats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { messageOf } from './error.ts';

/** A database that was opened, and what its names stood for then. It crosses threads. */
export interface KnownFile {
  /** Absolute, every link resolved. */
  readonly path: string;
  /** Device and inode by path: of the file, its log, its index of the log and its lock. */
  readonly marks: ReadonlyMap<string, string>;
}

/**
 * What the names of an open database stand for. They are looked at, never opened: closing any descriptor of a
 * database drops the locks of this process (POSIX `fcntl`, https://www.sqlite.org/howtocorrupt.html §2.2).
 *
 * @param name The path that the operator gave: a link in it may lead elsewhere one day.
 */
export function knownFile(name: string, path: string): KnownFile {
  const paths = new Set([name, path, ...['-wal', '-shm', '-owner'].map((suffix) => path + suffix)]);
  return { path, marks: new Map([...paths].map((each) => [each, markOf(statSync(each, { bigint: true }))])) };
}

/** What was deleted or replaced since, for people, without its folder; undefined when all is as it was. */
export function changeOf({ marks }: KnownFile): string | undefined {
  for (const [path, mark] of marks) {
    const fault = faultOf(path, mark);
    if (fault !== undefined) return `"${basename(path)}" ${fault}`;
  }
  return undefined;
}

/**
 * Another connection to a known file; it makes none.
 *
 * @param timeout Milliseconds to wait for another program's lock.
 * @throws Error when the file is not there, or another one is.
 */
export function openKnown(file: KnownFile, timeout: number): DatabaseSync {
  const database = new DatabaseSync(existing(file.path), { timeout });
  const change = changeOf(file);
  if (change === undefined) return database;
  database.close();
  throw new Error(change);
}

/** Names a file that SQLite is not to make when it is missing, nor write when it is `readOnly`. The path may be relative. */
export function existing(path: string, readOnly = false): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', readOnly ? 'ro' : 'rw');
  // Else SQLite would make it, with the rights of this user.
  if (readOnly) url.searchParams.set('readonly_shm', '1');
  return url;
}

function faultOf(path: string, mark: string): string | undefined {
  try {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return 'was deleted or moved away';
    return markOf(stats) === mark ? undefined : 'was replaced by another file';
  } catch (error) {
    return `cannot be looked at: ${messageOf(error)}`;
  }
}

function markOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
