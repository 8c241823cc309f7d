import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../lib/errors.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { notOpened } from '../../shared-list/store.ts';
import type { Cluster, ConnectionRequirements } from './cluster.ts';
import { isProtocolViolation, ListElsewhere, NOT_KEPT, NoServer } from './error.ts';
import { type Ask, PATIENT_MS, type PostgresConnection } from './postgres-connection.ts';

/** Milliseconds for one try to connect, and between two. */
const CONNECTION_WAIT_MS = 2_000;
const RETRY_INTERVAL_MS = 250;

/** Oldest supported server. */
const OLDEST_MAJOR = 15;

const SERVER = `SELECT current_setting('server_version_num')::int / 10000 AS major,
  current_setting('server_encoding') AS encoding`;

interface ConnectOptions extends Pick<ConnectionRequirements, 'statementMs' | 'strict'> {
  /** Milliseconds to wait for a server that cannot be reached yet, or takes no writes yet. */
  readonly patienceMs: number;
}

const FOR_AN_OPERATOR: ConnectOptions = { statementMs: PATIENT_MS, strict: false, patienceMs: 0 };

/**
 * Connects, and checks whether server and database are fit. The caller ends the connection.
 *
 * @param prepare Makes the database ready, or throws an Error for people with the reason why it is unfit.
 * @throws {OperatorError} for any failure, with one line for people, without the password.
 */
export async function connect(
  cluster: Cluster,
  prepare: (connection: PostgresConnection) => Promise<unknown>,
  options = FOR_AN_OPERATOR,
): Promise<PostgresConnection> {
  await using parts = new AsyncDisposableStack();
  try {
    const connection = parts.adopt(await reach(cluster, options), (opened) => opened.leave());
    await checkServer(connection);
    await prepare(connection);
    parts.move();
    return connection;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason = error instanceof ListElsewhere ? 'configuration' : 'unavailable';
    throw notOpened(cluster.address.name, messageOf(error), reason, error);
  }
}

/** Connects. A server that cannot be reached, or takes no connections for now, is tried again. */
async function reach(
  cluster: Cluster,
  { patienceMs, ...options }: ConnectOptions,
): Promise<PostgresConnection> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await cluster.open({ ...options, withinMs: CONNECTION_WAIT_MS });
    } catch (error) {
      if ((error instanceof NoServer && error.final) || performance.now() >= deadline) throw error;
    }
    await sleep(RETRY_INTERVAL_MS);
  }
}

/** Throws an Error for people when the server, or the pooler before it, is unfit. */
async function checkServer(connection: PostgresConnection): Promise<void> {
  try {
    await connection.transaction(checkSettings);
  } catch (error) {
    if (!isProtocolViolation(error)) throw error;
    throw new Error(`${NOT_KEPT}: ${messageOf(error)}`);
  }
}

async function checkSettings(ask: Ask): Promise<void> {
  const rows = await ask<{ major: number; encoding: string }>(SERVER);
  const [{ major, encoding } = { major: 0, encoding: '' }] = rows;
  if (major < OLDEST_MAJOR) throw new Error(`PostgreSQL must be ${OLDEST_MAJOR} or later, received ${major}`);
  if (encoding !== 'UTF8') throw new Error(`its encoding must be "UTF8", received "${encoding}"`);
}
