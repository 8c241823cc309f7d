import { type AdminSettings, readAdmin } from './admin/settings.ts';
import type { AuthSettings } from './auth/settings.ts';
import { ENVIRONMENTS, type Environment } from './environment.ts';
import { readServing, type Serving } from './http/settings.ts';
import { LOG_LEVELS, type LogLevel } from './observe/log.ts';
import { readTracing, type TracingSettings } from './observe/trace-settings.ts';
import { type DatabaseSettings, type NamedSetting, readDatabase } from './shared-list/database.ts';
import { readWhole } from './whole-number.ts';

/** What the service is to be. A mix that makes no sense cannot be written down. */
export interface Config {
  readonly environment: Environment;
  readonly host: string;
  /** 0 to 65535; 0 picks a free port. */
  readonly port: number;
  readonly logLevel: LogLevel;
  readonly serving: Serving;
  /** Undefined: no admin listener. */
  readonly admin: AdminSettings | undefined;
  /** Undefined: no traces. */
  readonly tracing: TracingSettings | undefined;
  readonly profile: SharedListConfig | { readonly name: 'error-demo' };
}

export interface SharedListConfig {
  readonly name: 'shared-list';
  readonly dataDir: string;
  readonly database: DatabaseSettings;
  readonly auth: AuthSettings;
}

/** Flags of the command line that stand for settings, the later of two already chosen. */
export interface Flags {
  readonly profile?: string | undefined;
  readonly environment?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly database?: string | undefined;
  readonly 'data-dir'?: string | undefined;
  readonly 'no-migrate'?: boolean | undefined;
}

/** The flags that say where the list is kept. */
export type DatabaseFlags = Pick<Flags, 'database' | 'data-dir' | 'no-migrate'>;

/** Every fault of a configuration, a line each: what was received and what is wanted. */
export interface Faults {
  readonly faults: readonly string[];
}

type Variables = NodeJS.ProcessEnv;

/** Reads the settings of `serve` once and decides. The only reader of the environment's `TODO_*` variables. */
export async function readConfig(
  flags: Flags,
  env: Variables,
): Promise<{ readonly config: Config } | Faults> {
  const faults = emptyFlags(flags);
  const setting = (flag: Exclude<keyof Flags, 'no-migrate'>, variable: string) =>
    settingOf(flag, flags[flag], variable, env);

  const environment = environmentOf(flags, env, faults);
  const name = oneOf(
    setting('profile', 'TODO_PROFILE'),
    ['shared-list', 'error-demo'],
    'shared-list',
    faults,
  );
  const host = setting('host', 'TODO_HOST').value ?? '127.0.0.1';
  const { name: portName, value: portValue } = setting('port', 'TODO_PORT');
  const port = readWhole(portName, portValue, { from: 0, to: 65_535, otherwise: 5080 }, faults);
  const logLevel = oneOf(
    { name: 'TODO_LOG_LEVEL', value: env.TODO_LOG_LEVEL || undefined },
    LOG_LEVELS,
    environment === 'development' ? 'debug' : 'info',
    faults,
  );
  const serving = readServing(rawServing(env), faults);
  const admin = readAdmin(rawAdmin(env), faults);
  const tracing = readTracing(rawTracing(env), faults);
  const common = { environment, host, port, logLevel, serving, admin, tracing };
  if (name === 'error-demo')
    return faults.length > 0 ? { faults } : { config: { ...common, profile: { name } } };

  const dataDir = dataDirOf(flags, env);
  const database = readDatabaseOf(flags, env, faults, env.TODO_CACHE_MB || undefined);
  const auth = await readAuth(env, environment, dataDir);
  if ('faults' in auth) faults.push(...auth.faults);
  if (faults.length > 0 || 'faults' in auth) return { faults };
  return { config: { ...common, profile: { name, dataDir, database, auth: auth.settings } } };
}

/** Reads where the list is kept, for commands that work on it without serving. */
export function readDatabaseConfig(
  flags: DatabaseFlags,
  env: Variables,
): { readonly database: DatabaseSettings } | Faults {
  const faults = emptyFlags(flags);
  const database = readDatabaseOf(flags, env, faults);
  return faults.length > 0 ? { faults } : { database };
}

/** Reads whose tokens are trusted, for a command that looks at one without serving. */
export async function readAuthConfig(
  flags: Pick<Flags, 'environment' | 'data-dir'>,
  env: Variables,
): Promise<{ readonly auth: AuthSettings } | Faults> {
  const faults = emptyFlags(flags);
  const environment = environmentOf(flags, env, faults);
  const auth = await readAuth(env, environment, dataDirOf(flags, env));
  if ('faults' in auth) faults.push(...auth.faults);
  return faults.length > 0 || 'faults' in auth ? { faults } : { auth: auth.settings };
}

