import { unfinishedOf } from '../lib/durable-files.ts';

/** Seconds of each unit, with its name. */
const UNITS = [
  [86_400, 'days'],
  [3_600, 'hours'],
  [60, 'minutes'],
  [1, 'seconds'],
] as const;

/** Names unfinished files of other runs for the same file: only people can tell whether a run is still writing. */
export function printUnfinished(file: string): void {
  for (const { path, ageMs } of unfinishedOf(file)) printOneUnfinished(path, ageMs);
}

export function printOneUnfinished(path: string, ageMs: number): void {
  process.stderr.write(`Not finished, and last written ${ago(ageMs)} ago: ${path}\n`);
}

/** `3 days`. Two of a unit at least, so that no singular is needed. */
function ago(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const [length, unit] = UNITS.find(([each]) => seconds >= 2 * each) ?? [1, 'seconds'];
  return `${Math.floor(seconds / length)} ${unit}`;
}
