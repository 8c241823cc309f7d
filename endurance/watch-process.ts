// A preload (`--import`): watches the event loop of the main thread and the memory, and says what it saw in a
// line of JSON on standard error when the process ends. SIGUSR2 begins anew.
import { writeSync } from 'node:fs';
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Milliseconds between two looks at the loop. */
const LOOP_INTERVAL_MS = 1;

/** Milliseconds between two looks at the memory. */
const MEMORY_INTERVAL_MS = 50;

/** Milliseconds. Shorter gaps are not kept. */
const LONG_GAP_MS = 5;

const LIMITS = [5, 10, 20, 50];

interface Gap {
  readonly from: number;
  /** Milliseconds without a turn of the loop. */
  readonly length: number;
  /** Milliseconds of it on a processor. For the rest the thread waited for one, or for another thread. */
  readonly busy: number;
}

/** What was seen; milliseconds and megabytes. */
export interface Watched {
  /** How many gaps were longer than a limit, and in how many the thread was busy for longer. */
  readonly gaps: readonly { readonly limit: number; readonly longer: number; readonly busy: number }[];
  readonly longest: number;
  readonly busiest: number;
  /** The longest that the collector of garbage took at a time, on whatever thread. */
  readonly collecting: { readonly longest: number; readonly major: number };
  /** Peaks: of the process, and of what its main thread keeps outside of the heap. */
  readonly resident: number;
  readonly external: number;
}

function watch(): void {
  let gaps: Gap[] = [];
  let collected: PerformanceEntry[] = [];
  let peak = { resident: 0, external: 0 };
  new PerformanceObserver((list) => collected.push(...list.getEntries())).observe({ entryTypes: ['gc'] });

  let last = { at: performance.now(), busy: busyTime() };
  setInterval(() => {
    const now = { at: performance.now(), busy: busyTime() };
    const length = now.at - last.at - LOOP_INTERVAL_MS;
    if (length > LONG_GAP_MS) gaps.push({ from: last.at, length, busy: now.busy - last.busy });
    last = now;
  }, LOOP_INTERVAL_MS).unref();
  setInterval(() => {
    const { rss, external } = process.memoryUsage();
    peak = { resident: Math.max(peak.resident, rss), external: Math.max(peak.external, external) };
  }, MEMORY_INTERVAL_MS).unref();

  const watched = (): Watched => ({
    gaps: LIMITS.map((limit) => ({
      limit,
      longer: gaps.filter(({ length }) => length > limit).length,
      busy: gaps.filter(({ busy }) => busy > limit).length,
    })),
    longest: most(gaps.map(({ length }) => length)),
    busiest: most(gaps.map(({ busy }) => busy)),
    collecting: {
      longest: most(collected.map(({ duration }) => duration)),
      major: collected.filter(isMajor).length,
    },
    resident: Math.round(peak.resident / 2 ** 20),
    external: Math.round(peak.external / 2 ** 20),
  });
  process.on('SIGUSR2', () => {
    gaps = [];
    collected = [];
    peak = { resident: 0, external: 0 };
  });
  process.on('exit', () => writeSync(2, `${JSON.stringify(watched())}\n`));
}

/** Milliseconds that this thread was on a processor. */
function busyTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function isMajor(entry: PerformanceEntry): boolean {
  const detail = 'detail' in entry ? entry.detail : undefined;
  const kind = typeof detail === 'object' && detail !== null && 'kind' in detail ? detail.kind : undefined;
  return kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}

function most(numbers: readonly number[]): number {
  return Number(numbers.reduce((max, number) => Math.max(max, number), 0).toFixed(1));
}

if (isMainThread) watch();
