import { setTimeout as pause } from 'node:timers/promises';
import { ADAPTERS, nameOf } from './adapters.ts';
import { adminRoutes, type Condition, databaseAnswers, watchReadiness } from './admin/routes.ts';
import { readCommit, readVersion } from './assets.ts';
import type { Config } from './config.ts';
import { errorDemoRoutes } from './error-demo/routes.ts';
import type { Tell } from './events.ts';
import { errorCode } from './files.ts';
import { openCors } from './http/message/cors.ts';
import { type Address, type Listeners, openListeners } from './http/transport/listeners.ts';
import type { Receive } from './http/transport/server.ts';
import type { Metrics, MetricsParts } from './observe/metrics.ts';
import { openRecords } from './observe/record.ts';
import type { TracingSettings } from './observe/tracing.ts';
import { openPipeline, type PipelineParts } from './pipeline.ts';
import { answerStoreFault, sharedListRoutes } from './shared-list/routes.ts';

export type Service = Awaited<ReturnType<typeof openService>>;

/**
 * A port cannot be listened on, or traces are wanted and their packages are not installed. The message is one line for
 * people (exit code 69).
 */
export class ServiceNotOpened extends Error {
  override readonly name = 'ServiceNotOpened';
}

/**
 * Opens store, keys and servers from a configuration: the admin listener first, the public one last, and the
 * other way round at the end. Disposing the service answers what was received, then closes store and keys, after at most
 * the delay and the deadline of the configuration and what the store needs to close.
 *
 * @param output counts the lines that the log dropped.
 * @throws {StoreNotOpened} when the database cannot be used, {ServiceNotOpened} when a port or traces cannot,
 * {NotUsable} when a key file cannot.
 */
