import type { DatabaseSync } from 'node:sqlite';

/**
 * Watches for changes that another connection commits. Each look tells of those since the last; changes of this
 * connection, and what others read, do not count: https://www.sqlite.org/pragma.html#pragma_data_version
 */
export function watchElsewhere(database: DatabaseSync, onChanged: () => void): () => void {
  const statement = database.prepare('PRAGMA data_version');
  let seen = statement.get()?.data_version;
  return function look() {
    const version = statement.get()?.data_version;
    if (version !== seen) onChanged();
    seen = version;
  };
}
