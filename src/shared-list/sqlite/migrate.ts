import { DatabaseSync } from 'node:sqlite';
import type { Migrated } from '../operator.ts';
import { unusable } from '../store.ts';
import { makeDurable } from './durability.ts';
import { notOpened } from './error.ts';
import { privateFile } from './file.ts';
import { lockFile } from './owner.ts';
import { libraryFault, libraryVersion, migrate, pragma } from './schema.ts';

/** How long to wait for another program's write (the `sqlite3` shell). */
const BUSY_TIMEOUT_MS = 2_000;

/**
 * Brings the schema of a SQLite file up to this program's version, and makes the file when it is missing. Nobody
 * serves the file meanwhile.
 *
 * @throws {StoreNotOpened} `owned` when a process serves the file, `unusable` when it cannot be done.
 */
export async function migrateSqlite(path: string): Promise<Migrated> {
  if (path === ':memory:') throw unusable(path, 'it must be a file');
  using parts = new DisposableStack();
  try {
    const file = privateFile(path);
    parts.use(await lockFile(file, 0));
    const database = parts.use(new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS }));
    const from = pragma(database, 'user_version');
    const fault = libraryFault(libraryVersion(database)) ?? migrate(database) ?? makeDurable(database);
    if (fault !== undefined) throw unusable(path, fault);
    return { from, to: pragma(database, 'user_version') };
  } catch (error) {
    throw notOpened(path, error);
  }
}
