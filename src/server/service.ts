import { setTimeout as pause } from 'node:timers/promises';
import { errorDemoRoutes } from '../error-demo.ts';
import type { LogEvent } from '../events.ts';
import { openCors } from '../http/cors.ts';
import { faultAnswers } from '../http/fault-answers.ts';
import { openPipeline, type PipelineParts } from '../http/pipeline.ts';
import { readCommit, readVersion } from '../lib/assets.ts';
import { answerStoreFault, sharedListRoutes } from '../shared-list/endpoints.ts';
import { importTraces } from '../telemetry/optional-traces.ts';
import { openRecords } from '../telemetry/record.ts';
import type { Build } from '../telemetry/runtime-metrics.ts';
import type { Output } from '../telemetry/standard-output.ts';
import type { TcpAddress } from '../wire/address.ts';
import { type Listener, openListener } from '../wire/listener.ts';
import { ADMIN_LIMITS, adminRoutes, type Condition, databaseAnswers, watchReadiness } from './admin.ts';
import type { Config } from './config.ts';
import { connectionsFor } from './descriptors.ts';
import { ADAPTERS, nameOf } from './engines.ts';

export type Service = Awaited<ReturnType<typeof openService>>;

interface ServiceLog {
  readonly logEvent: LogEvent;
  readonly output: Pick<Output, 'dropped'>;
}

/**
 * Opens store, keys and servers from a configuration: the admin listener first, the public one last. They close in the
 * reverse order. Disposing the service answers every request that was received, then closes store and keys. The time for
 * it is the delay and the deadline of the configuration, and the time that the store needs to close.
 *
 * The listener drains before store and keys close: `test/lifecycle/stop.test.ts`.
 *
 * @param output Counts the lines of the log that it drops.
 * @param stop Aborted when the start is stopped: no listener begins from then on, and its reason is thrown.
 * @throws {ConfigFaults} when the limit of open files leaves no connection, {OperatorError} when the database, a port or traces
 * cannot be used, {NotUsable} when a key file cannot.
 */
export async function openService(config: Config, { logEvent, output }: ServiceLog, stop?: AbortSignal) {
  await using parts = new AsyncDisposableStack();
  let phase: 'starting' | 'serving' | 'stopping' = 'starting';
  const conditions: Condition[] = [() => phase === 'serving' || `The service is ${phase}.`];
  const listening: Listener[] = [];
  const traces =
    config.traces &&
    parts.use((await importTraces()).openTraces(config.traces, readVersion(), engineOf(config), logEvent));
  const ready = watchReadiness(conditions, logEvent);
  const admin = config.admin && (await openAdmin(config.admin));
  if (traces !== undefined) admin?.metrics.watchTraces(traces);
  const profile = await openProfile(config.profile);
  conditions.push(...profile.conditions);
  const url = await openPublic(profile);
  phase = 'serving';
  parts.defer(() => {
    phase = 'stopping';
    return pause(config.shutdownDelaySeconds * 1_000);
  });
  const owned = parts.move();
  return {
    /** For example `http://127.0.0.1:5080`, or `unix:/run/todo.sock`. */
    url,
    adminUrl: admin?.url,
    /** The place of the todos, without a password; undefined when they are in memory. */
    database: profile.database,
    /** The place of the keys, never secret; undefined when no route needs a token. */
    keys: profile.keys,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };

  /** Opens the listener for operators, and its metrics, imported only here: a service without it needs none. */
  async function openAdmin(address: TcpAddress) {
    const { openMetrics } = await import('../telemetry/metrics.ts');
    const metrics = parts.use(openMetrics(await buildOf(config), listening, output, ready, logEvent));
    const listener = openListener({ name: 'admin', logEvent, limits: ADMIN_LIMITS, answers: faultAnswers() });
    listening.push(listener);
    parts.defer(() => listener.drain(0));
    const routes = adminRoutes({ ready, metrics: metrics.read, version: versionOf(config) });
    const receive = openPipeline({ routes, logEvent, listener });
    const { url } = await listener.listen(receive, address, stop);
    return { metrics, url };
  }

  /** Opens the listener for callers. Few file descriptors mean fewer connections than wanted. The result is its URL. */
  async function openPublic({ routes, admit, answerFault }: OpenProfile): Promise<string> {
    const { environment, maxConnections } = config;
    const cors = openCors(config.corsOrigins, logEvent);
    const limits = { maxConnections, keepAliveTimeout: config.keepAliveSeconds * 1_000 };
    const listener = openListener({ name: 'public', logEvent, limits, answers: faultAnswers(cors) });
    listening.push(listener);
    const documented =
      environment === 'development'
        ? (await import('./reference-page.ts')).documentRoutes(config.profile.name, logEvent)
        : [];
    const logRequests = ['trace', 'debug'].includes(config.logLevel) ? logEvent : undefined;
    const receive = openPipeline({
      routes: [...routes, ...documented],
      admit,
      answerFault,
      logEvent,
      listener,
      cors,
      record: openRecords(environment, logRequests, admin?.metrics, traces),
    });
    const { url } = await listener.listen(receive, config.address, stop);
    parts.defer(() => listener.drain(config.shutdownSeconds * 1_000));
    const taken = connectionsFor(config);
    if (taken < maxConnections) {
      listener.reduceTo(taken);
      logEvent({ event: 'connections-reduced', wanted: maxConnections, taken });
    }
    return url;
  }

  /** Opens store and keys, which end with `parts`. Imports here the modules that the error demo does not need. */
  async function openProfile(profile: Config['profile']): Promise<OpenProfile> {
    if (profile.name === 'error-demo') return { routes: errorDemoRoutes(logEvent), conditions: [] };
    const { admitWith, authenticateWith } = await import('../auth/admit.ts');
    const { openKeys } = await import('../auth/keys/source.ts');
    const { database, auth } = profile;
    const openStore = await ADAPTERS[database.engine].openStore();
    const store = parts.use(await openStore(database.address, { ...database, logEvent }));
    admin?.metrics.watchStore(store);
    const keys = parts.use(await openKeys(auth, logEvent));
    admin?.metrics.watchKeys(keys);
    const authenticate = authenticateWith({ ...auth, keys, now: Date.now });
    const keysAreThere = () => keys.current() !== undefined || `no keys yet from ${keys.describe()}`;
    return {
      routes: sharedListRoutes(store, logEvent),
      admit: admitWith(authenticate, logEvent),
      answerFault: answerStoreFault(logEvent),
      database: await nameOf(database),
      keys: keys.describe(),
      conditions: [keysAreThere, databaseAnswers(() => store.check())],
    };
  }
}

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

/** The engine of the database, by OpenTelemetry's conventions; undefined where todos are in memory. */
function engineOf({ profile }: Config): 'sqlite' | 'postgresql' | undefined {
  return profile.name === 'shared-list' ? profile.database.engine : undefined;
}

async function buildOf(config: Config): Promise<Build> {
  const running = versionOf(config);
  const system = engineOf(config);
  if (system === undefined) return running;
  const { MIGRATIONS } = await ADAPTERS[system].schema();
  return { ...running, database: { system, schemaVersion: MIGRATIONS.version } };
}

interface OpenProfile extends Pick<PipelineParts, 'routes' | 'admit' | 'answerFault'> {
  readonly database?: string;
  readonly keys?: string;
  /** Conditions that must hold before requests can be answered. */
  readonly conditions: readonly Condition[];
}
