import { OutcomeUnknown, StoreUnavailable } from '../store.ts';
import { COLUMN_NAMES, MEMBERS } from '../todo.ts';
import type { ImportTarget, ParsedTodo, Restored, RestoreTarget } from '../transfer/contents.ts';
import { addressOf } from './address.ts';
import { Cluster } from './cluster.ts';
import { connect, run } from './connect.ts';
import { raiseAbove, SEQUENCE_OF } from './needs.ts';
import { asStoreError } from './operator.ts';
import { migrate, schemaFault, unloggedFault } from './schema.ts';

/** What an import must find (contract E2). A sequence that was called has given out an id. */
const CONTENT = `SELECT CASE
    WHEN EXISTS (SELECT FROM todos) THEN 'it has todos'
    WHEN EXISTS (SELECT FROM idempotency_keys) THEN 'it has keys of creates'
    WHEN EXISTS (SELECT FROM todo_tombstones) OR pg_sequence_last_value(pg_get_serial_sequence('todos', 'id')) IS NOT NULL
      THEN 'ids of todos were given out'
    WHEN EXISTS (SELECT FROM categories WHERE (id, name) NOT IN ((1, 'Work'), (2, 'Life')))
      THEN 'it has other categories than those of a first start'
  END AS content`;
/** Reads go on, and who writes waits. */
const LOCK_TABLES = 'LOCK TABLE categories, todos, idempotency_keys IN SHARE ROW EXCLUSIVE MODE';
const ADD_CATEGORIES = `INSERT INTO categories (id, name) OVERRIDING SYSTEM VALUE
  SELECT * FROM unnest($1::integer[], $2::text[])`;
const ADD_KEYS = `INSERT INTO idempotency_keys (key, body, todo_id, at)
  SELECT key, body, todo_id, least(to_timestamp(at), now())
  FROM unnest($1::text[], $2::text[], $3::integer[], $4::float8[]) AS kept (key, body, todo_id, at)
  WHERE to_timestamp(at) > now() - interval '24 hours'`;

const names = COLUMN_NAMES.join(', ');
/** The kinds of members are types of PostgreSQL. */
const typed = MEMBERS.map(({ column, kind }) => `${column} ${kind}`).join(', ');
const rows = ['integer', ...MEMBERS.map(({ kind }) => kind)]
  .map((type, index) => `$${index + 1}::${type}[]`)
  .join(', ');
const ADD_TODOS = `INSERT INTO todos (id, ${names}) OVERRIDING SYSTEM VALUE SELECT * FROM unnest(${rows})`;

const STAGE = `CREATE TEMPORARY TABLE staged (id integer PRIMARY KEY, ${typed}) ON COMMIT DROP`;
const ADD_STAGED = `INSERT INTO staged SELECT * FROM unnest(${rows})`;
const SKIP = 'DELETE FROM staged USING todos WHERE staged.id = todos.id';
const EXISTING = 'SELECT id FROM staged JOIN todos USING (id) ORDER BY id LIMIT 10';
const ORPHANS = `SELECT id, category_id AS "categoryId" FROM staged
  WHERE NOT EXISTS (SELECT FROM categories WHERE id = category_id) ORDER BY id LIMIT 10`;
const HIGHEST_STAGED = 'SELECT max(id) FROM pg_temp.staged';
const RESTORE = `WITH made AS (
    INSERT INTO todos (id, ${names}) OVERRIDING SYSTEM VALUE SELECT * FROM staged ORDER BY id RETURNING id
  )
  SELECT count(*)::int AS made FROM made`;

/**
 * Connects to a database to import into it, and migrates it. Instances may be up: what they create waits, and is refused.
 *
 * @throws {StoreNotOpened} when it cannot be reached or migrated.
 * @throws {StoreUnavailable} when it is not empty (contract E2).
 */
