import { unfinishedOf } from '../lib/durable-files.ts';

/** Seconds, and how people call so many. */
const UNITS = [
  [86_400, 'days'],
  [3_600, 'hours'],
  [60, 'minutes'],
  [1, 'seconds'],
] as const;

/** Names what other runs have left of the same file, or are still writing, on standard error: only people can tell. */
export function tellUnfinished(file: string): void {
  for (const { path, ageMs } of unfinishedOf(file)) tellOneUnfinished(path, ageMs);
}

/** The same of one of them. */
export function tellOneUnfinished(path: string, ageMs: number): void {
  process.stderr.write(`Not finished, and last written ${ago(ageMs)} ago: ${path}\n`);
}

/** `3 days`. Two of a unit at least, so that no singular is needed. */
function ago(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const [length, unit] = UNITS.find(([each]) => seconds >= 2 * each) ?? [1, 'seconds'];
  return `${Math.floor(seconds / length)} ${unit}`;
}
