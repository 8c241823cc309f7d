import { Client, type PoolConfig } from 'pg';
import { StoreNotOpened } from '../store.ts';

/** Where a database is, and how to reach it. */
export interface Address {
  /** For people: `postgres://host:5432/todos`, without user and password. */
  readonly name: string;
  readonly config: PoolConfig;
}

/**
 * Reads a connection string; what it leaves open comes from the usual variables (`PGHOST`, `PGPASSWORD`, …).
 * TLS by `sslmode` and `sslrootcert`, as the driver understands them.
 *
 * @throws {StoreNotOpened} when it is no connection string, or names a file that cannot be read.
 */
export function addressOf(connectionString: string): Address {
  const config = { connectionString, application_name: 'todo-service' };
  try {
    const { host, port, database } = new Client(config);
    return { name: `postgres://${host}:${port}/${database}`, config };
  } catch (error) {
    // Other messages may quote the connection string.
    const why = isFromFile(error) ? `: ${error.message}` : '';
    throw new StoreNotOpened(
      'unusable',
      `Cannot open the database: its connection string cannot be read${why}`,
    );
  }
}

function isFromFile(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'path' in error;
}
