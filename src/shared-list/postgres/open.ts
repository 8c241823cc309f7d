import { setTimeout as sleep } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import { StoreNotOpened, type TodoStore } from '../store.ts';
import { type Address, addressOf } from './address.ts';
import { ConnectionPool, type Limits } from './connection-pool.ts';
import { messageOf } from './error.ts';
import { PostgresList } from './list.ts';
import { migrate, schemaFault, serverFault } from './schema.ts';
import { PostgresTodoStore } from './store.ts';

/** A client is told within 2.5 s that the database is lost or stalled. */
const FOR_ONE_TODO: Limits = { connection: 1_000, statement: 1_200, answer: 1_400 };

const FOR_THE_LIST: Limits = { connection: 1_000, statement: 60_000, answer: 60_000 };

/** Milliseconds for one try to connect at start, and between two. */
const CONNECTION_WAIT = 2_000;
const RETRY_INTERVAL = 250;

/** Milliseconds that a migration may take, the wait for another instance's included. */
const MIGRATION_TIMEOUT = 60_000;

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
  const address = addressOf(connectionString);
  if (address === undefined) {
    throw new StoreNotOpened('unusable', 'Cannot open the database: its connection string cannot be read');
  }
  await prepare(address, options);
  const lost = options.onConnectionLost ?? (() => {});
  await using parts = new AsyncDisposableStack();
  const max = options.connections ?? 10;
  const quick = parts.use(new ConnectionPool({ ...address.config, max }, FOR_ONE_TODO, lost));
  const patient = parts.use(new ConnectionPool({ ...address.config, max: 1 }, FOR_THE_LIST, lost));
  return new PostgresTodoStore(quick, new PostgresList(quick, patient), parts.move());
}

async function prepare(address: Address, options: PostgresOptions): Promise<void> {
  const unusable = (fault: string, cause?: unknown) =>
    new StoreNotOpened('unusable', `Cannot open the database "${address.name}": ${fault}`, { cause });
  const client = await connect(address, options.patience ?? 7_000).catch((error: unknown) => {
    throw unusable(messageOf(error), error);
  });
  try {
    const schema = options.migrate === false ? schemaFault : migrate;
    const fault = (await serverFault(client)) ?? (await schema(client));
    if (fault !== undefined) throw unusable(fault);
  } catch (error) {
    throw error instanceof StoreNotOpened ? error : unusable(messageOf(error), error);
  } finally {
    await client.end();
  }
}

/** A server that cannot be reached, or that is starting, may be there in a moment; other refusals are final. */
async function connect(address: Address, patience: number): Promise<Client> {
  const deadline = performance.now() + patience;
  for (;;) {
    const client = new Client({
      ...address.config,
      connectionTimeoutMillis: CONNECTION_WAIT,
      statement_timeout: MIGRATION_TIMEOUT,
    });
    client.on('error', () => {});
    try {
      return await client.connect();
    } catch (error) {
      const final = error instanceof DatabaseError && error.code !== CANNOT_CONNECT_NOW;
      if (final || performance.now() >= deadline) throw error;
    }
    await sleep(RETRY_INTERVAL);
  }
}

const CANNOT_CONNECT_NOW = '57P03';
