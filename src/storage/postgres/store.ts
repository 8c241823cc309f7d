import { setImmediate as turn } from 'node:timers/promises';
import type { LogEvent } from '../../events.ts';
import { type Preconditions, preconditionsHold } from '../../shared-list/entity-tags.ts';
import {
  represent,
  type Todo,
  type TodoMembers,
  type TodoRepresentation,
} from '../../shared-list/members.ts';
import { type CreateOutcome, StoreBroken, type TodoStore } from '../../shared-list/store.ts';
import { LEFT_OUT } from '../refusals.ts';
import type { ServedDatabase } from '../settings.ts';
import { addingOnce } from './add-once.ts';
import { addressOf } from './address.ts';
import { connect } from './checked-postgres-connection.ts';
import { Cluster } from './cluster.ts';
import { isCategoryMissing } from './error.ts';
import { openSchemaHealth } from './health.ts';
import { openPostgresList } from './list.ts';
import type { Limits } from './postgres-connection-pool.ts';
import { SELECTED } from './row.ts';
import { prepareToServe, sizeOf } from './schema.ts';
import { StatementPool } from './statement-pool.ts';
import { openPurge } from './tombstone-purge.ts';
import { writesOf } from './writes.ts';

const FIND = `SELECT ${SELECTED} FROM todos WHERE id = ANY($1)`;
// The columns that decide preconditions. `xmin` differs after every later write of the row.
const VERSIONED = `${SELECTED}, xmin::text AS version`;
const READ_ROW = `SELECT ${VERSIONED} FROM todos WHERE id = $1`;
const READ_BOTH = `SELECT ${VERSIONED}, EXISTS (SELECT FROM categories WHERE id = $2) AS category_found
  FROM todos WHERE id = $1`;

/** Times that a change with preconditions is sent: more than writers are faster. A trigger may always leave it out. */
const TRIES = 100;

/** Limits by which it is certain within 2.5 s that a statement has met a database that is lost or stalled. */
const FOR_ONE_TODO = {
  connectionMs: 1_000,
  statementMs: 1_200,
  answerMs: 1_400,
  lifetimeMs: 300_000,
  idleMs: 10_000,
  writes: true,
};

/** Milliseconds more to send a write: a server finds a deadlock after a second. */
const DEADLOCK_MS = 100;

const FOR_THE_LIST = { connections: 1, statementMs: 60_000, writes: false };

/** Milliseconds to wait at start for a server: with the last try, the start gives up within 10 s. */
const START_PATIENCE_MS = 7_000;

interface PostgresOptions extends Pick<ServedDatabase, 'migrate' | 'connections' | 'prepare'> {
  /** Milliseconds to wait at start for a server that cannot be reached yet, 7 000 by default. */
  readonly patienceMs?: number;
  /** Limits in place of those for one todo. */
  readonly limits?: Partial<Omit<Limits, 'connections'>>;
  readonly logEvent: LogEvent;
}

/**
 * Opens the todo list in the database that a connection string names, `postgres://user@host/database`, which other
 * instances change as well. One statement is one round trip.
 *
 * @throws {OperatorError} with one line for people, without the password.
 */
