import { Client, type PoolConfig } from 'pg';

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
 * @returns undefined when it is no connection string. Why is not told: the driver's message may quote it.
 */
export function addressOf(connectionString: string): Address | undefined {
  const config = { connectionString, application_name: 'todo-service' };
  try {
    const { host, port, database } = new Client(config);
    return { name: `postgres://${host}:${port}/${database}`, config };
  } catch {
    return undefined;
  }
}
