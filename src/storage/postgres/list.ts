import { setImmediate as turn } from 'node:timers/promises';
import type { Todo } from '../../shared-list/members.ts';
import { chunkOf, makeChunk, todosOf } from '../list/chunk.ts';
import { singleFlight } from '../list/single-flight.ts';
import { ListChunks, type ListVersion } from '../list/version.ts';
import { PART_SIZE } from '../transfer/contents.ts';
import type { Ask } from './postgres-connection.ts';
import { SELECTED } from './row.ts';
import type { StatementPool } from './statement-pool.ts';

/**
 * The moment in which an instance read the list. While the server's identity is the same, the changes since are those that
 * the snapshot does not see: https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT
 */
interface Moment {
  readonly snapshot: string;
  readonly identity: string;
  /** Whether the triggers record every change: those of a table see none in its children (contract D11). */
  readonly tracked: boolean;
}

/** Changed todos, at most, that are read one by one; for more, the whole list is read. */
const MOST_CHANGES = 10_000;

// Ids of transactions repeat after a crash, when the server resets its statistics, and on another server. The other parts
// show a copy of the database, TRUNCATE, a restored table, and triggers that were off for a while.
const MOMENT = `pg_current_snapshot()::text AS snapshot,
  concat_ws(' ', pg_postmaster_start_time(), (SELECT stats_reset FROM pg_stat_bgwriter),
    (SELECT oid FROM pg_database WHERE datname = current_database()),
    pg_relation_filenode('todos'), pg_relation_filenode('todo_tombstones'),
    (SELECT string_agg(concat_ws(' ', oid, xmin, ctid), ' ' ORDER BY oid) FROM pg_trigger
      WHERE tgrelid = 'todos'::regclass AND NOT tgisinternal)) AS identity,
  (SELECT count(*) = 3 FROM pg_trigger WHERE tgrelid = 'todos'::regclass AND tgenabled = 'A'
    AND tgname IN ('todo_changed', 'todo_removed', 'todo_renumbered'))
    AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhparent = 'todos'::regclass) AS tracked`;

/** The present moment in each row, and the changes since a snapshot. A live row wins over its tombstone. */
const READ_CHANGES = `WITH moment AS MATERIALIZED (
    SELECT ${MOMENT}, changed < pg_snapshot_xmin($1::pg_snapshot)
      AND pg_snapshot_xmax($1::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot()) AS complete
    FROM todo_purged
  )
  SELECT moment.*, unseen.id AS unseen, ${SELECTED},
    row_security_active('todos') OR row_security_active('todo_tombstones') AS hidden
  FROM moment LEFT JOIN todo_unseen($1, ${MOST_CHANGES + 1}) AS unseen (id) ON true
    LEFT JOIN todos ON todos.id = unseen.id`;

/** A row of `READ_CHANGES`, with the id of a changed todo and its present row; or the only row, when no todo changed. */
type ChangeRow = Moment & {
  /** Whether each tombstone that the snapshot does not see is there, and the server was not taken back behind it. */
  readonly complete: boolean;
  /** Whether row security hides changes where a pooler dropped its setting. Reading the whole list then is an error. */
  readonly hidden: boolean;
} & ({ readonly unseen: null } | ({ readonly unseen: number } & (Todo | { readonly id: null })));

/**
 * Comes before the snapshot: a TRUNCATE or a rewrite in between would look like a list without todos. On its own,
 * pgpool-II would send it to standbys too, where no transaction was begun.
 */
const KEEP_TABLE = 'LOCK TABLE todos IN ACCESS SHARE MODE';

const READ_MOMENT = `SELECT ${MOMENT}`;

/** The todos after an id, as many as one statement brings. */
const READ_PART = `SELECT ${SELECTED} FROM todos WHERE id > $1 ORDER BY id LIMIT ${PART_SIZE}`;

/** Milliseconds without a call after which the list is read anew. Tombstones stay for a day. */
const LONGEST_KEPT_MS = 3_600_000;

/** Chunks that are changed before other requests have their turn: a few milliseconds. */
const CHUNKS_A_TURN = 16;

/**
 * The list. Each call reads the changes since the last one, also of another instance or `psql`. Other work of the server
 * adds no cost. The table is locked, the snapshot taken, then rows are read; all are read again from a restarted or
 * another server: `test/storage/postgres-list.test.ts`.
 *
 * @param patient Its statements may take longer than those for one todo.
 * @param now Milliseconds since 1970.
 */
export function openPostgresList(quick: StatementPool, patient: StatementPool, now: () => number = Date.now) {
  const chunks = new ListChunks();
  /** The moment of the chunks, and its time in milliseconds since 1970; undefined when they cannot be kept. */
  let kept: (Moment & { readonly at: number }) | undefined;

  /** The list, never older than the call. */
  const current = singleFlight(async (): Promise<ListVersion> => {
    const at = now();
    const last = kept;
    const young = last !== undefined && at - last.at < LONGEST_KEPT_MS;
    const moment = (young ? await readChanges(last) : undefined) ?? (await readAll());
    kept = moment?.tracked ? { ...moment, at } : undefined;
    return chunks.version();
  });

  /** Reads the changes; undefined when the whole list must be read. */
  async function readChanges({ snapshot, identity }: Moment): Promise<Moment | undefined> {
    const query = { name: 'changes', text: READ_CHANGES, values: [snapshot] };
    const rows = await quick.read<ChangeRow>(query);
    const [latest] = rows;
    if (!latest?.tracked || latest.identity !== identity || !latest.complete || latest.hidden)
      return undefined;
    if (rows.length > MOST_CHANGES) return undefined;
    const changed = rows.filter((row) => row.unseen !== null);
    let done = 0;
    for (const [number, rowsOfChunk] of Map.groupBy(changed, ({ unseen }) => chunkOf(unseen))) {
      const chunk = chunks.get(number);
      const todos = new Map(chunk === undefined ? [] : todosOf(chunk).map((todo) => [todo.id, todo]));
      for (const row of rowsOfChunk) {
        if (row.id === null) todos.delete(row.unseen);
        else todos.set(row.id, row);
      }
      chunks.set(number, makeChunk([...todos.values()].sort((one, other) => one.id - other.id)));
      done += 1;
      if (done % CHUNKS_A_TURN === 0) await turn();
    }
    return latest;
  }

  /** Reads the list of one moment, in parts: the server is never silent for long, and little data is on its way. */
  async function readAll(): Promise<Moment | undefined> {
    kept = undefined;
    return patient.transaction(KEEP_TABLE, async (ask) => {
      const [moment] = await ask<Moment>(READ_MOMENT);
      await readParts(ask);
      return moment;
    });
  }

  async function readParts(ask: Ask): Promise<void> {
    const part = (after: number) => ask<Todo>({ name: 'part', text: READ_PART, values: [after] });
    const seen = new Set<number>();
    let todos: Todo[] = [];
    const keep = (): void => {
      const [first] = todos;
      if (first === undefined) return;
      seen.add(chunkOf(first.id));
      chunks.set(chunkOf(first.id), makeChunk(todos));
      todos = [];
    };
    let after = 0;
    for (let size = PART_SIZE; size === PART_SIZE; ) {
      const rows = await part(after);
      for (const row of rows) {
        if (chunkOf(row.id) !== chunkOf(after)) keep();
        todos.push(row);
        after = row.id;
      }
      size = rows.length;
    }
    keep();
    chunks.keepOnly(seen);
  }

  return {
    get bytes() {
      return chunks.bytes;
    },
    current,
  };
}
