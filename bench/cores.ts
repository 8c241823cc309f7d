import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

/** Linux counts CPU time for `/proc` in hundredths of a second, whatever the kernel's own clock (proc(5)). */
const TICK_MICROSECONDS = 10_000;

/** The first two cores that this process may use; undefined where `taskset` or a second core is missing. */
const pair = spawnSync('taskset', ['--version']).status === 0 ? firstTwoAllowed() : undefined;
export const SERVER_CORE = pair?.[0];
export const LOAD_CORE = pair?.[1];

function firstTwoAllowed(): readonly [number, number] | undefined {
  const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readProc('self/status') ?? '')?.[1] ?? '';
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

/** Microseconds since the machine's start, of one core or of all together. */
export interface CoreTimes {
  readonly busy: number;
  /** In which this machine wanted to work and its host let another one. */
  readonly stolen: number;
  readonly all: number;
}

/** Undefined without `/proc`. */
export function coreTimes(core: number | '' = ''): CoreTimes | undefined {
  const line = readProc('stat')?.match(new RegExp(`^cpu${core} +(.+)$`, 'm'))?.[1];
  if (line === undefined) return undefined;
  const times = line.split(' ').map((ticks) => Number(ticks) * TICK_MICROSECONDS);
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, hard = 0, soft = 0, stolen = 0] = times;
  const busy = user + nice + system + hard + soft;
  return { busy, stolen, all: busy + idle + wait + stolen };
}

/** A file of `/proc`; undefined where there is none. */
export function readProc(name: string): string | undefined {
  const file = `/proc/${name}`;
  return statSync(file, { throwIfNoEntry: false }) === undefined ? undefined : readFileSync(file, 'utf8');
}
