import { existsSync, realpathSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { StoreUnavailable } from '../store.ts';
import type { ExportSource } from '../transfer/contents.ts';
import { notOpened } from './error.ts';
import { checkFile, checkReadable, checkWritable, isReadOnlyBeside } from './file.ts';
import { existing } from './known-file.ts';
import { asStoreError } from './operator.ts';
import { prepareAfter } from './row.ts';
import { checkReadableSchema } from './schema.ts';

/** How long to wait for another program's lock. */
const BUSY_TIMEOUT_MS = 5_000;

/** How many rows make one part. */
const PART_SIZE = 2_048;

const LIST_CATEGORIES = 'SELECT id, name FROM categories ORDER BY id';
const HAS_KEYS = "SELECT 1 FROM sqlite_schema WHERE name = 'idempotency_keys'";
const NOW = 'SELECT unixepoch() AS now';

/** A table that schema version 1 does not have. */
const NO_KEYS = "(SELECT '' AS key, '' AS body, 0 AS todo_id, 0 AS at WHERE false)";

/**
 * Opens a SQLite file to export it, while it is served or not. What nobody has open, a backup for example, may have an
 * older schema and be on a read-only disk; it is only read, and nothing is made beside it.
 *
 * @throws {StoreNotOpened} when it is no database of this program, or one too new for it.
 */
export function openSqliteExport(path: string): ExportSource {
  try {
    using parts = new DisposableStack();
    checkFile(path);
    const { database, isUnchanged } = openToRead(realpathSync(path));
    parts.use(database);
    checkReadableSchema(database);
    database.exec('PRAGMA query_only = ON; BEGIN');
    const source = sourceOf(database, isUnchanged);
    parts.move();
    return source;
  } catch (error) {
    throw notOpened(path, error);
  }
}

/**
 * Where there is no log, nobody has the file open. Then it is read as one that cannot change: SQLite makes neither log
 * nor locks. A service that starts meanwhile would show, at the latest when it moves its log into the file.
 */
function openToRead(path: string): { readonly database: DatabaseSync; readonly isUnchanged: () => boolean } {
  if (['-wal', '-journal'].some((suffix) => existsSync(path + suffix))) {
    const readOnly = isReadOnlyBeside(path);
    if (!readOnly) checkWritable(path);
    const database = new DatabaseSync(existing(path, readOnly), { timeout: BUSY_TIMEOUT_MS });
    return { database, isUnchanged: () => true };
  }
  checkReadable(path);
  const before = stampOf(path);
  const url = existing(path, true);
  url.searchParams.set('immutable', '1');
  return { database: new DatabaseSync(url), isUnchanged: () => stampOf(path) === before };
}

function stampOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ');
}

function sourceOf(database: DatabaseSync, isUnchanged: () => boolean): ExportSource {
  const kept = database.prepare(HAS_KEYS).get() === undefined ? NO_KEYS : 'idempotency_keys';
  const since = Number(database.prepare(NOW).get()?.now) - 86_400;
  const counted = database
    .prepare(
      `SELECT (SELECT count(*) FROM todos) AS todos, (SELECT count(*) FROM ${kept} WHERE at > ?) AS keys,
        max((SELECT coalesce(max(id), 0) FROM todos), (SELECT coalesce(max(todo_id), 0) FROM ${kept}),
          coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'todos'), 0)) AS highest`,
    )
    .get(since);
  const categories = database
    .prepare(LIST_CATEGORIES)
    .all()
    .map(({ id, name }) => ({ id: Number(id), name: String(name) }));
  const after = prepareAfter(database);
  const keysAfter = database.prepare(
    `SELECT key, body, todo_id, at FROM ${kept} WHERE key > ? AND at > ? ORDER BY key LIMIT ${PART_SIZE}`,
  );
  return {
    counts: {
      categories: categories.length,
      todos: Number(counted?.todos),
      keys: Number(counted?.keys),
    },
    highestId: Number(counted?.highest),
    categories,
    todosAfter: async (id) => asStoreError(() => after(id, PART_SIZE)),
    keysAfter: async (key) =>
      asStoreError(() => keysAfter.all(key, since)).map((row) => ({
        key: String(row.key),
        body: String(row.body),
        todoId: Number(row.todo_id),
        at: Number(row.at),
      })),
    touch: async () => {},
    async finish() {
      if (isUnchanged()) return;
      throw new StoreUnavailable('the file was changed while it was read, so what was written is of no use');
    },
    [Symbol.asyncDispose]: async () => database.close(),
  };
}
