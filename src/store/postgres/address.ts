import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { userInfo } from 'node:os';
import type { ConnectionOptions } from 'node:tls';
import type { ClientConfig } from 'pg';
import { shellWord } from '../../quote.ts';
import { readPasswordFile } from '../database.ts';
import { type ConnectionString, invalid, readConnectionString } from './connection-string.ts';

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
  readonly password: string | undefined | (() => Promise<string>);
  readonly user: string;
  readonly database: string;
  readonly ssl: false | ConnectionOptions;
  readonly sslnegotiation: 'postgres' | 'direct';
}

/** libpq's names for a server that this service can work with: whichever is meant, it has to take writes. */
const SESSION_ATTRIBUTES = ['any', 'read-write', 'primary'];

/** Variables of libpq that choose a server or make a connection safer, and that this service does not understand. */
const UNSUPPORTED_VARIABLES = [
  'PGSERVICE',
  'PGHOSTADDR',
  'PGLOADBALANCEHOSTS',
  'PGCHANNELBINDING',
  'PGREQUIREAUTH',
  'PGREQUIREPEER',
  'PGSSLCRL',
  'PGSSLCRLDIR',
  'PGSSLMINPROTOCOLVERSION',
  'PGSSLMAXPROTOCOLVERSION',
];

const TLS_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];

type Variables = NodeJS.ProcessEnv;

/**
 * Reads a connection string; what it leaves open comes from libpq's variables (`PGHOST`, `PGPASSWORD`, …), or from the
 * file of `TODO_DATABASE_PASSWORD_FILE`, which is read for each connection.
 *
 * @throws {StoreNotOpened} when it is none, asks for what is not supported, or names a file that cannot be read. The
 * message never quotes user, password or another value of the string, except the path of that file.
 */
export function addressOf(connectionString: string, env: Variables = process.env): Address {
  const read = readConnectionString(connectionString);
  const variable = UNSUPPORTED_VARIABLES.find((name) => env[name]);
  if (variable !== undefined) throw invalid(`the variable ${variable} is not supported`);
  const { parameters } = read;
  const attributes = parameters.target_session_attrs ?? (env.PGTARGETSESSIONATTRS || 'any');
  if (!SESSION_ATTRIBUTES.includes(attributes)) {
    throw invalid(
      '"target_session_attrs" must be "any", "read-write" or "primary": the service needs a server that takes writes',
    );
  }
  const user = read.user ?? (env.PGUSER || userOfProcess());
  const database = read.database ?? (env.PGDATABASE || user);
  const hosts = hostsOf(read, env);
  const config = {
    user,
    database,
    ssl: tlsOf(parameters, env),
    sslnegotiation: negotiationOf(parameters, env),
    application_name: parameters.application_name ?? (env.PGAPPNAME || 'todo-service'),
    password: passwordFrom(env.TODO_DATABASE_PASSWORD_FILE) ?? read.password ?? env.PGPASSWORD,
    options: parameters.options ?? env.PGOPTIONS,
  };
  return { name: `postgres://${hosts.map(nameOf).join(',')}/${database}`, hosts, config };
}

/** Reads a file at each call, and throws with why it cannot be. */
function passwordFrom(path: string | undefined): (() => Promise<string>) | undefined {
  if (!path) return undefined;
  return async () => {
    const file = await readPasswordFile(path);
    if (file.outcome === 'read') return file.password;
    throw new Error(`the file of TODO_DATABASE_PASSWORD_FILE cannot be used: ${file.reason}`);
  };
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

function hostsOf(read: ConnectionString, env: Variables): readonly Host[] {
  const names = read.hosts.length > 0 ? read.hosts : (env.PGHOST || 'localhost').split(',');
  const ports = read.ports.some((port) => port !== '') ? read.ports : (env.PGPORT || '5432').split(',');
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
function tlsOf(parameters: ConnectionString['parameters'], env: Variables): false | ConnectionOptions {
  if (parameters.ssl !== undefined && parameters.ssl !== 'true') {
    throw invalid('"ssl" must be "true": use "sslmode"');
  }
  const { sslrootcert, sslcert, sslkey } = parameters;
  const asked = parameters.ssl ?? sslrootcert ?? sslcert ?? sslkey;
  const mode = parameters.sslmode ?? (asked === undefined ? env.PGSSLMODE || 'disable' : 'verify-full');
  if (!TLS_MODES.includes(mode)) {
    throw invalid(
      '"sslmode" must be "verify-full", "verify-ca", "require", "prefer", "no-verify" or "disable"',
    );
  }
  if (mode === 'disable') return false;
  return {
    rejectUnauthorized: mode !== 'no-verify',
    ...fileAt('ca', sslrootcert ?? env.PGSSLROOTCERT),
    ...fileAt('cert', sslcert ?? env.PGSSLCERT),
    ...fileAt('key', sslkey ?? env.PGSSLKEY),
  };
}

function negotiationOf(parameters: ConnectionString['parameters'], env: Variables): 'postgres' | 'direct' {
  const asked = parameters.sslnegotiation ?? (env.PGSSLNEGOTIATION || 'postgres');
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
