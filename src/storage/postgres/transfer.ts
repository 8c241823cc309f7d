import { MEMBERS } from '../../shared-list/members.ts';
import { OutcomeUnknown, StoreUnavailable } from '../../shared-list/store.ts';
import {
  COUNT_ROWS,
  type Counts,
  checkWritten,
  contentBy,
  type ExportSource,
  type ImportTarget,
  notEmpty,
  type ParsedTodo,
} from '../transfer/contents.ts';
import { OVER } from './add-once.ts';
import { addressOf } from './address.ts';
import { connect } from './checked-postgres-connection.ts';
import { Cluster } from './cluster.ts';
import { checkLogged } from './durability.ts';
import { SNAPSHOT, sequenceOf, sourceBy } from './export-source.ts';
import { asStoreError } from './maintenance.ts';
import type { Ask, PostgresConnection } from './postgres-connection.ts';
import { COLUMNS } from './row.ts';
import { checkReadableSchema, migrate } from './schema.ts';

/** A sequence that was called has given out an id. */
const CONTENT = contentBy(`EXISTS (SELECT 1 FROM todo_tombstones)
  OR pg_sequence_last_value(pg_get_serial_sequence('todos', 'id')) IS NOT NULL`);
/** "impo" in ASCII: the transaction with this advisory lock imports. */
const TRY_LOCK = `SELECT pg_try_advisory_xact_lock(${0x696d706f}) AS taken`;
/** Reads go on, and writes wait. */
const LOCK_TABLES = 'LOCK TABLE categories, todos, idempotency_keys IN SHARE ROW EXCLUSIVE MODE';
const ADD_CATEGORIES = `INSERT INTO categories (id, name) OVERRIDING SYSTEM VALUE
  SELECT * FROM unnest($1::integer[], $2::text[])`;
const ADD_KEYS = `INSERT INTO idempotency_keys (key, body, todo_id, at)
  SELECT key, body, todo_id, least(to_timestamp(at), now())
  FROM unnest($1::text[], $2::text[], $3::integer[], $4::float8[]) AS kept (key, body, todo_id, at)`;
const FORGET_KEYS = `DELETE FROM idempotency_keys WHERE ${OVER}`;

/** The kinds of members are types of PostgreSQL. */
const rows = ['integer', ...MEMBERS.map(({ kind }) => kind)]
  .map((type, index) => `$${index + 1}::${type}[]`)
  .join(', ');
const ADD_TODOS = `INSERT INTO todos (id, ${COLUMNS}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${rows})`;

/** Connects to export one snapshot. @throws {OperatorError} when there is no connection, or another schema. */
export function openExport(connectionString: string): Promise<ExportSource> {
  return begin(connectionString, checkReadableSchema, SNAPSHOT, sourceBy);
}

/**
 * Connects to a database to import into it, and migrates it. Instances may be up: their creates wait, and are refused.
 *
 * @throws {OperatorError} when it cannot be reached or migrated.
 * @throws {StoreUnavailable} when it is not empty, or another import is under way (contract E2; E5).
 */
export function openImport(connectionString: string): Promise<ImportTarget> {
  const prepare = async (opened: PostgresConnection) => {
    await migrate(opened);
    await checkLogged(opened);
  };
  return begin(connectionString, prepare, 'ISOLATION LEVEL READ COMMITTED', async (ask, commit) => {
    // The lock comes before any look at the database: two imports that had both looked would wait for each other.
    const [lock] = await ask<{ taken: boolean }>(TRY_LOCK);
    if (!lock?.taken) throw new StoreUnavailable('another import into the database is under way');
    await assertEmpty(ask);
    await ask(LOCK_TABLES);
    // A running instance may have created one since.
    await assertEmpty(ask);
    await ask('DELETE FROM categories');
    return {
      async add({ categories, todos, keys }) {
        await addRows(ask, ADD_CATEGORIES, categories, ['id', 'name']);
        await addRows(ask, ADD_TODOS, todos, TODO_MEMBERS);
        await addRows(ask, ADD_KEYS, keys, ['key', 'body', 'todoId', 'at']);
      },
      async commit(contents) {
        const [written] = await ask<Counts>(COUNT_ROWS);
        checkWritten(contents, written);
        await ask(FORGET_KEYS);
        const sequences = { categories: contents.highestCategoryId, todos: contents.highestId };
        for (const [table, highest] of Object.entries(sequences)) {
          const sequence = await sequenceOf(table, ask);
          // `RESTART` gives it a new file, so that a rolled back transaction also undoes this.
          await ask(`ALTER SEQUENCE ${sequence} RESTART`);
          if (highest > 0) await ask({ text: 'SELECT setval($1, $2)', values: [sequence, highest] });
        }
        const [kept] = await ask<Counts>(COUNT_ROWS);
        await ask('ANALYZE categories, todos, idempotency_keys');
        await commit();
        return kept?.keys ?? 0;
      },
    };
  });
}

/**
 * Begins a transaction that no limit of the server or the role ends, on a connection of its own: the lines may come or go
 * slowly.
 *
 * @param work Makes the object that works in it. Disposing of that ends the transaction. `ask` rejects with
 * `StoreUnavailable`: without a commit, nothing is changed. `commit` rejects with `OutcomeUnknown` when no answer came.
 */
async function begin<T extends object>(
  connectionString: string,
  prepare: Parameters<typeof connect>[1],
  mode: string,
  work: (ask: Ask, commit: () => Promise<void>) => Promise<T>,
): Promise<T & AsyncDisposable> {
  const connection = await connect(new Cluster(addressOf(connectionString)), prepare);
  const commit = async (): Promise<void> => {
    await asStoreError('write', connection.end('COMMIT')).catch((error: unknown) => {
      if (!(error instanceof OutcomeUnknown)) throw error;
      throw new OutcomeUnknown(`${error.message}: nobody knows whether it was done`, { cause: error });
    });
  };
  try {
    await asStoreError('read', connection.begin(0, mode));
    const working = await work((statement) => asStoreError('read', connection.run(statement)), commit);
    return { ...working, [Symbol.asyncDispose]: () => connection.leave() };
  } catch (error) {
    await connection.leave();
    throw error;
  }
}

async function assertEmpty(ask: Ask): Promise<void> {
  const [row] = await ask<{ content: string | null }>(CONTENT);
  if (row?.content) throw notEmpty(row.content);
}

const TODO_MEMBERS: readonly (keyof ParsedTodo)[] = ['id', ...MEMBERS.map(({ name }) => name)];

/** @param text Takes the values of each member, for `unnest`. */
async function addRows<Row>(
  ask: Ask,
  text: string,
  added: readonly Row[],
  members: readonly (keyof Row)[],
): Promise<void> {
  if (added.length === 0) return;
  await ask({ text, values: members.map((member) => added.map((row) => row[member])) });
}