export async function openPostgresImport(connectionString: string): Promise<ImportTarget> {
  const session = await begin(
    connectionString,
    async (opened) => (await migrate(opened)) ?? (await unloggedFault(opened)),
  );
  await using parts = new AsyncDisposableStack();
  parts.use(session);
  const { ask } = session;
  await assertEmpty(ask);
  await ask(LOCK_TABLES);
  // An instance that is up may have created one since.
  await assertEmpty(ask);
  await ask('DELETE FROM categories');
  const opened = parts.move();
  return {
    async add({ categories, todos, keys }) {
      if (categories.length > 0)
        await ask(ADD_CATEGORIES, [categories.map(({ id }) => id), categories.map(({ name }) => name)]);
      if (todos.length > 0) await ask(ADD_TODOS, columnsOf(todos));
      if (keys.length > 0)
        await ask(ADD_KEYS, [
          keys.map(({ key }) => key),
          keys.map(({ body }) => body),
          keys.map(({ todoId }) => todoId),
          keys.map(({ at }) => at),
        ]);
    },
    async commit({ highestId, highestCategoryId }) {
      await setHighest(ask, 'categories', highestCategoryId);
      await setHighest(ask, 'todos', highestId);
      await ask('ANALYZE categories, todos, idempotency_keys');
      await session.commit();
    },
    // The server takes back what a client leaves.
    abandon: () => {},
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/**
 * Connects to a database to put back todos, while instances use it.
 *
 * @throws {StoreNotOpened} when it cannot be reached, or has another schema than this program's.
 */
export async function openPostgresRestore(connectionString: string): Promise<RestoreTarget> {
  const session = await begin(connectionString, schemaFault);
  await using parts = new AsyncDisposableStack();
  parts.use(session);
  const { ask } = session;
  await ask(STAGE);
  const opened = parts.move();
  return {
    async stage(todos) {
      if (todos.length > 0) await ask(ADD_STAGED, columnsOf(todos));
    },
    async commit(skipExisting): Promise<Restored> {
      await ask('ANALYZE staged');
      if (skipExisting) await ask(SKIP);
      const existing = await ask<{ id: number }>(EXISTING);
      if (existing.length > 0) return { existing: existing.map(({ id }) => id) };
      const orphans = await ask<{ id: number; categoryId: number }>(ORPHANS);
      if (orphans.length > 0) return { orphans };
      await session.raiseAbove({ todos: HIGHEST_STAGED });
      const [{ made } = { made: 0 }] = await ask<{ made: number }>(RESTORE);
      await session.commit();
      return { made };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** A transaction that no limit of the server or the role ends: the file may come slowly. */
async function begin(connectionString: string, faultOf: Parameters<typeof connect>[1]) {
  const connection = await connect(new Cluster(addressOf(connectionString)), faultOf);
  const ask = <Row extends object>(text: string, values: unknown[] = []): Promise<readonly Row[]> =>
    asStoreError('read', run<Row>(connection, text, values));
  await using parts = new AsyncDisposableStack();
  parts.defer(() => connection.leave());
  await ask(connection.beginOf(0, 'ISOLATION LEVEL READ COMMITTED'));
  const opened = parts.move();
  return {
    /** Rejects with `StoreUnavailable`: without a commit, nothing is changed. */
    ask,
    async raiseAbove(known: Readonly<Record<string, string>>): Promise<void> {
      const fault = await asStoreError('read', raiseAbove(connection, known));
      if (fault !== undefined) throw new StoreUnavailable(fault);
    },
    /** Rejects with `OutcomeUnknown` when no answer came. */
    async commit(): Promise<void> {
      await asStoreError('write', run(connection, 'COMMIT')).catch((error: unknown) => {
        if (!(error instanceof OutcomeUnknown)) throw error;
        throw new OutcomeUnknown(`${error.message}: nobody knows whether it was done`, { cause: error });
      });
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

type Session = Awaited<ReturnType<typeof begin>>;

async function assertEmpty(ask: Session['ask']): Promise<void> {
  const [row] = await ask<{ content: string | null }>(CONTENT);
  if (row?.content) throw new StoreUnavailable(`the database must be empty, and ${row.content}`);
}

/** `RESTART` gives the sequence a new file, so that a transaction that is taken back takes this back too. */
async function setHighest(ask: Session['ask'], table: string, highest: number): Promise<void> {
  const [sequence] = await ask<{ name: string }>(SEQUENCE_OF, [table]);
  await ask(`ALTER SEQUENCE ${sequence?.name} RESTART`);
  if (highest > 0) await ask('SELECT setval($1, $2)', [sequence?.name, highest]);
}

function columnsOf(todos: readonly ParsedTodo[]): unknown[] {
  return [todos.map(({ id }) => id), ...MEMBERS.map(({ name }) => todos.map((todo) => todo[name]))];
}
