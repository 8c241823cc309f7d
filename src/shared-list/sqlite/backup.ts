import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { messageOf } from './error.ts';
import { newPrivateFile } from './file.ts';
import { integrityFaults, openBeside } from './operator.ts';

/** A backup cannot be made; there is no copy then. The message is one line for people. */
export class BackupFailed extends Error {
  override readonly name = 'BackupFailed';
}

/**
 * Copies a SQLite file as it is at one moment, while it is served or not, and checks the copy: a database of
 * its own, mode 0600, on disk when the promise resolves.
 *
 * @returns how many todos are in the copy.
 * @throws {StoreNotOpened} when the database cannot be opened.
 * @throws {BackupFailed} when the copy exists already, cannot be written, or has faults.
 */
export async function backupSqlite(path: string, copy: string): Promise<number> {
  const failed = (reason: string, cause?: unknown) =>
    new BackupFailed(`Cannot back up "${path}" to "${copy}": ${reason}`, { cause });
  using source = openBeside(path);
  const target = resolve(copy);
  try {
    newPrivateFile(target);
  } catch (error) {
    throw failed(messageOf(error), error);
  }
  try {
    // All pages in one step: in parts, it would begin again with every write in between.
    await backup(source, target, { rate: 2 ** 31 - 1 });
    return checkedCount(target);
  } catch (error) {
    rmSync(target);
    throw failed(messageOf(error), error);
  }
}

function checkedCount(path: string): number {
  using copy = new DatabaseSync(path);
  const faults = integrityFaults(copy);
  if (faults.length > 0) throw new Error(faults.join(', '));
  return Number(copy.prepare('SELECT count(*) AS todos FROM todos').get()?.todos);
}
