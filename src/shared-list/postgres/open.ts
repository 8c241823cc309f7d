import type { TodoStore } from '../store.ts';
import { connect } from './connect.ts';
import { ConnectionPool, type Limits } from './connection-pool.ts';
import { PostgresList } from './list.ts';
import { migrate, schemaFault, serverFault } from './schema.ts';
import { PostgresTodoStore } from './store.ts';

/** A client is told within 2.5 s that the database is lost or stalled. */
const FOR_ONE_TODO: Limits = { connection: 1_000, statement: 1_200, answer: 1_400 };

const FOR_THE_LIST: Limits = { connection: 1_000, statement: 60_000, answer: 60_000 };

/** Milliseconds to wait at start for a server: with the last try, it is given up within 10 s. */
const START_PATIENCE = 7_000;

export interface PostgresOptions {
  /** False: refuse an older schema instead of bringing it up to date. */
  readonly migrate?: boolean;
  /** Connections for single todos, 10 by default; the list has one more. */
  readonly connections?: number;
  /** Milliseconds to wait at start for a server that cannot be reached yet, 7 000 by default. */
  readonly patience?: number;
  /** Hears why an idle connection ended. The message holds no password. */
  readonly onConnectionLost?: (error: Error) => void;
}

/**
 * Opens the todo list in the database that a connection string names, `postgres://user@host/database`.
 *
 * @throws {StoreNotOpened} with one line for people, without the password.
 */
export async function openPostgresStore(
  connectionString: string,
  options: PostgresOptions = {},
): Promise<TodoStore> {
  const schema = options.migrate === false ? schemaFault : migrate;
  const { client, address } = await connect(
    connectionString,
    options.patience ?? START_PATIENCE,
    async (opened) => (await serverFault(opened)) ?? (await schema(opened)),
  );
  await client.end();
  const lost = options.onConnectionLost ?? (() => {});
  await using parts = new AsyncDisposableStack();
  const max = options.connections ?? 10;
  const quick = parts.use(new ConnectionPool({ ...address.config, max }, FOR_ONE_TODO, lost));
  const patient = parts.use(new ConnectionPool({ ...address.config, max: 1 }, FOR_THE_LIST, lost));
  return new PostgresTodoStore(quick, new PostgresList(quick, patient), parts.move());
}
