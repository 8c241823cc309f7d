import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { asNotUsable, errorCode } from '../../lib/errors.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { quoteFile } from '../../lib/quote.ts';
import { type Connection, readConnectionString } from '../postgres-connection-string.ts';
import { readPasswordFile } from '../settings.ts';

/** One server of a list, of which one at a time takes writes. */
export type Host = Connection['hosts'][number];

/** A database and the way to it. */
export type Address = ReturnType<typeof addressOf>;

/**
 * The address in a connection string. Missing parts come from libpq's variables (`PGHOST`, `PGPASSWORD`, …), or from the
 * file of `TODO_DATABASE_PASSWORD_FILE`, which is read for each connection.
 *
 * @throws {NotUsable} when it cannot be used, {OperatorError} when it names a file that cannot be read. The message never
 * quotes user, password or another value of the string, except the path of that file.
 */
export function addressOf(connectionString: string, env = process.env) {
  const connection = readConnectionString(connectionString, (name) => env[name] || undefined);
  const { hosts, user, database, password, applicationName, options, tls, negotiation } = connection;
  const { channelBinding, connectMs } = connection;
  const config = {
    user,
    database,
    ssl: tlsOf(tls),
    sslnegotiation: negotiation,
    channelBinding,
    enableChannelBinding: tls !== undefined && channelBinding !== 'disable',
    connectMs,
    application_name: applicationName,
    // A function is called for each connection.
    password: passwordFrom(env.TODO_DATABASE_PASSWORD_FILE) ?? password ?? noPassword,
    options,
  };
  const name = `postgres://${hosts.map(nameOf).join(',')}/${database}`;
  return {
    /** For people: `postgres://host:5432/todos`, without user and password. */
    name,
    /** At least one, in the order in which they are tried. */
    hosts,
    /** The same for each host. */
    config,
  };
}

/** Reads a file at each call, and throws the reason why it cannot. */
function passwordFrom(path: string | undefined): (() => Promise<string>) | undefined {
  if (!path) return undefined;
  return () =>
    readPasswordFile(path).catch((error) => {
      throw new Error(
        `the file of TODO_DATABASE_PASSWORD_FILE cannot be used: ${asNotUsable(error).message}`,
      );
    });
}

/** Called when the server asks for a password. Without it the driver would read `~/.pgpass`. */
async function noPassword(): Promise<never> {
  throw new Error('it asks for a password: TODO_DATABASE_PASSWORD_FILE names a file with one');
}

/** `host:5432`, for people. */
export function nameOf({ host, port }: Host): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function tlsOf(tls: Connection['tls']): false | ConnectionOptions {
  if (tls === undefined) return false;
  return {
    rejectUnauthorized: tls.verify,
    ...fileAt('ca', 'sslrootcert', tls.root),
    ...fileAt('cert', 'sslcert', tls.certificate),
    ...fileAt('key', 'sslkey', tls.key),
  };
}

/** The message has no name of a file that is not there: it may be the key itself (contract D18). */
function fileAt(
  option: 'ca' | 'cert' | 'key',
  parameter: string,
  path: string | undefined,
): ConnectionOptions {
  // "system" is libpq's word for the authorities of the machine.
  if (!path || path === 'system') return {};
  try {
    return { [option]: readFileSync(path) };
  } catch (error) {
    const fault = `"${parameter}" must name a file in PEM, received ${quoteFile(path)}: ${errorCode(error)}`;
    throw new OperatorError('unavailable', `Cannot open the database: ${fault}`);
  }
}
