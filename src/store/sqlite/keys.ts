import type { DatabaseSync } from 'node:sqlite';
import type { CreateKey } from '../create-key.ts';

// A key is good for 24 hours by this clock, which is that of the machine (contract I2).
const OVER = 'at <= unixepoch() - 86400';

const FIND = `SELECT body, todo_id FROM idempotency_keys WHERE key = ? AND NOT (${OVER})`;

/** One whose time is over may still be there. */
const KEEP = 'INSERT OR REPLACE INTO idempotency_keys (key, body, todo_id) VALUES (?, ?, ?)';

/** More than one: what has gathered gets less. */
const SWEEP = `DELETE FROM idempotency_keys
  WHERE key IN (SELECT key FROM idempotency_keys WHERE ${OVER} ORDER BY at LIMIT 4)`;

/** What a key was used for. */
interface Used {
  readonly id: number;
  readonly body: string;
}

/** The keys of creates that may be repeated, within a transaction of the caller's. */
export function prepareKeys(database: DatabaseSync) {
  const find = database.prepare(FIND);
  const keep = database.prepare(KEEP);
  const sweep = database.prepare(SWEEP);
  return {
    find(key: string): Used | undefined {
      const row = find.get(key);
      return row === undefined ? undefined : { id: Number(row.todo_id), body: String(row.body) };
    },
    /** A few whose time is over go with each that comes. */
    keep({ key, body }: CreateKey, id: number): void {
      keep.run(key, body, id);
      sweep.run();
    },
  };
}
