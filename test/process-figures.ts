import { readFileSync } from 'node:fs';

/** Milliseconds that the main thread of a process was on a processor (Linux: schedstat counts nanoseconds). */
export function mainThreadMs(pid: number): number {
  const [nanoseconds = ''] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1e6;
}

/** Seconds that all threads of a process were on a processor (Linux: in hundredths). */
export function processorSeconds(pid: number): number {
  // The name of the program, in brackets, may have spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Resident memory of a process (Linux), in units of 1,000,000 bytes. */
export function residentMegabytes(pid: number): number {
  const [, kibibytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return (Number(kibibytes) * 1_024) / 1e6;
}
