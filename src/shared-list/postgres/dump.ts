import { Client, type ClientConfig } from 'pg';
import { shellWord } from '../../shell-word.ts';

/**
 * The call of `pg_dump`, for a shell, that copies a database to `file`. Without the password: `pg_dump` asks for it.
 *
 * @returns undefined when it is no connection string. Why is not told: the driver's message may quote it.
 */
export function dumpCommand(connectionString: string, file: string): string | undefined {
  const client = clientOf({ connectionString });
  if (client === undefined) return undefined;
  const { host, port, user, database } = client;
  const settings = Object.entries({ host, port, username: user, dbname: database, file });
  const flags = settings.map(([name, value]) =>
    value === undefined ? '' : ` --${name}=${shellWord(String(value))}`,
  );
  return `pg_dump --format=custom${flags.join('')}`;
}

function clientOf(config: ClientConfig): Client | undefined {
  try {
    return new Client(config);
  } catch {
    return undefined;
  }
}
