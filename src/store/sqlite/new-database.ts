import { existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { keepNames, newPrivateFile } from './file.ts';
import { migrate } from './schema.ts';

/**
 * Makes a database (0600) where there is none. It gets its name when it is complete and on disk: who is killed
 * before leaves nothing that looks like a database. Nobody else makes one meanwhile.
 *
 * @returns the new paths of logs that a database of this name has left behind: SQLite would write their pages into
 * the new one.
 */
export function makeDatabase(path: string): readonly string[] {
  const unfinished = `${path}.new`;
  removeDatabase(unfinished);
  try {
    newPrivateFile(unfinished);
    using database = new DatabaseSync(unfinished);
    migrate(database);
  } catch (error) {
    removeDatabase(unfinished);
    throw error;
  }
  const moved = moveLogsAside(path);
  renameSync(unfinished, path);
  keepNames(dirname(path));
  return moved;
}

/** Removes a database that nobody has open, with all that SQLite puts beside it. */
export function removeDatabase(path: string): void {
  for (const suffix of ['', '-journal', '-wal', '-shm']) rmSync(path + suffix, { force: true });
}

function moveLogsAside(path: string): readonly string[] {
  const logs = ['-journal', '-wal'].map((suffix) => path + suffix).filter(isLog);
  return logs.map((log) => {
    const aside = `${log}.${Date.now()}`;
    renameSync(log, aside);
    return aside;
  });
}

function isLog(path: string): boolean {
  return existsSync(path) && statSync(path).size > 0;
}
