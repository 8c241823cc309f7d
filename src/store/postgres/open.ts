import type { Tell } from '../../events.ts';
import { SETTINGS } from '../../settings.ts';
import type { TodoStore } from '../store.ts';
import { addressOf } from './address.ts';
import { Cluster } from './cluster.ts';
import { CONNECTION_WAIT_MS, connect } from './connect.ts';
import type { ServerConnection } from './connection.ts';
import { Database } from './database.ts';
import { SchemaHealth } from './health.ts';
import { PostgresList, PURGE } from './list.ts';
import { faultOf, findAllLacks, rightsFault } from './needs.ts';
import { latestVersion, migrate, schemaFault, schemaVersion, unloggedFault } from './schema.ts';
import { postgresStore } from './store.ts';

/** A client is told within 2.5 s that the database is lost or stalled. */
const FOR_ONE_TODO = {
  connectionMs: 1_000,
  statementMs: 1_200,
  answerMs: 1_400,
  lifetimeMs: 300_000,
  idleMs: 10_000,
};

const FOR_THE_LIST = { ...FOR_ONE_TODO, connections: 1, statementMs: 60_000 };

/** Milliseconds to wait at start for a server: with the last try, it is given up within 10 s. */
const START_PATIENCE_MS = 7_000;

export interface PostgresOptions {
  /** False: refuse an older schema instead of bringing it up to date. */
  readonly migrate?: boolean;
  /** Connections for single todos, 10 by default; the list has one more. */
  readonly connections?: number;
  /** False: no statement is prepared by name, for a pooler that is not recognized as one. */
  readonly prepare?: boolean;
  /** Milliseconds to wait at start for a server that cannot be reached yet, 7 000 by default. */
  readonly patienceMs?: number;
  /** Nobody is told by default. */
  readonly tell?: Tell;
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
  const { tell = () => {} } = options;
  const schema = async (opened: ServerConnection) => {
    const fault = await (options.migrate === false ? checkSchema(opened) : migrate(opened, tell));
    const [{ version }, own] = [await schemaVersion(opened), latestVersion()];
    if (fault === undefined && version > own) tell({ event: 'schema-newer', version, own });
    return fault;
  };
  const cluster = new Cluster(addressOf(connectionString), options.prepare);
  const connection = await connect(
    cluster,
    async (opened) => (await rightsFault(opened)) ?? (await schema(opened)) ?? (await unloggedFault(opened)),
    options.patienceMs ?? START_PATIENCE_MS,
    { statementMs: FOR_ONE_TODO.statementMs, strict: true, withinMs: CONNECTION_WAIT_MS },
  );
  // What goes wrong with it now is done an hour later.
  await connection.run({ text: PURGE }, { withinMs: FOR_ONE_TODO.answerMs }).catch(() => {});
  await connection.leave();
  const lost = ({ message }: Error) => tell({ event: 'connection-lost', reason: message });
  await using parts = new AsyncDisposableStack();
  const limits = {
    ...FOR_ONE_TODO,
    connections: options.connections ?? SETTINGS.TODO_DATABASE_CONNECTIONS.default,
  };
  const database = parts.use(new Database(cluster, limits, lost));
  const patient = parts.use(new Database(cluster, FOR_THE_LIST, lost));
  const list = parts.use(new PostgresList(database, patient));
  const health = parts.use(new SchemaHealth(database, tell));
  const opened = parts.move();
  return postgresStore({ database, list, health }, () => opened.disposeAsync());
}

async function checkSchema(connection: ServerConnection): Promise<string | undefined> {
  return (await schemaFault(connection)) ?? faultOf(await findAllLacks(connection));
}
