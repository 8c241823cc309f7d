import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { quantile } from '../test/steadily.ts';

/** The first two cores that this process may use; undefined where `taskset` or a second core is missing. */
const pair = spawnSync('taskset', ['--version']).status === 0 ? firstTwoAllowed() : undefined;
export const SERVER_CORE = pair?.[0];
export const LOAD_CORE = pair?.[1];

function firstTwoAllowed(): readonly [number, number] | undefined {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readProc('self/status'))?.[1] ?? '';
  const cores = list.split(',').flatMap((range) => {
    const [from = Number.NaN, to = from] = range.split('-').map(Number);
    return Array.from({ length: Math.min(2, to - from + 1) || 0 }, (_, index) => from + index);
  });
  const [first, second] = cores;
  return first === undefined || second === undefined ? undefined : [first, second];
}

/** The words that run a program on one core; on any core when it is undefined. */
export function onCore(core: number | undefined, words: readonly string[]): readonly [string, ...string[]] {
  const [program = '', ...rest] = core === undefined ? words : ['taskset', '-c', String(core), ...words];
  return [program, ...rest];
}

/** Leaves the servers' core to the servers; what is started from here on inherits that. */
export function moveToLoadCore(): void {
  if (LOAD_CORE !== undefined) spawnSync('taskset', ['-acp', String(LOAD_CORE), String(process.pid)]);
}

/** Megabytes of memory of a process, its share of shared pages counted (PSS); NaN without `/proc`. */
export function memoryMegabytes(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB/m.exec(readProc(`${pid}/smaps_rollup`))?.[1]) / 1024;
}

/** A file of `/proc`; empty where there is none. */
function readProc(name: string): string {
  const file = `/proc/${name}`;
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** What the figures of a run of this npm script depend on, now. `folder` has the databases. */
export function runFacts(script: string, folder: string): Readonly<Record<string, string>> {
  const flags = process.argv.slice(2);
  return {
    date: new Date().toISOString(),
    command: ['npm run', script, ...(flags.length > 0 ? ['--', ...flags] : [])].join(' '),
    processor: `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${type()} ${release()}`,
    'a sync of 4 KiB to the disk': `${Math.round(syncMicroseconds(folder))} µs`,
    'load average': loadavg()
      .map((value) => value.toFixed(2))
      .join(' '),
  };
}

/** Durable writes cannot be faster than the disk: what one `fdatasync` takes. */
function syncMicroseconds(folder: string): number {
  const descriptor = openSync(join(folder, 'sync'), 'w');
  const block = Buffer.alloc(4096, 1);
  const times = Array.from({ length: 50 }, () => {
    writeSync(descriptor, block);
    const began = performance.now();
    fdatasyncSync(descriptor);
    return (performance.now() - began) * 1000;
  });
  closeSync(descriptor);
  return quantile(times, 0.5);
}
