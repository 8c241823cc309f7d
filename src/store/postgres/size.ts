import type { Database } from './database.ts';

/** Milliseconds for which a size is good enough. */
const INTERVAL_MS = 60_000;

const SIZE = `SELECT sum(pg_total_relation_size(name))::float8 AS bytes FROM unnest(ARRAY['todos', 'categories',
  'todo_tombstones', 'todo_purged', 'idempotency_keys', 'todo_schema']::regclass[]) AS name`;

/**
 * The bytes of the service's tables with their indexes, as the server said them last; undefined while that is not known. A
 * call whose answer is older than a minute asks anew, and does not wait.
 *
 * @param now Milliseconds that only grow.
 */
export function sizeOf(database: Database, now = () => performance.now()): () => number | undefined {
  let bytes: number | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;

  async function ask(): Promise<void> {
    const rows = await database.read<{ bytes: number }>({ text: SIZE }).catch(() => []);
    bytes = rows[0]?.bytes;
  }

  return () => {
    if (now() - askedAt >= INTERVAL_MS) {
      askedAt = now();
      void ask();
    }
    return bytes;
  };
}
