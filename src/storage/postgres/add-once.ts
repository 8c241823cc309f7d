import { represent, type TodoMembers, valuesOf } from '../../shared-list/members.ts';
import { type CreateOutcome, type Once, StoreBroken } from '../../shared-list/store.ts';
import { LEFT_OUT } from '../refusals.ts';
import { isCategoryMissing, isKeyTaken, isLockTimeout } from './error.ts';
import { COLUMNS, parametersFrom } from './row.ts';
import type { StatementPool } from './statement-pool.ts';

/** The end of a key: 24 hours by the clock of the server (contract I2). */
export const OVER = "at <= now() - interval '24 hours'";

/**
 * Takes key, body, the time to wait for another create with the key, and `valuesOf` a todo. One statement is one
 * transaction: todo and key are made, or neither.
 *
 * A used key is locked, so that the answer waits for the standbys for which the first answer may not have waited. The
 * limit for locks holds from before the todo until its key is made, and for nothing else.
 */
const ADD_ONCE = `WITH used AS (
    SELECT todo_id, body, ${OVER} AS over FROM idempotency_keys WHERE key = $1 FOR KEY SHARE
  ), bounded AS MATERIALIZED (
    SELECT set_config('lock_timeout', $3, true)
  ), added AS (
    INSERT INTO todos (${COLUMNS}) SELECT ${parametersFrom(4)} FROM bounded WHERE NOT EXISTS (SELECT FROM used)
    RETURNING id
  ), kept AS (
    INSERT INTO idempotency_keys (key, body, todo_id) SELECT $1, $2, id FROM added RETURNING todo_id
  )
  SELECT todo_id AS id, 'added' AS outcome, set_config('lock_timeout', '0', true) FROM kept
  UNION ALL
  SELECT todo_id, CASE WHEN over THEN 'over' WHEN body = $2 THEN 'repeated' ELSE 'reused' END, NULL FROM used`;

const FREE = `DELETE FROM idempotency_keys WHERE key = $1 AND ${OVER}`;

/** Takes the end of the last sweep, and gives its own: no sweep rereads deleted keys that a long transaction keeps. */
const SWEEP = `WITH old AS MATERIALIZED (
    SELECT key FROM idempotency_keys WHERE at >= $1::timestamptz AND ${OVER} ORDER BY at LIMIT 16 FOR UPDATE SKIP LOCKED
  ), swept AS (
    DELETE FROM idempotency_keys WHERE key = ANY (ARRAY (SELECT key FROM old)) RETURNING at
  )
  SELECT coalesce(max(at), $1::timestamptz)::text AS until FROM swept`;

/** Times that a create is sent, at most: an expired key makes way first, or another create with the key is faster. */
const TRIES = 5;

interface Row {
  readonly id: number;
  readonly outcome: 'added' | 'repeated' | 'reused' | 'over';
}

/** Adds todos for keys, which other instances may use meanwhile. Each deletes a few expired keys, without a wait. */
export function addingOnce(
  database: StatementPool,
): (todo: TodoMembers, once: Once) => Promise<CreateOutcome> {
  let sweptUntil = '-infinity';
  let sweeping = false;

  /** Deletes expired keys. A failed sweep is repeated with a later key. */
  async function sweep(): Promise<void> {
    if (sweeping) return;
    sweeping = true;
    const query = { name: 'sweep', text: SWEEP, values: [sweptUntil] };
    const [swept] = await database.write<{ until: string }>(query).catch(() => []);
    sweptUntil = swept?.until ?? sweptUntil;
    sweeping = false;
  }

  async function addOnce(todo: TodoMembers, { key, body, patienceMs }: Once): Promise<CreateOutcome> {
    const until = performance.now() + patienceMs;
    for (let tries = 0; tries < TRIES; tries += 1) {
      // 0 would mean no limit.
      const left = `${Math.max(1, Math.ceil(until - performance.now()))}ms`;
      const values = [key, body, left, ...valuesOf(todo)];
      try {
        const [row] = await database.write<Row>({ name: 'add-once', text: ADD_ONCE, values });
        if (row === undefined) throw new StoreBroken(LEFT_OUT);
        if (row.outcome === 'reused') return 'key-reused';
        const todoOfKey = represent({ id: row.id, ...todo });
        if (row.outcome === 'added') return todoOfKey;
        if (row.outcome === 'repeated') return { repeated: todoOfKey };
        await database.write({ name: 'free', text: FREE, values: [key] });
      } catch (error) {
        if (isCategoryMissing(error)) return 'category-missing';
        if (isLockTimeout(error)) return 'in-progress';
        // Another create with the key was faster. Its outcome is read next.
        if (!isKeyTaken(error)) throw error;
      }
    }
    await database.checkNoneHidden('idempotency_keys');
    throw new StoreBroken('a trigger or a rule that is not of this program keeps or changes a key');
  }

  return async (todo, once) => {
    const outcome = await addOnce(todo, once);
    void sweep();
    return outcome;
  };
}
