import { setTimeout as pause } from 'node:timers/promises';
import { ADAPTERS, nameOf } from './adapters.ts';
import { adminRoutes, type Condition, databaseAnswers, watchReadiness } from './admin/routes.ts';
import { readCommit, readVersion } from './assets.ts';
import type { Config } from './config.ts';
import { freeDescriptors } from './descriptors.ts';
import { errorDemoRoutes } from './error-demo/routes.ts';
import type { Tell } from './events.ts';
import { errorCode } from './files.ts';
import { openCors } from './http/message/cors.ts';
import { type Address, type Listener, openListener } from './http/transport/listener.ts';
import type { Receive } from './http/transport/server.ts';
import type { Metrics } from './observe/metrics.ts';
import { openRecords } from './observe/record.ts';
import type { Build } from './observe/runtime-metrics.ts';
import type { TracingSettings } from './observe/tracing.ts';
import { openPipeline, type PipelineParts } from './pipeline.ts';
import { ConfigFaults } from './read-settings.ts';
import { answerStoreFault, sharedListRoutes } from './shared-list/routes.ts';

export type Service = Awaited<ReturnType<typeof openService>>;

/**
 * A port cannot be listened on, or traces are wanted and their packages are not installed. The message is one line for
 * people.
 */
export class ServiceNotOpened extends Error {
  override readonly name = 'ServiceNotOpened';
  /** 78 where no restart helps, else 69. */
  readonly exitCode: 69 | 78;

