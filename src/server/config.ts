import type { AuthSettings } from '../auth/settings.ts';
import { readOrigins } from '../http/cors.ts';
import type { Address } from '../http/transport/listener.ts';
import { type GivenFlags, readSettings, type Settings } from '../settings/read.ts';
import { type Environment, SETTINGS } from '../settings/table.ts';
import { type DatabaseSettings, readDatabase, readServedDatabase } from '../storage/settings.ts';
import { readTraces } from '../telemetry/settings.ts';

/** The configuration of a service. Combinations that make no sense have no type. */
export type Config = Awaited<ReturnType<typeof readConfig>>['config'];

/** Variables that platforms set. */
const OTHERS = [SETTINGS.TODO_PORT.otherVariable];

/**
 * Reads the settings of `serve` once and decides. `inForce` has the values that decided, defaults included.
 *
 * @throws {ConfigFaults} as all readers of this file do.
 */
export async function readConfig(flags: GivenFlags, env: NodeJS.ProcessEnv) {
  const settings = readSettings(env, flags);
  const { inForce } = settings;
  const environment = settings.read('TODO_ENVIRONMENT');
  const name = settings.read('TODO_PROFILE');
  const common = {
    environment,
    host: settings.read('TODO_HOST'),
    /** 0 picks a free port. */
    port: settings.read('TODO_PORT'),
    /** The platform's variable that decides the port; undefined where a flag, `TODO_PORT` or the default does. */
    portFrom: OTHERS.find((name) => name === settings.given('TODO_PORT')?.name),
    logLevel: settings.read('TODO_LOG_LEVEL', environment),
    /** Whether the log has a line for each change of a todo, with its caller. */
    audit: settings.read('TODO_AUDIT') === 'on',
    /** Exact origins; browser applications of these may use the service. */
    corsOrigins: readOrigins(settings),
    /** Sockets at a time. */
    maxConnections: settings.read('TODO_MAX_CONNECTIONS'),
    /** Seconds that an idle connection stays. */
    keepAliveSeconds: settings.read('TODO_KEEP_ALIVE_SECONDS'),
    /** Seconds from the start of draining until open connections are cut off. */
    shutdownSeconds: settings.read('TODO_SHUTDOWN_SECONDS'),
    /** Seconds for which a service that is no longer ready goes on as before. */
    shutdownDelaySeconds: settings.read('TODO_SHUTDOWN_DELAY_SECONDS'),
    /** Undefined without an admin listener. */
    admin: readAdmin(settings),
    /** Undefined without traces. */
    traces: readTraces(settings),
  };
  if (name === 'error-demo') {
    return settings.whenSound({ config: { ...common, profile: { name } }, inForce });
  }
  const dataDir = settings.read('TODO_DATA_DIR');
  const database = await readServedDatabase(settings, dataDir, flags['no-migrate'] !== true);
  const auth = await readAuthOf(settings, environment);
  const profile = auth && { name, dataDir, database, auth };
  return settings.whenSound(profile && { config: { ...common, profile }, inForce });
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

/** Reads the address of the admin listener, for a command that asks it. The port must be fixed. */
export function readAdminConfig(env: NodeJS.ProcessEnv): Address {
  const settings = readSettings(env, {});
  const admin = readAdmin(settings);
  if (settings.faults.length === 0 && !admin?.port) {
    const received = admin === undefined ? 'nothing: there is no admin listener' : '"0": any port';
    settings.refuse('TODO_ADMIN_PORT', 'must name a port', received);
  }
  return settings.whenSound(admin);
}

/** Undefined when no admin listener is configured. */
function readAdmin(settings: Settings): Address | undefined {
  const port = settings.read('TODO_ADMIN_PORT');
  return port === undefined ? undefined : { host: settings.read('TODO_ADMIN_HOST'), port };
}

/** Imports the settings of tokens only here: the error demo needs none. */
async function readAuthOf(settings: Settings, environment: Environment): Promise<AuthSettings | undefined> {
  const { readAuth } = await import('../auth/settings.ts');
  return readAuth(settings, environment);
}