/** Reads where the admin listener listens, for a command that asks it: it must have a port that is known. */
export function readAdminConfig(env: Variables): { readonly admin: AdminSettings } | Faults {
  const faults: string[] = [];
  const admin = readAdmin(rawAdmin(env), faults);
  if (faults.length > 0) return { faults };
  if (admin !== undefined && admin.port !== 0) return { admin };
  const received = admin === undefined ? 'nothing: there is no admin listener' : '"0": any port';
  return { faults: [`TODO_ADMIN_PORT must name a port, received ${received}`] };
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
  flags: Pick<Flags, 'data-dir'>,
  env: Variables,
): Promise<SigningConfig | Faults> {
  const faults = emptyFlags(flags);
  if (faults.length > 0) return { faults };
  const { namesAnIssuer } = await import('./auth/settings.ts');
  const production = env.TODO_ENVIRONMENT === 'production';
  return { dataDir: dataDirOf(flags, env), issuerNamed: namesAnIssuer(rawAuth(env)), production };
}

/** Most likely an unset variable of the shell, which must not fall back to a default. */
function emptyFlags(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([flag, value]) =>
    value === '' ? [`--${flag} must have a value, received ""`] : [],
  );
}

function readDatabaseOf(
  flags: DatabaseFlags,
  env: Variables,
  faults: string[],
  cacheMegabytes?: string,
): DatabaseSettings {
  return readDatabase(
    {
      database: settingOf('database', flags.database, 'TODO_DATABASE', env),
      dataDir: dataDirOf(flags, env),
      cacheMegabytes,
      migrate: flags['no-migrate'] !== true,
    },
    faults,
  );
}

function dataDirOf(flags: Pick<Flags, 'data-dir'>, env: Variables): string {
  return settingOf('data-dir', flags['data-dir'], 'TODO_DATA_DIR', env).value ?? 'data';
}

/** A flag beats its variable; an empty variable counts as not set. */
function settingOf(flag: string, value: string | undefined, variable: string, env: Variables): NamedSetting {
  return value === undefined
    ? { name: variable, value: env[variable] || undefined }
    : { name: `--${flag}`, value };
}

function environmentOf(flags: Flags, env: Variables, faults: string[]): Environment {
  const setting = settingOf('environment', flags.environment, 'TODO_ENVIRONMENT', env);
  return oneOf(setting, ENVIRONMENTS, 'production', faults);
}

/** Imported only here, because the error demo has no use for it. */
async function readAuth(env: Variables, environment: Environment, dataDir: string) {
  const { readAuthSettings } = await import('./auth/settings.ts');
  return readAuthSettings(rawAuth(env), { environment, dataDir });
}

function rawAdmin(env: Variables) {
  return { host: env.TODO_ADMIN_HOST || undefined, port: env.TODO_ADMIN_PORT || undefined };
}

function rawServing(env: Variables) {
  return {
    corsOrigins: env.TODO_CORS_ORIGINS || undefined,
    maxConnections: env.TODO_MAX_CONNECTIONS || undefined,
    shutdownSeconds: env.TODO_SHUTDOWN_SECONDS || undefined,
    shutdownDelaySeconds: env.TODO_SHUTDOWN_DELAY_SECONDS || undefined,
  };
}

function rawTracing(env: Variables) {
  return {
    disabled: env.OTEL_SDK_DISABLED || undefined,
    exporter: env.OTEL_TRACES_EXPORTER || undefined,
    endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT || undefined,
    tracesEndpoint: env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || undefined,
    protocol: env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || undefined,
    sampler: env.OTEL_TRACES_SAMPLER || undefined,
    samplerArgument: env.OTEL_TRACES_SAMPLER_ARG || undefined,
    scheduleDelay: env.OTEL_BSP_SCHEDULE_DELAY || undefined,
    exportTimeout: env.OTEL_BSP_EXPORT_TIMEOUT || undefined,
    maxQueueSize: env.OTEL_BSP_MAX_QUEUE_SIZE || undefined,
    maxBatchSize: env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE || undefined,
  };
}

function rawAuth(env: Variables) {
  return {
    issuer: env.TODO_AUTH_ISSUER || undefined,
    audience: env.TODO_AUTH_AUDIENCE || undefined,
    keysFile: env.TODO_AUTH_KEYS_FILE || undefined,
    secretFile: env.TODO_AUTH_SECRET_FILE || undefined,
    jwksUrl: env.TODO_AUTH_JWKS_URL || undefined,
    roleClaim: env.TODO_AUTH_ROLE_CLAIM || undefined,
    nameClaim: env.TODO_AUTH_NAME_CLAIM || undefined,
    clockTolerance: env.TODO_AUTH_CLOCK_TOLERANCE || undefined,
    keysCooldownSeconds: env.TODO_AUTH_KEYS_COOLDOWN_SECONDS || undefined,
    keysRefreshSeconds: env.TODO_AUTH_KEYS_REFRESH_SECONDS || undefined,
  };
}

function oneOf<const T extends string>(
  setting: NamedSetting,
  allowed: readonly T[],
  otherwise: NoInfer<T>,
  faults: string[],
): T {
  if (setting.value === undefined) return otherwise;
  const found = allowed.find((value) => value === setting.value);
  if (found === undefined) {
    const wanted = allowed.map((value) => `"${value}"`).join(', ');
    faults.push(`${setting.name} must be one of ${wanted}, received ${JSON.stringify(setting.value)}`);
  }
  return found ?? otherwise;
}