  constructor(message: string, { exitCode = 69, cause }: { exitCode?: 69 | 78; cause: unknown }) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/**
 * Opens store, keys and servers from a configuration: the admin listener first, the public one last, and the
 * other way round at the end. Disposing the service answers what was received, then closes store and keys, after at most
 * the delay and the deadline of the configuration and what the store needs to close.
 *
 * @param output counts the lines that the log dropped.
 * @throws {ConfigFaults} when the limit of open files leaves no connection, {StoreNotOpened} when the database cannot be
 * used, {ServiceNotOpened} when a port or traces cannot, {NotUsable} when a key file cannot.
 */
export async function openService(
  config: Config,
  { tell, output }: { readonly tell: Tell; readonly output: { readonly dropped: number } },
) {
  await using parts = new AsyncDisposableStack();
  let phase: 'starting' | 'serving' | 'stopping' = 'starting';
  const conditions: Condition[] = [() => phase === 'serving' || `The service is ${phase}.`];
  const ready = watchReadiness(conditions, tell);
  const listening: Listener[] = [];
  const { admin, corsOrigins, environment, profile, tracing } = config;
  const running = versionOf(config);
  const traces = tracing && parts.use(await openTraces(tracing, running.version, profile, tell));
  let metrics: Metrics | undefined;
  let adminUrl: string | undefined;
  if (admin !== undefined) {
    // Imports what only a service with an admin listener needs.
    const { openMetrics } = await import('./observe/metrics.ts');
    metrics = parts.use(openMetrics(await buildOf(profile, running), listening, output, ready));
    if (traces !== undefined) metrics.watchTraces(traces);
    const listener = openListener({ name: 'admin', tell, limits: { maxConnections: ADMIN_CONNECTIONS } });
    listening.push(listener);
    parts.defer(() => listener.drain(0));
    const routes = adminRoutes({ ready, metrics: metrics.read, version: running });
    adminUrl = await listen(listener, openPipeline({ routes, tell, listener }), admin, 'TODO_ADMIN_PORT');
  }

  const opened = await openProfile(profile, metrics, tell, parts);
  const { database, keys, conditions: ofProfile, ...endpoints } = opened;
  conditions.push(...ofProfile);
  const cors = openCors(corsOrigins, tell);
  const limits = {
    maxConnections: config.maxConnections,
    keepAliveTimeout: config.keepAliveSeconds * 1_000,
  };
  const listener = openListener({ tell, limits, pages: cors });
  listening.push(listener);
  const documented =
    environment === 'development'
      ? (await import('./openapi/routes.ts')).documentRoutes(profile.name, tell)
      : [];
  const tellRequests = ['trace', 'debug'].includes(config.logLevel) ? tell : undefined;
  const receive = openPipeline({
    ...endpoints,
    routes: [...endpoints.routes, ...documented],
    tell,
    listener,
    cors,
    record: openRecords(environment, tellRequests, metrics, traces),
  });
  const beaten = config.portFrom === undefined ? '' : `, which beat ${config.portFrom}`;
  const url = await listen(listener, receive, config, `--port or TODO_PORT${beaten}`);
  parts.defer(() => listener.drain(config.shutdownSeconds * 1_000));
  const taken = connectionsFor(config);
  if (taken < config.maxConnections) {
    listener.reduceTo(taken);
    tell({ event: 'connections-reduced', wanted: config.maxConnections, taken });
  }
  phase = 'serving';
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

/** Files that are opened for a moment, and what nobody has counted. */
const SPARE_DESCRIPTORS = 64;

/** How many connections this process can take, once it listens: as many as are wanted, or fewer (contract D16). */
export function connectionsFor({ maxConnections, admin, profile }: Config, free = freeDescriptors()): number {
  const ofDatabase =
    profile.name === 'shared-list' && profile.database.engine === 'postgresql'
      ? profile.database.connections
      : 0;
  const kept = (admin === undefined ? 0 : ADMIN_CONNECTIONS) + ofDatabase + SPARE_DESCRIPTORS;
  const left = free - kept;
  if (left >= 1) return Math.min(maxConnections, left);
  throw new ConfigFaults([
    `the limit of open files ("ulimit -n", LimitNOFILE) must leave one for a connection, received ${1 - left} too few`,
  ]);
}

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

/** The same, with the database, for the metrics. */
async function buildOf(profile: Config['profile'], running: ReturnType<typeof versionOf>): Promise<Build> {
  if (profile.name === 'error-demo') return running;
  const system = profile.database.engine;
  const { MIGRATIONS } = await ADAPTERS[system].schema();
  return { ...running, database: { system, schemaVersion: MIGRATIONS.version } };
}

/** Imports what only a service with traces needs: the packages are optional peers. */
async function openTraces(
  settings: TracingSettings,
  version: string,
  profile: Config['profile'],
  tell: Tell,
) {
  const traces = await import('./observe/traces.ts').catch((cause: unknown) => {
    if (errorCode(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new ServiceNotOpened(
      'traces need the packages @opentelemetry/api, @opentelemetry/sdk-trace, @opentelemetry/resources and ' +
        '@opentelemetry/exporter-trace-otlp-http; install them, or unset OTEL_EXPORTER_OTLP_ENDPOINT',
      { cause },
    );
  });
  const database = profile.name === 'shared-list' ? profile.database.engine : undefined;
  return traces.openTraces(settings, version, database, tell);
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
  const keys = parts.use(await openKeys(config.auth, tell));
  metrics?.watchKeys(keys);
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

/** The result is the URL. `setting` names what decides the port, for people. */
async function listen(
  listener: Listener,
  receive: Receive,
  { host, port }: Address,
  setting: string,
): Promise<string> {
  const server = await listener.listen(receive, { host, port }).catch((cause: NodeJS.ErrnoException) => {
    const taken = `another program has that port: choose another one with ${setting}`;
    const noRight =
      `the process has no right to that port: choose one above 1023 with ${setting}, behind a proxy, or give it ` +
      'the right (of systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE)';
    const reason = cause.code === 'EADDRINUSE' ? taken : cause.code === 'EACCES' ? noRight : cause.message;
    const exitCode = cause.code === 'EACCES' ? 78 : 69;
    throw new ServiceNotOpened(`cannot listen on ${host} port ${port}: ${reason}`, { exitCode, cause });
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('Cannot name the URL: the server has no port');
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}
