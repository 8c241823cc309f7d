import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { userInfo } from 'node:os';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { asNotUsable } from '../../files.ts';
import { readPasswordFile } from '../database.ts';
import { invalid, type Parameters, readParameters } from './connection-string.ts';

/** One server of a list, of which one at a time takes writes. */
export interface Host {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

/** Where a database is, and how to reach it. */
export interface Address {
  /** For people: `postgres://host:5432/todos`, without user and password. */
  readonly name: string;
  /** At least one, in the order in which they are tried. */
  readonly hosts: readonly Host[];
  /** What is the same for each host. */
  readonly config: Config;
}

interface Config extends ClientConfig {
  /** A function is asked for each connection. */
  readonly password: string | (() => Promise<string>);
  readonly user: string;
  readonly database: string;
  readonly ssl: false | ConnectionOptions;
  readonly sslnegotiation: 'postgres' | 'direct';
}

/** libpq's names for a server that this service can work with: whichever is meant, it has to take writes. */
const SESSION_ATTRIBUTES = ['any', 'read-write', 'primary'];

const TLS_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];

/**
 * Reads a connection string; what it leaves open comes from libpq's variables (`PGHOST`, `PGPASSWORD`, …), or from the
 * file of `TODO_DATABASE_PASSWORD_FILE`, which is read for each connection.
 *
 * @throws {StoreNotOpened} when it is none, asks for what is not supported, or names a file that cannot be read. The
 * message never quotes user, password or another value of the string, except the path of that file.
 */
export function addressOf(connectionString: string, env = process.env): Address {
  const parameters = readParameters(connectionString, env);
  const { get } = parameters;
  const attributes = get('target_session_attrs') ?? 'any';
  if (!SESSION_ATTRIBUTES.includes(attributes)) {
    throw invalid(
      '"target_session_attrs" must be "any", "read-write" or "primary": the service needs a server that takes writes',
    );
  }
  const user = get('user') ?? userOfProcess();
  const database = get('dbname') ?? user;
  const hosts = hostsOf(get('host') ?? 'localhost', get('port') ?? '5432');
  const config = {
    user,
    database,
    ssl: tlsOf(parameters),
    sslnegotiation: negotiationOf(get('sslnegotiation') ?? 'postgres'),
    application_name: get('application_name') ?? 'todo-service',
    password: passwordFrom(env.TODO_DATABASE_PASSWORD_FILE) ?? get('password') ?? noPassword,
    options: get('options'),
  };
  return { name: `postgres://${hosts.map(nameOf).join(',')}/${database}`, hosts, config };
}

/** Reads a file at each call, and throws with why it cannot be. */
function passwordFrom(path: string | undefined): (() => Promise<string>) | undefined {
  if (!path) return undefined;
  return () =>
    readPasswordFile(path).catch((error) => {
      throw new Error(
        `the file of TODO_DATABASE_PASSWORD_FILE cannot be used: ${asNotUsable(error).message}`,
      );
    });
}

/** Called when the server asks. Without it the driver would look into `~/.pgpass`. */
async function noPassword(): Promise<never> {
  throw new Error('it asks for a password: TODO_DATABASE_PASSWORD_FILE names a file with one');
}

/** A container may run as a number that has no name. */
function userOfProcess(): string {
  try {
    return userInfo().username;
  } catch {
    throw invalid('it must name a user, because the user of this process has no name');
  }
}

/** `host:5432`, for people. */
export function nameOf({ host, port }: Host): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function hostsOf(hostList: string, portList: string): readonly Host[] {
  const names = hostList.split(',');
  const ports = portList.split(',');
  if (ports.length !== 1 && ports.length !== names.length) {
    throw invalid('it must have one port for all hosts, or one for each');
  }
  return names.map((name, index) => {
    const host = name === '' ? 'localhost' : name;
    if (!/^(?:[\w.-]+|[0-9A-Fa-f:.]+(?:%[\w.]+)?|\/[^\0]*)$/.test(host))
      throw invalid('the name of a host cannot be read');
    const port = ports[ports.length === 1 ? 0 : index] || '5432';
    if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535) {
      throw invalid('a port must be a number from 1 to 65535');
    }
    return { host, port: Number(port) };
  });
}

/** False for none. Any mode that asks for TLS verifies the certificate and its name, but `no-verify`. */
function tlsOf({ inString, get }: Parameters): false | ConnectionOptions {
  const { ssl, sslrootcert, sslcert, sslkey } = inString;
  if (ssl !== undefined && ssl !== 'true') throw invalid('"ssl" must be "true": use "sslmode"');
  const asked = ssl ?? sslrootcert ?? sslcert ?? sslkey;
  const mode = asked === undefined ? (get('sslmode') ?? 'disable') : (inString.sslmode ?? 'verify-full');
  if (!TLS_MODES.includes(mode)) {
    throw invalid(
      '"sslmode" must be "verify-full", "verify-ca", "require", "prefer", "no-verify" or "disable"',
    );
  }
  if (mode === 'disable') return false;
  return {
    rejectUnauthorized: mode !== 'no-verify',
    ...fileAt('ca', get('sslrootcert')),
    ...fileAt('cert', get('sslcert')),
    ...fileAt('key', get('sslkey')),
  };
}

function negotiationOf(asked: string): 'postgres' | 'direct' {
  if (asked === 'postgres' || asked === 'direct') return asked;
  throw invalid('"sslnegotiation" must be "postgres" or "direct"');
}

function fileAt(option: 'ca' | 'cert' | 'key', path: string | undefined): ConnectionOptions {
  // "system" is libpq's word for the authorities of the machine.
  if (!path || path === 'system') return {};
  try {
    return { [option]: readFileSync(path, 'utf8') };
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : 'a file of it cannot be read');
  }
}
