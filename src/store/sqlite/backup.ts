import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { nameComplete, newPrivateFile, partialOf } from '../../files.ts';
import { messageOf } from './error.ts';
import { removeDatabase } from './file.ts';
import { countsOf, integrityFaults, openBeside } from './operator.ts';
import { pragma } from './schema.ts';

/** A backup cannot be made; there is no copy then. The message is one line for people. */
export class BackupFailed extends Error {
  override readonly name = 'BackupFailed';
}

/** How far a backup is: bytes that were copied, or that the copy is being checked. */
export type BackupProgress = { readonly copied: number; readonly total: number } | 'checking';

/** Between two reports of how far the copy is. */
const PROGRESS_INTERVAL_MS = 500;

/**
 * Copies a SQLite file as it is at one moment, while it is served or not, and checks the copy: a database of
 * its own, mode 0600, on disk when the promise resolves. Until then its name ends in `.<process id>.partial`, so
 * that a copy which was cut off is never taken for one.
 *
 * @param onProgress Called at the beginning, then twice a second, and once before the check, which nothing interrupts.
 * @returns the absolute path of the copy, and what it has.
 * @throws {StoreNotOpened} when the database cannot be opened.
 * @throws {BackupFailed} when the copy exists already, cannot be written, or has faults.
 */
export async function backupSqlite(
  path: string,
  copy: string,
  onProgress: (progress: BackupProgress) => void = () => {},
) {
  const failed = (reason: string, cause?: unknown) =>
    new BackupFailed(`Cannot back up "${path}" to "${copy}": ${reason}`, { cause });
  using source = openBeside(path);
  const target = resolve(copy);
  if (existsSync(target)) throw failed('there is something of this name already');
  const partial = partialOf(copy);
  try {
    newPrivateFile(partial);
    await copyPages(source, partial, onProgress);
    onProgress('checking');
    const todos = checkedCount(partial);
    const bytes = statSync(partial).size;
    nameComplete(partial, target);
    return { path: target, bytes, todos };
  } catch (error) {
    try {
      removeDatabase(partial);
    } catch {
      // Where nothing can be looked at, nothing was made: the first error says why.
    }
    throw failed(messageOf(error), error);
  }
}

/**
 * All pages in one step: in parts, it would begin again with every write in between. SQLite tells nothing during a
 * step, but the file grows.
 */
async function copyPages(
  source: DatabaseSync,
  target: string,
  onProgress: (progress: BackupProgress) => void,
): Promise<void> {
  const total = pragma(source, 'page_count') * pragma(source, 'page_size');
  const reportSize = () => {
    // Somebody may have removed it: the end of the backup says so.
    const size = statSync(target, { throwIfNoEntry: false })?.size ?? 0;
    onProgress({ copied: Math.min(size, total), total });
  };
  reportSize();
  const reporting = setInterval(reportSize, PROGRESS_INTERVAL_MS);
  try {
    await backup(source, target, { rate: 2 ** 31 - 1 });
  } finally {
    clearInterval(reporting);
  }
}

function checkedCount(path: string): number {
  using copy = new DatabaseSync(path);
  const faults = integrityFaults(copy);
  if (faults.length > 0) throw new Error(faults.join(', '));
  return countsOf(copy).todos;
}
