import type { Migrated } from '../operator.ts';
import { notOpened } from './error.ts';
import { type OwnedOptions, openOwned } from './owned-database.ts';

/**
 * Brings the schema of a SQLite file up to this program's version, and makes the file when it is missing. Nobody
 * serves the file meanwhile.
 *
 * @throws {StoreNotOpened} `owned` when a process serves the file, `unusable` when it cannot be done.
 */
export async function migrateSqlite(
  path: string,
  options: Pick<OwnedOptions, 'onLogMoved'> = {},
): Promise<Migrated> {
  try {
    using owned = await openOwned(path, { ...options, patienceMs: 0 });
    return owned.versions;
  } catch (error) {
    throw notOpened(path, error);
  }
}
