import type { AuthSettings } from '../auth/settings.ts';
import { readOrigins } from '../http/cors.ts';
import { type GivenFlags, readSettings, type Settings } from '../settings/read.ts';
import type { Environment, SETTINGS } from '../settings/table.ts';
import { type DatabaseSettings, readDatabase, readServedDatabase } from '../storage/settings.ts';
import { readTraces } from '../telemetry/settings.ts';
import type { Address, TcpAddress } from '../wire/address.ts';
import { lookAtGiven } from '../wire/given-socket.ts';
import { LONGEST_PATH } from '../wire/socket-file.ts';

/** The configuration of a service. Combinations that make no sense have no type. */
export type Config = Awaited<ReturnType<typeof readConfig>>['config'];

interface Listening {
  readonly address: Address;
  /** The variable of another program that decides the address, a platform or a parent that gives a socket. */
  readonly from?: typeof SETTINGS.TODO_PORT.otherVariable | 'LISTEN_FDS';
}

/** Reads the settings of `serve`. `inForce` are those that decided. @throws {ConfigFaults} as all readers here do. */
export async function readConfig(flags: GivenFlags, env: NodeJS.ProcessEnv) {
  const settings = readSettings(env, flags);
  const { inForce } = settings;
  const environment = settings.read('TODO_ENVIRONMENT');
  const name = settings.read('TODO_PROFILE');
  const listening = readAddress(settings);
  const common = {
    environment,
    logLevel: settings.read('TODO_LOG_LEVEL', environment),
    /** Whether the log has a line for each change of a todo, with its caller. */
    audit: settings.read('TODO_AUDIT') === 'on',
    /** Exact origins; browser applications of these may use the service. */
    corsOrigins: readOrigins(settings),
    maxConnections: settings.read('TODO_MAX_CONNECTIONS'),
    keepAliveSeconds: settings.read('TODO_KEEP_ALIVE_SECONDS'),
    /** Seconds from the start of draining until open connections are cut off. */
    shutdownSeconds: settings.read('TODO_SHUTDOWN_SECONDS'),
    /** Seconds for which a service that is no longer ready goes on as before. */
    shutdownDelaySeconds: settings.read('TODO_SHUTDOWN_DELAY_SECONDS'),
    admin: readAdmin(settings),
    traces: readTraces(settings),
  };
  if (name === 'error-demo') {
    return settings.whenSound(
      listening && { config: { ...common, ...listening, profile: { name } }, inForce },
    );
  }
  const dataDir = settings.read('TODO_DATA_DIR');
  const database = await readServedDatabase(settings, dataDir, flags['no-migrate'] !== true);
  const auth = await readAuthOf(settings, environment);
  const profile = auth && { name, dataDir, database, auth };
  return settings.whenSound(
    listening && profile && { config: { ...common, ...listening, profile }, inForce },
  );
}

/** Reads the database of the list, for commands that work on it without serving. */
export async function readDatabaseConfig(
  flags: GivenFlags,
  env: NodeJS.ProcessEnv,
): Promise<DatabaseSettings> {
  const settings = readSettings(env, flags);
  return settings.whenSound(await readDatabase(settings, settings.read('TODO_DATA_DIR')));
}

/** Reads the trust in tokens, for a command that looks at one without serving. */
export async function readAuthConfig(flags: GivenFlags, env: NodeJS.ProcessEnv): Promise<AuthSettings> {
  const settings = readSettings(env, flags);
  return settings.whenSound(await readAuthOf(settings, settings.read('TODO_ENVIRONMENT')));
}

/**
 * Decides where the public listener listens: on a socket that came with the start, else on a socket's file, else on host
 * and port.
 */
function readAddress(settings: Settings): Listening | undefined {
  const given = settings.given('LISTEN_FDS');
  // The socket may be for a parent, such as npm.
  if (given !== undefined && settings.other('LISTEN_PID') === String(process.pid)) return readGiven(settings);
  const path = settings.read('TODO_SOCKET');
  if (path !== undefined) return { address: readSocketFile(settings, path) };
  const host = settings.read('TODO_HOST');
  const port = settings.read('TODO_PORT');
  const isPlatforms = settings.given('TODO_PORT')?.name === 'PORT';
  const setting = `--port or TODO_PORT${isPlatforms ? ', which beat PORT' : ''}`;
  return { address: { host, port, setting }, ...(isPlatforms && { from: 'PORT' }) };
}

function readGiven(settings: Settings): Listening | undefined {
  const announced = settings.read('LISTEN_FDS');
  const { what, socket } = lookAtGiven();
  if (announced === '1' && socket !== undefined) return { address: socket, from: 'LISTEN_FDS' };
  const wanted = 'must be "1", for one TCP or Unix socket that listens';
  const received = `${settings.quoted('LISTEN_FDS', announced)}, with descriptor 3 ${what}`;
  return settings.refuse('LISTEN_FDS', wanted, received);
}

/** Reads the file of a socket. Host and port of our own settings contradict it; the `PORT` of a platform does not count. */
function readSocketFile(settings: Settings, path: string): Address {
  const isPath = path.startsWith('/') && !path.endsWith('/') && Buffer.byteLength(path) <= LONGEST_PATH;
  if (!isPath)
    settings.refuse('TODO_SOCKET', `must be an absolute path of a file, of at most ${LONGEST_PATH} bytes`);
  const variables = ['TODO_SOCKET', 'TODO_HOST', 'TODO_PORT'] as const;
  const names = variables.map((variable) => settings.given(variable)?.name);
  const [own, ...others] = names.filter((name) => name !== undefined && name !== 'PORT');
  for (const other of others) settings.fault(`${other} must not be set beside ${own}`, 'TODO_SOCKET');
  return { path, mode: Number.parseInt(settings.read('TODO_SOCKET_MODE'), 8) };
}

/** Reads the address of the admin listener, for a command that asks it. The port must be fixed. */
export function readAdminConfig(env: NodeJS.ProcessEnv): TcpAddress {
  const settings = readSettings(env, {});
  const admin = readAdmin(settings);
  if (!admin?.port) {
    const received = admin === undefined ? 'nothing: there is no admin listener' : '"0": any port';
    settings.refuse('TODO_ADMIN_PORT', 'must name a port', received);
  }
  return settings.whenSound(admin);
}

function readAdmin(settings: Settings): TcpAddress | undefined {
  const port = settings.read('TODO_ADMIN_PORT');
  if (port === undefined) return undefined;
  return { host: settings.read('TODO_ADMIN_HOST'), port, setting: 'TODO_ADMIN_PORT' };
}

/** Imports the settings of tokens only here: the error demo needs none. */
async function readAuthOf(settings: Settings, environment: Environment): Promise<AuthSettings | undefined> {
  const { readAuth } = await import('../auth/settings.ts');
  return readAuth(settings, environment);
}
