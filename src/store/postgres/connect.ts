import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryResultRow } from 'pg';
import { StoreNotOpened, unusable } from '../store.ts';
import type { Cluster, ConnectionRequirements } from './cluster.ts';
import type { ServerConnection } from './connection.ts';
import { isProtocolViolation, messageOf, NoServer } from './error.ts';

/** Milliseconds for one try to connect, and between two. */
export const CONNECTION_WAIT_MS = 2_000;
const RETRY_INTERVAL_MS = 250;

/** Milliseconds that a statement of the start may take, for example a migration, the wait for another instance's included. */
const STATEMENT_WAIT_MS = 60_000;

/** Oldest supported server. */
const OLDEST_MAJOR = 15;

const SERVER = `SELECT current_setting('server_version_num')::int / 10000 AS major,
  current_setting('server_encoding') AS encoding, current_setting('synchronous_commit') AS commit`;
/** What is wrong with the database, for people, or undefined. */
type FaultOf = (connection: ServerConnection) => Promise<string | undefined>;

/** Of an operator, whose statements may take long. */
const PATIENT = { statementMs: STATEMENT_WAIT_MS, strict: false, withinMs: CONNECTION_WAIT_MS };

/**
 * Connects, and checks whether server and database will do. Whoever asked for the connection ends it.
 *
 * @param patienceMs To wait for a server that cannot be reached yet, or takes no writes yet.
 * @throws {StoreNotOpened} for whatever goes wrong, with one line for people, without the password.
 */
export async function connect(
  cluster: Cluster,
  faultOf: FaultOf,
  patienceMs = 0,
  requirements: ConnectionRequirements = PATIENT,
): Promise<ServerConnection> {
  const { name } = cluster.address;
  await using parts = new AsyncDisposableStack();
  try {
    const connection = parts.adopt(await reach(cluster, requirements, patienceMs), (opened) =>
      opened.leave(),
    );
    const fault = (await serverFault(connection)) ?? (await faultOf(connection));
    if (fault !== undefined) throw unusable(name, fault);
    parts.move();
    return connection;
  } catch (error) {
    throw error instanceof StoreNotOpened ? error : unusable(name, messageOf(error), error);
  }
}

/** A server that cannot be reached, or takes nobody for now, may be there in a moment. */
async function reach(
  cluster: Cluster,
  requirements: ConnectionRequirements,
  patienceMs: number,
): Promise<ServerConnection> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await cluster.open(requirements);
    } catch (error) {
      if ((error instanceof NoServer && error.final) || performance.now() >= deadline) throw error;
    }
    await sleep(RETRY_INTERVAL_MS);
  }
}

/** What is wrong with the server, or with the pooler before it, for people, or undefined. */
async function serverFault(connection: ServerConnection): Promise<string | undefined> {
  try {
    return await inTransaction(connection, () => settingsFault(connection));
  } catch (error) {
    if (!isProtocolViolation(error)) throw error;
    return `its pooler must keep a transaction on one connection, as PgBouncer does with "pool_mode = transaction": ${messageOf(error)}`;
  }
}

async function settingsFault(connection: ServerConnection): Promise<string | undefined> {
  const rows = await run<{ major: number; encoding: string; commit: string }>(connection, SERVER);
  const [{ major, encoding, commit } = { major: 0, encoding: '', commit: '' }] = rows;
  if (major < OLDEST_MAJOR) return `PostgreSQL must be ${OLDEST_MAJOR} or later, received ${major}`;
  if (encoding !== 'UTF8') return `its encoding must be "UTF8", received "${encoding}"`;
  // An answer means that the change is on disk.
  return commit === 'off'
    ? 'its "synchronous_commit" must not be "off" for this user and database'
    : undefined;
}

/** The rows of a statement, which may take long. */
export function run<Row extends QueryResultRow>(
  connection: ServerConnection,
  text: string,
  values: unknown[] = [],
): Promise<readonly Row[]> {
  return connection.run({ text, values }, { withinMs: STATEMENT_WAIT_MS });
}

/**
 * Runs `work` in one transaction, whatever the role's own settings are: it may take long, and each statement sees what
 * others have committed before it.
 */
export async function inTransaction<T>(connection: ServerConnection, work: () => Promise<T>): Promise<T> {
  await run(connection, connection.beginOf(STATEMENT_WAIT_MS, 'ISOLATION LEVEL READ COMMITTED'));
  try {
    const made = await work();
    await run(connection, 'COMMIT');
    return made;
  } catch (error) {
    await run(connection, 'ROLLBACK').catch(() => {});
    throw error;
  }
}
