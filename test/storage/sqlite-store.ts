import { SETTINGS } from '../../src/settings/table.ts';
import type { TodoStore } from '../../src/shared-list/store.ts';
import { migrateSqlite as migrate } from '../../src/storage/sqlite/maintenance.ts';
import { openSqliteStore as open } from '../../src/storage/sqlite/store.ts';

/** Opens a store with the defaults of the settings, and without a log, except where a test wants it otherwise. */
export function openSqliteStore(
  path: string,
  options: Partial<Parameters<typeof open>[1]> = {},
): Promise<TodoStore> {
  const cacheBytes = SETTINGS.TODO_CACHE_MB.default * 2 ** 20;
  return open(path, { cacheBytes, logEvent: () => {}, ...options });
}

/** Migrates as the command does, without a log. */
export const migrateSqlite = (path: string) => migrate(path, () => {});
