import { Registry } from 'prom-client';
import type { Keys } from '../auth/keys/keys.ts';
import type { LogEvent, Step } from '../events.ts';
import type { TodoStore } from '../shared-list/store.ts';
import type { Listener } from '../wire/listener.ts';
import { type Ended, errorType, knownMethod } from './ended.ts';
import { labelledHistogram, metricsIn, type Register } from './instruments.ts';
import { type Build, registerRuntime } from './runtime-metrics.ts';
import type { Output } from './standard-output.ts';
import type { Traces } from './traces.ts';

/** Seconds. The buckets of OpenTelemetry's `http.server.request.duration`, and finer ones below. */
const REQUEST_BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

/** Seconds. */
const DATABASE_BUCKETS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

export type Metrics = ReturnType<typeof openMetrics>;

/** The metrics, by OpenTelemetry's conventions. No label is a request's own text. @param listeners Now and later. */
export function openMetrics(
  build: Build,
  listeners: readonly Pick<Listener, 'name' | 'figures'>[],
  output: Pick<Output, 'dropped'>,
  ready: () => Promise<true | string>,
  logEvent: LogEvent,
) {
  const databaseSystem = build.database?.system ?? 'sqlite';
  const registry = new Registry();
  const { gauge, counter } = metricsIn(registry);
  const runtime = registerRuntime(registry, build, logEvent);
  // biome-ignore format: a histogram is a row
  const [duration, operations, batches, commits] = [
    labelledHistogram('http_server_request_duration_seconds', 'Time from the head of a request to the end of its answer.',
      ['http_request_method', 'http_route', 'http_response_status_code'], REQUEST_BUCKETS),
    labelledHistogram('db_client_operation_duration_seconds', 'Time of an operation of the store, waiting for its commit included.',
      ['db_system_name', 'db_operation_name', 'error_type'], DATABASE_BUCKETS),
    labelledHistogram('todo_commit_writes', 'Writes that shared one commit.', [], BATCH_BUCKETS),
    labelledHistogram('todo_commit_duration_seconds', 'Time of one commit, the sync to the disk included.', [], DATABASE_BUCKETS),
  ] as const;
  const underWay = new Map<string, number>();
  const verdicts = new Map<string, number>();
  const ofListeners = (figure: 'open' | 'limit' | 'dropped') => () =>
    listeners.map(({ name, figures }) => [name, figures[figure]] as const);
  const refused = () => listeners.find(({ name }) => name === 'public')?.figures.refused ?? [];
  let aborted = 0;
  // biome-ignore format: a metric is a row
  const rows: readonly (readonly [Register, ...Parameters<Register>])[] = [
    [gauge, 'http_server_active_requests', 'Requests under way.', () => underWay, 'http_request_method'],
    [counter, 'todo_aborted_requests_total', 'Requests whose client closed the connection, or its side, before the end of the answer.',
      () => aborted],
    [counter, 'todo_refused_requests_total', 'Requests refused before routing: not HTTP, too slow, too large a head.', refused,
      'http_response_status_code'],
    [counter, 'todo_token_verdicts_total', 'What was found of the credentials of requests, by code.', () => verdicts, 'code'],
    [gauge, 'todo_open_connections', 'Open sockets.', ofListeners('open'), 'listener'],
    [gauge, 'todo_connections_limit', 'Sockets that may be open at a time.', ofListeners('limit'), 'listener'],
    [counter, 'todo_connections_refused_total', 'Sockets that were closed at once, beyond the limit.', ofListeners('dropped'),
      'listener'],
    [counter, 'todo_log_lines_dropped_total', 'Lines of the log that could not be written.', output.dropped],
    [gauge, 'todo_ready', '1 when the service is ready, else 0.', async () => Number((await ready()) === true)],
  ];
  for (const [register, ...row] of rows) register(...row);
  /** The end of the last commit that was counted: writes that shared a commit report it one after the other. */
  let lastCommit: number | undefined;

  return {
    begun: (method: string) => count(underWay, knownMethod(method)),

    onStep(step: Step): void {
      const seconds = (step.until - step.from) / 1_000;
      switch (step.name) {
        case 'authenticate':
          if (step.code !== undefined) count(verdicts, step.code);
          break;
        case 'commit':
          if (step.until === lastCommit) break;
          lastCommit = step.until;
          batches.observe(step.writes);
          commits.observe(seconds);
          break;
        default:
          operations.observe(seconds, databaseSystem, step.name, errorType(step.error));
      }
    },

    ended({ call, from, until, status, isGivenUp }: Ended): void {
      const method = knownMethod(call.method);
      count(underWay, method, -1);
      if (isGivenUp) aborted += 1;
      if (status !== undefined)
        duration.observe((until - from) / 1_000, method, call.found?.path ?? '', status);
    },

    watchTraces({ lost }: Pick<Traces, 'lost'>): void {
      counter('todo_spans_lost_total', 'Spans that no collector has taken.', lost);
    },

    watchKeys({ figures }: Pick<Keys, 'figures'>): void {
      if (figures === undefined) return;
      counter(
        'todo_key_fetches_total',
        'Attempts to get the keys of the issuer, or to read the file that has them.',
        () => Object.entries(figures().attempts),
        'outcome',
      );
      gauge('todo_keys_last_fetch_successful', '1 when the last of them brought keys, else 0.', () =>
        Number(figures().lastFailure === undefined),
      );
    },

    watchStore({ sizes, connections }: Pick<TodoStore, 'connections' | 'sizes'>): void {
      gauge(
        'todo_database_size_bytes',
        'Size of the database: of a SQLite file and its log, or of the tables in PostgreSQL with their indexes.',
        () => sizes().database.map(({ file, bytes }) => [file, bytes] as const),
        'file',
      );
      gauge('todo_list_size_bytes', 'Memory of the list and its compressed copy.', () => sizes().list);
      if (databaseSystem === 'sqlite') {
        gauge('todo_cache_size_bytes', 'Memory of single todos at hand.', () => sizes().cache ?? 0);
        gauge('todo_database_wal_size_bytes', 'Size of the write-ahead log.', () => {
          return sizes().database.find(({ file }) => file === 'wal')?.bytes ?? 0;
        });
      }
      if (connections === undefined) return;
      const states = () => {
        const { used, idle } = connections();
        return Object.entries({ used, idle });
      };
      gauge(
        'db_client_connection_count',
        'Connections to the database, by state.',
        states,
        'db_client_connection_state',
      );
      gauge('db_client_connection_pending_requests', 'Operations that wait for a connection.', () => {
        return connections().waiting;
      });
    },

    /** The text that Prometheus reads, and its content type. */
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

function count<Label>(counts: Map<Label, number>, label: Label, change = 1): void {
  counts.set(label, (counts.get(label) ?? 0) + change);
}
