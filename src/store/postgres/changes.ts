import type { Todo } from '../todo.ts';
import { SELECTED } from './row.ts';

/**
 * What an instance knows of the moment in which it read the list. While `life` is the same, what a snapshot does not
 * see is what changed since: https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
export interface Moment {
  readonly snapshot: string;
  readonly life: string;
  /** The triggers that write changes down work. */
  readonly tracked: boolean;
}

/** Changes of more todos are read as the whole list. */
export const MOST_CHANGES = 10_000;

/** How many todos of the whole list come with one statement: a few milliseconds of work. */
export const PART_SIZE = 2_048;

/** They write changes down. */
export const TRIGGERS = "'todo_changed', 'todo_removed', 'todo_renumbered'";

// Ids of transactions come again after a crash, when the server resets its statistics, and on another server. The rest
// tells a copy of the database, TRUNCATE, a restored table, and triggers that were off for a while.
const MOMENT = `pg_current_snapshot()::text AS snapshot,
  concat_ws(' ', pg_postmaster_start_time(), (SELECT stats_reset FROM pg_stat_bgwriter),
    (SELECT oid FROM pg_database WHERE datname = current_database()),
    pg_relation_filenode('todos'), pg_relation_filenode('todo_tombstones'),
    (SELECT string_agg(concat_ws(' ', oid, xmin, ctid), ' ' ORDER BY oid) FROM pg_trigger
      WHERE tgrelid = 'todos'::regclass AND NOT tgisinternal)) AS life,
  (SELECT count(*) = 3 FROM pg_trigger WHERE tgrelid = 'todos'::regclass AND tgenabled = 'A'
    AND tgname IN (${TRIGGERS})) AS tracked`;

/** In each row the moment of now; and what changed since a snapshot. A live row wins over its tombstone. */
export const READ_CHANGES = `WITH moment AS MATERIALIZED (
    SELECT ${MOMENT}, changed < pg_snapshot_xmin($1::pg_snapshot) AS complete FROM todo_purged
  )
  SELECT moment.*, unseen.id AS unseen, ${SELECTED}
  FROM moment LEFT JOIN todo_unseen($1, ${MOST_CHANGES + 1}) AS unseen (id) ON true
    LEFT JOIN todos ON todos.id = unseen.id`;

/** A row of `READ_CHANGES`. */
export type ChangeRow = Moment & {
  /** No tombstone that the snapshot does not see was purged. */
  readonly complete: boolean;
  /** The id of a todo that changed; null when none did. */
  readonly unseen: number | null;
} & (Todo | { readonly id: null });

/** Before the snapshot is taken: a TRUNCATE or a rewrite in between would look like a list without todos. */
export const KEEP_TABLE = 'LOCK TABLE todos IN ACCESS SHARE MODE';

export const READ_MOMENT = `SELECT ${MOMENT}`;

/** The todos after an id, as many as one statement brings. */
export const READ_PART = `SELECT ${SELECTED} FROM todos WHERE id > $1 ORDER BY id LIMIT ${PART_SIZE}`;

/** Forgets tombstones that no list needs any more. */
export const PURGE = 'SELECT todo_purge()';
