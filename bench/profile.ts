/**
 * Prints where the time went: `node bench/profile.ts FOLDER` reads the CPU profiles that `npm run bench -- --profile
 * FOLDER` left and lists the functions with the most time of their own, the busiest thread of all. The same files
 * open as a flame graph in the performance panel of Chromium's developer tools.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SHOWN = 15;

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
  }[];
  readonly samples: readonly number[];
  /** Microseconds. */
  readonly timeDeltas: readonly number[];
}

const [folder = '.'] = process.argv.slice(2);
const threads = readdirSync(folder)
  .filter((name) => name.endsWith('.cpuprofile'))
  .map((name) => ownTimes(JSON.parse(readFileSync(join(folder, name), 'utf8'))));
const busiest = threads.toSorted((a, b) => total(b) - total(a))[0] ?? new Map<string, number>();
process.stdout.write('| Function | of the busy time |\n| --- | ---: |\n');
for (const [name, time] of [...busiest].sort(([, a], [, b]) => b - a).slice(0, SHOWN)) {
  process.stdout.write(`| ${name} | ${((time / total(busiest)) * 100).toFixed(1)} % |\n`);
}

/** Microseconds by function, without idling. */
function ownTimes({ nodes, samples, timeDeltas }: Profile): ReadonlyMap<string, number> {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? '';
    if (name !== '(idle)') times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return times;
}

/** With the file inside its package, or inside the service. */
function nameOf({ functionName, url }: Profile['nodes'][number]['callFrame']): string {
  const file = /(?:.*\/node_modules\/|\/dist\/|^node:)(.+)$/.exec(url)?.[1];
  return `${functionName || '(anonymous)'}${file === undefined ? '' : ` (${file})`}`;
}

function total(times: ReadonlyMap<string, number>): number {
  return times.values().reduce((sum, time) => sum + time, 0);
}
