import { Counter, Gauge, Registry } from 'prom-client';
import type { Mark, Step } from '../mark.ts';
import type { TodoStore } from '../store/store.ts';
import { LabelledHistogram } from './histogram.ts';
import { registerListeners, type WatchListener } from './listener-metrics.ts';
import { type Ended, errorType } from './record.ts';
import { type Build, gaugeIn, registerBuild, registerRuntime } from './runtime-metrics.ts';

/** Seconds. Those of OpenTelemetry's `http.server.request.duration`, and finer ones below. */
const REQUEST_BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

/** Seconds. */
const DATABASE_BUCKETS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** Methods that OpenTelemetry names; any other is `_OTHER`. */
const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
]);

/** What does not change while the service runs. */
export interface MetricsAbout extends Build {
  readonly databaseSystem: 'sqlite' | 'postgresql' | undefined;
}

/**
 * Everything that `/metrics` shows, in the names of OpenTelemetry's semantic conventions where it has one. No
 * label is ever taken from a request's own text: methods and routes are those that the service knows.
 */
export interface Metrics extends Disposable {
  /** A request is under way. */
  begun(method: string): void;
  readonly mark: Mark;
  ended(request: Ended): void;
  /** A request was answered with a problem before it was routed. */
  refused(status: number): void;
  /** Keys were read or fetched, or could not be. */
  keysTaken(outcome: 'read' | 'unusable' | 'failed'): void;
  readonly watchListener: WatchListener;
  watchLog(output: { readonly dropped: number }): void;
  watchReadiness(ready: () => Promise<true | string>): void;
  watchStore(store: Pick<TodoStore, 'connections' | 'sizes'>): void;
  /** The text that Prometheus reads, and its content type. */
  read(): Promise<{ readonly text: string; readonly contentType: string }>;
}

export function openMetrics(about: MetricsAbout): Metrics {
  const { databaseSystem = 'sqlite' } = about;
  const registry = new Registry();
  const registers = [registry];
  const gauge = gaugeIn(registry);
  const runtime = registerRuntime(registry);
  const watchListener = registerListeners(registry);

  registerBuild(registry, about);
  const duration = new LabelledHistogram(
    'http_server_request_duration_seconds',
    'Time from the head of a request to the end of its answer.',
    ['http_request_method', 'http_route', 'http_response_status_code'],
    REQUEST_BUCKETS,
  );
  const underWay = new Map<string, number>();
  const countUnderWay = (method: string, change: number) =>
    underWay.set(method, (underWay.get(method) ?? 0) + change);
  new Gauge({
    name: 'http_server_active_requests',
    help: 'Requests under way.',
    labelNames: ['http_request_method'],
    registers,
    collect() {
      for (const [method, count] of underWay) this.set({ http_request_method: method }, count);
    },
  });
  const aborted = new Counter({
    name: 'todo_aborted_requests_total',
    help: 'Requests whose client went away before the answer.',
    registers,
  });
  const refused = new Counter({
    name: 'todo_refused_requests_total',
    help: 'Requests refused before routing: not HTTP, too slow, too large a head.',
    labelNames: ['http_response_status_code'],
    registers,
  });
  const operations = new LabelledHistogram(
    'db_client_operation_duration_seconds',
    'Time of an operation of the store, waiting for its commit included.',
    ['db_system_name', 'db_operation_name', 'error_type'],
    DATABASE_BUCKETS,
  );
  const batches = new LabelledHistogram(
    'todo_commit_writes',
    'Writes that shared one commit.',
    [],
    BATCH_BUCKETS,
  );
  const commits = new LabelledHistogram(
    'todo_commit_duration_seconds',
    'Time of one commit, the sync to the disk included.',
    [],
    DATABASE_BUCKETS,
  );
  const verdicts = new Map<string, number>();
  new Counter({
    name: 'todo_token_verdicts_total',
    help: 'What was found of the credentials of requests, by code.',
    labelNames: ['code'],
    registers,
    collect() {
      this.reset();
      for (const [code, count] of verdicts) this.inc({ code }, count);
    },
  });
  const keys = new Counter({
    name: 'todo_key_fetches_total',
    help: 'Attempts to get the keys of the issuer, or to read the keys file.',
    labelNames: ['outcome'],
    registers,
  });

  /** Writes that shared a commit mark it one after the other. */
  let lastCommit: Step | undefined;

  return {
    begun: (method) => countUnderWay(known(method), 1),
    mark(step) {
      const seconds = (step.until - step.from) / 1_000;
      switch (step.name) {
        case 'authenticate':
          if (step.code !== undefined) verdicts.set(step.code, (verdicts.get(step.code) ?? 0) + 1);
          break;
        case 'commit':
          if (step === lastCommit) break;
          lastCommit = step;
          batches.observe(step.writes);
          commits.observe(seconds);
          break;
        default:
          operations.observe(seconds, databaseSystem, step.name, errorType(step.error));
      }
    },
    ended({ call, from, until, status }) {
      const method = known(call.method);
      countUnderWay(method, -1);
      if (status === undefined) aborted.inc();
      else duration.observe((until - from) / 1_000, method, call.found?.path ?? '', status);
    },
    refused: (status) => refused.inc({ http_response_status_code: status }),
    keysTaken: (outcome) => keys.inc({ outcome }),
    watchListener,
    watchLog(output) {
      new Counter({
        name: 'todo_log_lines_dropped_total',
        help: 'Lines of the log that could not be written.',
        registers,
        collect() {
          this.reset();
          this.inc(output.dropped);
        },
      });
    },
    watchReadiness(ready) {
      gauge('todo_ready', '1 when the service is ready, else 0.', async () =>
        Number((await ready()) === true),
      );
    },
    watchStore(store) {
      new Gauge({
        name: 'todo_database_size_bytes',
        help: 'Size of the database: of a SQLite file and its log, or of the tables in PostgreSQL with their indexes.',
        labelNames: ['file'],
        registers,
        collect() {
          this.reset();
          for (const { file, bytes } of store.sizes().database)
            this.set(file === undefined ? {} : { file }, bytes);
        },
      });
      gauge('todo_list_size_bytes', 'Memory of the list and its compressed copy.', () => store.sizes().list);
      if (databaseSystem === 'sqlite') {
        gauge('todo_cache_size_bytes', 'Memory of single todos at hand.', () => store.sizes().cache ?? 0);
        gauge('todo_database_wal_size_bytes', 'Size of the write-ahead log.', () => {
          return store.sizes().database.find(({ file }) => file === 'wal')?.bytes ?? 0;
        });
      }
      if (store.connections === undefined) return;
      const counts = store.connections.bind(store);
      new Gauge({
        name: 'db_client_connections',
        help: 'Connections to the database, by state.',
        labelNames: ['db_client_connection_state'],
        registers,
        collect() {
          const { used, idle } = counts();
          this.set({ db_client_connection_state: 'used' }, used);
          this.set({ db_client_connection_state: 'idle' }, idle);
        },
      });
      gauge('db_client_connection_pending_requests', 'Operations that wait for a connection.', () => {
        return counts().waiting;
      });
    },
    async read() {
      const histograms = [duration, operations, batches, commits].map((histogram) => histogram.text());
      return {
        text: [await registry.metrics(), ...histograms].join('\n'),
        contentType: registry.contentType,
      };
    },
    [Symbol.dispose]: () => runtime[Symbol.dispose](),
  };
}

function known(method: string): string {
  return METHODS.has(method) ? method : '_OTHER';
}
