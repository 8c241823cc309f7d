import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryResultRow } from 'pg';
import { StoreNotOpened, unusable } from '../store.ts';
import type { Cluster, ConnectionRequirements } from './cluster.ts';
import type { ServerConnection } from './connection.ts';
import { messageOf, NoServer } from './error.ts';

/** Milliseconds for one try to connect, and between two. */
const CONNECTION_WAIT_MS = 2_000;
const RETRY_INTERVAL_MS = 250;

/** Milliseconds that a statement of the start may take, for example a migration, the wait for another instance's included. */
const STATEMENT_WAIT_MS = 60_000;

interface Start {
  /** Milliseconds to wait for a server that cannot be reached yet, or takes no writes yet. */
  readonly patienceMs: number;
  /** Milliseconds that the server must give every statement of the service at the most; else it will not do. */
  readonly strictMs?: number;
  /** What is wrong with the database, for people, or undefined. */
  readonly faultOf: (connection: ServerConnection) => Promise<string | undefined>;
}

/**
 * Connects, and checks whether the database will do. Whoever asked for the connection ends it.
 *
 * @throws {StoreNotOpened} for whatever goes wrong, with one line for people, without the password.
 */
export async function connect(
  cluster: Cluster,
  { patienceMs, strictMs, faultOf }: Start,
): Promise<ServerConnection> {
  const { name } = cluster.address;
  await using parts = new AsyncDisposableStack();
  try {
    const requirements = {
      statementMs: strictMs ?? STATEMENT_WAIT_MS,
      strict: strictMs !== undefined,
      withinMs: CONNECTION_WAIT_MS,
    };
    const connection = parts.adopt(await reach(cluster, requirements, patienceMs), (opened) =>
      opened.leave(),
    );
    const fault = await faultOf(connection);
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
