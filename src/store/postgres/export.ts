import { StoreUnavailable } from '../store.ts';
import type { Todo } from '../todo.ts';
import type { ExportSource, KeptKey } from '../transfer/contents.ts';
import { addressOf } from './address.ts';
import { READ_PART } from './changes.ts';
import { Cluster } from './cluster.ts';
import { connect, run } from './connect.ts';
import { EVER, SEQUENCE_OF } from './needs.ts';
import { asStoreError, LIST_CATEGORIES } from './operator.ts';
import { schemaFault } from './schema.ts';

/** Within a transaction, `now()` stays the same. */
const KEPT = `FROM idempotency_keys WHERE at > now() - interval '24 hours'`;
const COUNT = `SELECT (SELECT count(*)::int FROM categories) AS categories, (SELECT count(*)::int FROM todos) AS todos,
  (SELECT count(*)::int ${KEPT}) AS keys`;
const READ_KEYS = `SELECT key, body, todo_id AS "todoId", floor(extract(epoch FROM at))::float8 AS at
  ${KEPT} AND key > $1 ORDER BY key LIMIT 2048`;

interface Count {
  readonly categories: number;
  readonly todos: number;
  readonly keys: number;
}

/**
 * Connects to a database to export it, while instances use it: one transaction that reads one snapshot, and that no limit
 * of the server or the role ends.
 *
 * @throws {StoreNotOpened} when it cannot be reached, or has another schema than this program's.
 */
export async function openPostgresExport(connectionString: string): Promise<ExportSource> {
  const connection = await connect(new Cluster(addressOf(connectionString)), schemaFault);
  const read = <Row extends object>(text: string, values: unknown[] = []): Promise<readonly Row[]> =>
    asStoreError('read', run<Row>(connection, text, values));
  await using parts = new AsyncDisposableStack();
  parts.defer(() => connection.leave());
  // 0 is no limit: who reads the export may let it wait.
  await read(connection.beginOf(0, 'ISOLATION LEVEL REPEATABLE READ, READ ONLY'));
  const [counts] = await read<Count>(COUNT);
  const categories = await read<{ id: number; name: string }>(LIST_CATEGORIES);
  // A sequence belongs to no snapshot: read after it, it is above all of its rows.
  const [found] = await read<{ name: string }>(SEQUENCE_OF, ['todos']);
  const [ever] = await read<{ highest: number }>(
    `SELECT greatest(last_value - (NOT is_called)::int, (${EVER.todos}))::int AS highest FROM ${found?.name}`,
  );
  if (counts === undefined || ever === undefined) throw new StoreUnavailable('the server counted nothing');
  const opened = parts.move();
  return {
    counts,
    highestId: ever.highest,
    categories,
    todosAfter: (id) => read<Todo>(READ_PART, [id]),
    keysAfter: (key) => read<KeptKey>(READ_KEYS, [key]),
    async touch() {
      await read('SELECT');
    },
    finish: async () => {},
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