export async function openService(
  config: Config,
  { tell, output }: { readonly tell: Tell; readonly output: MetricsParts['output'] },
) {
  await using parts = new AsyncDisposableStack();
  let phase: 'starting' | 'serving' | 'stopping' = 'starting';
  const conditions: Condition[] = [() => phase === 'serving' || `The service is ${phase}.`];
  const ready = watchReadiness(conditions, tell);
  const listening: Listeners[] = [];
  const { admin, corsOrigins, environment, profile, tracing } = config;
  const running = versionOf(config);
  const metrics =
    admin && parts.use(await openMetrics(profile, running, { listeners: listening, output, ready }));
  const traces = tracing && parts.use(await openTraces(tracing, running.version, tell));
  let adminUrl: string | undefined;
  if (admin !== undefined && metrics !== undefined) {
    const listeners = openListeners({ name: 'admin', tell, limits: { maxConnections: ADMIN_CONNECTIONS } });
    listening.push(listeners);
    parts.defer(() => listeners.drain(0));
    const routes = adminRoutes({ ready, metrics: metrics.read, version: running });
    adminUrl = await listen(listeners, openPipeline({ routes, tell, listeners }), admin, 'TODO_ADMIN_PORT');
  }

  const opened = await openProfile(profile, metrics, tell, parts);
  const { database, keys, conditions: ofProfile, ...endpoints } = opened;
  conditions.push(...ofProfile);
  const listeners = openListeners({ tell, limits: { maxConnections: config.maxConnections } });
  listening.push(listeners);
  const documented =
    environment === 'development'
      ? (await import('./openapi/routes.ts')).documentRoutes(profile.name, tell)
      : [];
  const tellRequests = ['trace', 'debug'].includes(config.logLevel) ? tell : undefined;
  const receive = openPipeline({
    ...endpoints,
    routes: [...endpoints.routes, ...documented],
    tell,
    listeners,
    cors: corsOrigins.length === 0 ? undefined : openCors(corsOrigins),
    record: openRecords({ metrics, traces, tell: tellRequests }, environment),
  });
  const url = await listen(listeners, receive, config, '--port or TODO_PORT');
  phase = 'serving';
  parts.defer(() => listeners.drain(config.shutdownSeconds * 1_000));
  parts.defer(() => {
    phase = 'stopping';
    return pause(config.shutdownDelaySeconds * 1_000);
  });
  const owned = parts.move();
  return {
    /** For example `http://127.0.0.1:5080`. */
    url,
    /** The admin listener's, when there is one. */
    adminUrl,
    /** Where the todos are, without a password; undefined when they are in memory. */
    database,
    /** Where the keys are, never secret; undefined when nobody is asked for a token. */
    keys,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Operators, probes and Prometheus need few connections. */
const ADMIN_CONNECTIONS = 100;

/** What is running, for operators. */
function versionOf({ profile, environment }: Config) {
  return {
    name: 'todo-service',
    version: readVersion(),
    commit: readCommit(),
    node: process.version,
    profile: profile.name,
    environment,
  };
}

/** Imports what only a service with an admin listener needs. */
async function openMetrics(
  profile: Config['profile'],
  { version, commit }: ReturnType<typeof versionOf>,
  watched: Pick<MetricsParts, 'listeners' | 'output' | 'ready'>,
) {
  const metrics = await import('./observe/metrics.ts');
  const databaseSystem = profile.name === 'shared-list' ? profile.database.engine : undefined;
  const build = {
    version,
    commit,
    profile: profile.name,
    schemaVersion: databaseSystem && (await ADAPTERS[databaseSystem].schema()).MIGRATIONS.version,
  };
  return metrics.openMetrics({ ...watched, build, databaseSystem });
}

/** Imports what only a service with traces needs: the packages are optional peers. */
async function openTraces(settings: TracingSettings, version: string, tell: Tell) {
  const traces = await import('./observe/traces.ts').catch((cause: unknown) => {
    if (errorCode(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new ServiceNotOpened(
      'traces need the packages @opentelemetry/api, @opentelemetry/sdk-trace, @opentelemetry/resources and ' +
        '@opentelemetry/exporter-trace-otlp-http; install them, or unset OTEL_EXPORTER_OTLP_ENDPOINT',
      { cause },
    );
  });
  return traces.openTraces(settings, { version, tell });
}

/** What a profile adds to a service. */
interface OpenProfile extends Pick<PipelineParts, 'routes' | 'admit' | 'answerFault'> {
  readonly database?: string;
  readonly keys?: string;
  /** What must hold before requests can be answered. */
  readonly conditions: readonly Condition[];
}

/** Opens store and keys, which end with `parts`. Imports what the error demo does not need. */
async function openProfile(
  config: Config['profile'],
  metrics: Metrics | undefined,
  tell: Tell,
  parts: AsyncDisposableStack,
): Promise<OpenProfile> {
  if (config.name === 'error-demo') return { routes: errorDemoRoutes(tell), conditions: [] };
  const { admitWith, authenticateWith } = await import('./auth/admit.ts');
  const { openKeys } = await import('./auth/keys/source.ts');
  const { database } = config;
  const openStore = await ADAPTERS[database.engine].openStore();
  const store = parts.use(await openStore(database.address, { ...database, tell }));
  metrics?.watchStore(store);
  const keys = parts.use(await openKeys(config.auth, { tell, keysTaken: metrics?.keysTaken }));
  const authenticate = authenticateWith({ ...config.auth, keys, now: Date.now });
  const keysAreThere = () => keys.current() !== undefined || `no keys yet from ${keys.describe()}`;
  return {
    routes: sharedListRoutes(store, tell),
    admit: admitWith(authenticate, tell),
    answerFault: answerStoreFault(tell),
    database: await nameOf(database),
    keys: keys.describe(),
    conditions: [keysAreThere, databaseAnswers(() => store.check())],
  };
}

/** The result is the URL of the first address. `setting` names what decides the port, for people. */
async function listen(
  listeners: Listeners,
  receive: Receive,
  { host, port }: Address,
  setting: string,
): Promise<string> {
  const server = await listeners.listen(receive, { host, port }).catch((cause: NodeJS.ErrnoException) => {
    const taken = `another program has that port: choose another one with ${setting}`;
    const reason = cause.code === 'EADDRINUSE' ? taken : cause.message;
    throw new ServiceNotOpened(`cannot listen on ${host} port ${port}: ${reason}`, { cause });
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('Cannot name the URL: the server has no port');
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}