export async function openPostgresStore(
  connectionString: string,
  options: PostgresOptions,
): Promise<TodoStore> {
  const { logEvent, connections, patienceMs = START_PATIENCE_MS } = options;
  const limits = { ...FOR_ONE_TODO, ...options.limits };
  const { statementMs, answerMs } = limits;
  const cluster = new Cluster(addressOf(connectionString), options.prepare);
  const connection = await connect(cluster, (first) => prepareToServe(first, options.migrate, logEvent), {
    statementMs,
    strict: true,
    patienceMs,
  });
  const tombstones = openPurge(logEvent);
  await tombstones.purge((statement) => connection.run(statement, { withinMs: answerMs }));
  await connection.leave();
  await using parts = new AsyncDisposableStack();
  const database = parts.use(new StatementPool(cluster, { ...limits, connections }, logEvent));
  const patient = parts.use(new StatementPool(cluster, { ...limits, ...FOR_THE_LIST }, logEvent));
  parts.use(tombstones).repeat(database);
  const list = openPostgresList(database, patient);
  const health = parts.use(openSchemaHealth(database, logEvent));
  const opened = parts.move();
  const findOne = findTogether(database);
  const writes = writesOf(database, limits.connectionMs + DEADLOCK_MS);
  const addOnce = addingOnce(database);
  const size = sizeOf(database);

  async function add(todo: TodoMembers): Promise<CreateOutcome> {
    try {
      const id = await writes.add(todo);
      if (id === undefined) throw new StoreBroken(LEFT_OUT);
      return represent({ id, ...todo });
    } catch (error) {
      if (isCategoryMissing(error)) return 'category-missing';
      throw error;
    }
  }

  async function replace(id: number, replacement: TodoMembers, preconditions: Preconditions) {
    const write: Change = (version) => writes.replace([id, version, replacement]);
    // Without preconditions the foreign key decides, and needs no row of the categories to be seen.
    const read = () => (asksNothing(preconditions) ? readRow(id) : readBoth(id, replacement.categoryId));
    try {
      return (await refusalOf(write, preconditions, read)) ?? 'replaced';
    } catch (error) {
      if (isCategoryMissing(error)) return 'category-missing';
      throw error;
    }
  }

  async function remove(id: number, preconditions: Preconditions) {
    const write: Change = (version) => writes.remove([id, version]);
    return (await refusalOf(write, preconditions, () => readRow(id))) ?? 'removed';
  }

  /**
   * Changes a todo whose preconditions hold, as it was read. When another writer was faster, it is read again: its todo is
   * then the one to compare. One that stays as it was read is kept by a trigger.
   */
  async function refusalOf<Missing extends string>(
    write: Change,
    preconditions: Preconditions,
    read: () => Promise<Row | Missing>,
  ): Promise<Missing | 'precondition-failed' | undefined> {
    if (asksNothing(preconditions) && (await write(null))) return undefined;
    let version: string | undefined;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const row = await read();
      if (typeof row === 'string') return row;
      if (!preconditionsHold(preconditions, represent(row).etag)) return 'precondition-failed';
      if (row.version === version) break;
      version = row.version;
      if (await write(version)) return undefined;
    }
    await database.checkNoneHidden('todos');
    throw new StoreBroken(LEFT_OUT);
  }

  async function readRow(id: number): Promise<Row | 'todo-missing'> {
    const [row] = await database.read<Row>({ name: 'row', text: READ_ROW, values: [id] });
    if (row === undefined) await database.checkNoneHidden('todos');
    return row ?? 'todo-missing';
  }

  async function readBoth(
    id: number,
    categoryId: number,
  ): Promise<Row | 'todo-missing' | 'category-missing'> {
    const query = { name: 'both', text: READ_BOTH, values: [id, categoryId] };
    const [row] = await database.read<Row & { readonly category_found: boolean }>(query);
    if (row?.category_found) return row;
    await database.checkNoneHidden(row === undefined ? 'todos' : 'categories');
    return row === undefined ? 'todo-missing' : 'category-missing';
  }

  return {
    list: async (...wanted) => (await health.watch(list.current)).select(...wanted),
    find: (id) => health.watch(() => findOne(id)),
    add: (todo, once) => health.watch(() => (once === undefined ? add(todo) : addOnce(todo, once))),
    replace: (id, replacement, preconditions = {}) =>
      health.watch(() => replace(id, replacement, preconditions)),
    remove: (id, preconditions = {}) => health.watch(() => remove(id, preconditions)),
    async check() {
      await database.check();
      await health.check();
    },
    sizes: () => ({ database: size(), list: list.bytes }),
    connections: () => database.counts(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** Sends a change of a todo with its `xmin`, or whatever that is. Whether a row was changed. */
type Change = (version: string | null) => Promise<boolean>;

interface Row extends Todo {
  readonly version: string;
}

/** Whether there are no preconditions on an existing todo: `If-Match: *` is none. */
function asksNothing({ ifMatch, ifNoneMatch }: Preconditions): boolean {
  return (ifMatch === undefined || ifMatch === '*') && ifNoneMatch === undefined;
}

/**
 * Finds todos by id. All ids of one turn of the event loop share one statement, which costs the server and this process
 * more than a row. A later call waits for a connection of its own, no longer than others do.
 */
function findTogether(database: StatementPool): (id: number) => Promise<TodoRepresentation | undefined> {
  let gathered: number[] = [];
  let found: Promise<ReadonlyMap<number, TodoRepresentation>>;

  async function ask(): Promise<ReadonlyMap<number, TodoRepresentation>> {
    await turn();
    const ids = gathered;
    gathered = [];
    const rows = await database.read<Todo>({ name: 'find', text: FIND, values: [`{${ids.join(',')}}`] });
    if (rows.length < ids.length) await database.checkNoneHidden('todos');
    return new Map(rows.map((todo) => [todo.id, represent(todo)]));
  }

  return (id) => {
    if (gathered.length === 0) found = ask();
    gathered.push(id);
    return found.then((todos) => todos.get(id));
  };
}
