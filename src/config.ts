import { readAdmin } from './admin/settings.ts';
import type { AuthSettings } from './auth/settings.ts';
import { ENVIRONMENTS, type Environment } from './environment.ts';
import { readServing, type Serving } from './http/settings.ts';
import type { Address } from './http/transport/listeners.ts';
import { LOG_LEVELS, type LogLevel } from './observe/log.ts';
import { readTracing, type TracingSettings } from './observe/trace-settings.ts';
import { type GivenFlags, readSettings, type Settings } from './settings.ts';
import { type Database, readDatabase, readServedDatabase, type ServedDatabase } from './store/database.ts';

/** What the service is to be. A mix that makes no sense cannot be written down. */
export interface Config {
  readonly environment: Environment;
  readonly host: string;
  /** 0 to 65535; 0 picks a free port. */
  readonly port: number;
  readonly logLevel: LogLevel;
  /** Whether the log says who changed what. */
  readonly audit: boolean;
  readonly serving: Serving;
  /** Undefined: no admin listener. */
  readonly admin: Address | undefined;
  /** Undefined: no traces. */
  readonly tracing: TracingSettings | undefined;
  readonly profile: SharedListConfig | { readonly name: 'error-demo' };
}

export interface SharedListConfig {
  readonly name: 'shared-list';
  readonly dataDir: string;
  readonly database: ServedDatabase;
  readonly auth: AuthSettings;
}

/** Every fault of a configuration, a line each: what was received and what is wanted. */
export interface Faults {
  readonly faults: readonly string[];
}

/** Reads the settings of `serve` once and decides. */
export async function readConfig(
  flags: GivenFlags,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly config: Config } | Faults> {
  const settings = readSettings(env, flags);
  const environment = readEnvironment(settings);
  const name = settings.oneOf('TODO_PROFILE', ['shared-list', 'error-demo'], 'shared-list');
  const common = {
    environment,
    host: settings.host('TODO_HOST', '127.0.0.1'),
    port: settings.whole('TODO_PORT', { from: 0, to: 65_535, otherwise: 5080 }),
    logLevel: settings.oneOf('TODO_LOG_LEVEL', LOG_LEVELS, environment === 'development' ? 'debug' : 'info'),
    audit: settings.oneOf('TODO_AUDIT', ['on', 'off'], 'on') === 'on',
    serving: readServing(settings),
    admin: readAdmin(settings),
    tracing: readTracing(settings),
  };
  if (name === 'error-demo') return orFaults(settings, { config: { ...common, profile: { name } } });
  const dataDir = readDataDir(settings);
  const database = readServedDatabase(settings, dataDir, flags['no-migrate'] !== true);
  const auth = await readAuthOf(settings, environment);
  return orFaults(settings, auth && { config: { ...common, profile: { name, dataDir, database, auth } } });
}

/** Reads where the list is kept, for commands that work on it without serving. */
export function readDatabaseConfig(
  flags: GivenFlags,
  env: NodeJS.ProcessEnv,
): { readonly database: Database } | Faults {
  const settings = readSettings(env, flags);
  return orFaults(settings, { database: readDatabase(settings, readDataDir(settings)) });
}

/** Reads whose tokens are trusted, for a command that looks at one without serving. */
export async function readAuthConfig(
  flags: GivenFlags,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly auth: AuthSettings } | Faults> {
  const settings = readSettings(env, flags);
  const auth = await readAuthOf(settings, readEnvironment(settings));
  return orFaults(settings, auth && { auth });
}

/** Reads where the admin listener listens, for a command that asks it: it must have a port that is known. */
export function readAdminConfig(env: NodeJS.ProcessEnv): { readonly admin: Address } | Faults {
  const settings = readSettings(env, {});
  const admin = readAdmin(settings);
  if (settings.faults.length === 0 && !admin?.port) {
    const received = admin === undefined ? 'nothing: there is no admin listener' : '"0": any port';
    settings.fault(`TODO_ADMIN_PORT must name a port, received ${received}`);
  }
  return orFaults(settings, admin && { admin });
}

/** What decides whether a development token can be made, and is of use. */
export interface SigningConfig {
  readonly dataDir: string;
  /** Tokens come from an issuer of its own, so that the development key has no say. */
  readonly issuerNamed: boolean;
  readonly production: boolean;
}

/** Reads where the development key is, and no setting that has nothing to do with it. */
export async function readSigningConfig(
  flags: GivenFlags,
  env: NodeJS.ProcessEnv,
): Promise<SigningConfig | Faults> {
  const settings = readSettings(env, flags);
  const { namesAnIssuer } = await import('./auth/settings.ts');
  return orFaults(settings, {
    dataDir: readDataDir(settings),
    issuerNamed: namesAnIssuer(settings),
    production: settings.text('TODO_ENVIRONMENT') === 'production',
  });
}

/** What was read; the faults when there are any, without which nothing is missing. */
function orFaults<T>({ faults }: Settings, read: T | undefined): T | Faults {
  return faults.length > 0 || read === undefined ? { faults } : read;
}

function readEnvironment(settings: Settings): Environment {
  return settings.oneOf('TODO_ENVIRONMENT', ENVIRONMENTS, 'production');
}

function readDataDir(settings: Settings): string {
  return settings.text('TODO_DATA_DIR') ?? 'data';
}

/** Imported only here, because the error demo has no use for it. */
async function readAuthOf(settings: Settings, environment: Environment): Promise<AuthSettings | undefined> {
  const { readAuth } = await import('./auth/settings.ts');
  return readAuth(settings, { environment, dataDir: readDataDir(settings) });
}
