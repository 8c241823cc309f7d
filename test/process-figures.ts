import { readFileSync } from 'node:fs';

/** Milliseconds that the main thread of a process was on a processor (Linux: schedstat counts nanoseconds). */
export function mainThreadMs(pid: number): number {
  const [nanoseconds = ''] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}
