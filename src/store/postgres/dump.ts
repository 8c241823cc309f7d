import { shellWord } from '../../shell-word.ts';
import { type Address, addressOf } from './address.ts';

/**
 * The call of `pg_dump`, for a shell, that copies a database to `file`. Without the password: `pg_dump` asks for it.
 *
 * @returns undefined when it is no connection string. Why is not told: the driver's message may quote it.
 */
export function dumpCommand(connectionString: string, file: string): string | undefined {
  const address = addressFrom(connectionString);
  if (address === undefined) return undefined;
  const { hosts, config } = address;
  const settings = Object.entries({
    host: hosts.map(({ host }) => host).join(','),
    port: hosts.map(({ port }) => port).join(','),
    username: config.user,
    dbname: config.database,
    file,
  });
  return `pg_dump --format=custom${settings.map(([name, value]) => ` --${name}=${shellWord(value)}`).join('')}`;
}

function addressFrom(connectionString: string): Address | undefined {
  try {
    return addressOf(connectionString);
  } catch {
    return undefined;
  }
}
