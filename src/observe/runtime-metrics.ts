import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { Gauge, type Registry } from 'prom-client';
import { metricsIn } from './histogram.ts';

/** Milliseconds between two looks at how late the event loop is. */
const RESOLUTION = 20;

/** What is running, and does not change. */
export interface Build {
  readonly version: string;
  /** Undefined when nobody knows of which commit this was made. */
  readonly commit: string | undefined;
  readonly profile: string;
  /** Of the database; undefined without one. */
  readonly schemaVersion: number | undefined;
}

/**
 * What is running, and gauges of the process, read when somebody asks: OpenTelemetry's `process.*`, `nodejs.*` and
 * `v8js.*`. Delays are those since the last time somebody asked.
 */
export function registerRuntime(registry: Registry, build: Build): Disposable {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION });
  delay.enable();
  let utilization = performance.eventLoopUtilization();

  const { gauge, counter } = metricsIn(registry);
  const lateness = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1e3);

  gauge('nodejs_eventloop_delay_mean_seconds', 'Mean delay of the event loop.', () =>
    delay.count === 0 ? 0 : lateness(delay.mean),
  );
  gauge('nodejs_eventloop_delay_p99_seconds', '99 % of delays of the event loop are at most this long.', () =>
    lateness(delay.percentile(99)),
  );
  gauge('nodejs_eventloop_delay_max_seconds', 'Longest delay of the event loop.', () => {
    const longest = delay.count === 0 ? 0 : lateness(delay.max);
    delay.reset();
    return longest;
  });
  gauge('nodejs_eventloop_utilization_ratio', 'Share of time in which the event loop was busy.', () => {
    const now = performance.eventLoopUtilization();
    const since = performance.eventLoopUtilization(now, utilization);
    utilization = now;
    return since.utilization;
  });
  gauge('process_memory_usage_bytes', 'Resident memory of the process.', () => process.memoryUsage.rss());
  counter('process_cpu_time_seconds_total', 'Processor time of the process, user and system.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge('process_uptime_seconds', 'Time since the process started.', () => process.uptime());
  if (process.platform === 'linux') {
    gauge('process_open_fds', 'Open file descriptors, sockets included.', () => {
      return readdirSync('/proc/self/fd').length;
    });
    gauge('process_max_fds', 'File descriptors that the process may have open.', () => {
      return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
    });
  }
  const spaces = () =>
    getHeapSpaceStatistics().map((space) => [space.space_name, space.space_used_size] as const);
  gauge('v8js_memory_heap_used_bytes', 'Heap in use, by space.', spaces, 'v8js_heap_space_name');
  const labels = {
    service_name: 'todo-service',
    service_version: build.version,
    vcs_ref_head_revision: build.commit ?? '',
    schema_version: build.schemaVersion ?? '',
    process_runtime_version: process.version,
    profile: build.profile,
  };
  new Gauge({
    name: 'build_info',
    help: 'Always 1: what is running.',
    labelNames: Object.keys(labels),
    registers: [registry],
  }).set(labels, 1);
  return { [Symbol.dispose]: () => delay.disable() };
}
