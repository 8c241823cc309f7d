import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { LogEvent } from '../events.ts';
import { metricsIn } from './instruments.ts';

/** Milliseconds: between two ticks, and after which a tick is late, because the process stood still. */
const [INTERVAL, ON_TIME] = [20, 40];

/** Milliseconds of one block from which on the log has it: clients and probes have given up meanwhile. */
const LONG = 5_000;

/** Milliseconds: practically never. prom-client measures the event loop's delay in samples, which miss one long block. */
const NEVER = 2 ** 31 - 1;

/** The running program, which does not change. */
export interface Build {
  readonly version: string;
  /** Undefined when the commit of the build is not known. */
  readonly commit: string | undefined;
  readonly profile: string;
  readonly database?:
    | { readonly system: 'sqlite' | 'postgresql'; readonly schemaVersion: number }
    | undefined;
}

/** Registers the running program, prom-client's metrics of every Node.js process, and the time that it stood still. */
export function registerRuntime(registry: Registry, build: Build, logEvent: LogEvent): Disposable {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER });
  for (const { name } of registry.getMetricsAsArray())
    if (name.startsWith('nodejs_eventloop_lag_')) registry.removeSingleMetric(name);

  let stalled = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    const late = now - last - ON_TIME;
    stalled += Math.max(0, late);
    if (late >= LONG) logEvent({ event: 'stalled', milliseconds: Math.round(late) });
    last = now;
  }, INTERVAL).unref();
  metricsIn(registry).counter(
    'todo_stalled_seconds_total',
    'Time in which the process did nothing for anybody: its event loop was blocked, or it was not running.',
    () => stalled / 1_000,
  );

  const labels = {
    service_name: 'todo-service',
    service_version: build.version,
    vcs_ref_head_revision: build.commit ?? '',
    schema_version: build.database?.schemaVersion ?? '',
    process_runtime_version: process.version,
    profile: build.profile,
  };
  new Gauge({
    name: 'build_info',
    help: 'Always 1: what is running.',
    labelNames: Object.keys(labels),
    registers: [registry],
  }).set(labels, 1);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
