import { readdirSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds that the main thread of a process was on a processor (Linux: schedstat counts nanoseconds). */
export function mainThreadMs(pid: number): number {
  const [nanoseconds = ''] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** Seconds that the threads of a process that run now were on a processor (Linux: schedstat counts nanoseconds). */
export function threadSeconds(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const [nanoseconds] = textOf(`/proc/${pid}/task/${thread}/schedstat`).split(' ');
    return sum + Number(nanoseconds) / 1e9;
  }, 0);
}

/** Seconds that all threads of a process were on a processor (Linux: in hundredths). */
export function processorSeconds(pid: number): number {
  const [user = 0, system = 0] = secondsOf(pid);
  return user + system;
}

/** The same of a process, its children, and those of them that have ended. */
export function familySeconds(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? [];
  return [pid, ...children.map(Number)].flatMap(secondsOf).reduce((sum, seconds) => sum + seconds, 0);
}

/** Seconds that the children of this process were on a processor which have ended, and theirs (Linux; else 0). */
export function endedChildrenSeconds(): number {
  const [, , user = 0, system = 0] = secondsOf('self');
  return user + system;
}

/** User and system, of the process itself and of its ended children; nothing of one that has just ended. */
function secondsOf(pid: number | 'self'): readonly number[] {
  // The name of the program, in brackets, may have spaces.
  const fields = textOf(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields.slice(11, 15).map((ticks) => Number(ticks) / 100);
}

/** Empty of a process or thread that has ended: also one that ends while it is read. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Resident memory of a process (Linux), in units of 1,000,000 bytes: now, or the most that it ever was. */
export function residentMegabytes(pid: number, when: 'now' | 'most' = 'now'): number {
  const line = when === 'now' ? /^VmRSS:\s*(\d+) kB$/m : /^VmHWM:\s*(\d+) kB$/m;
  const [, kibibytes] = line.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kibibytes) * 1_024) / 1e6;
}

/** Frees what nobody in this process can reach any more. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
}

/** Lets this thread do nothing for so many milliseconds, as on a machine that stands still. */
export function standStill(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
