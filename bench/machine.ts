import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { quantile } from '../test/steadily.ts';
import { type CoreTimes, coreTimes } from './cores.ts';
import type { Measurement } from './measure.ts';
import manifest from './package.json' with { type: 'json' };
import { wrkVersion } from './wrk.ts';

const LOOK_MS = 2_000;

/** What the figures depend on: the machine, and what else it did. */
export type Facts = Readonly<Record<string, string>>;

/** Watches the machine for two seconds while nothing of the benchmark runs. `folder` has the databases. */
export async function lookBefore(folder: string): Promise<Facts> {
  const averages = loadavg().map((value) => value.toFixed(2));
  const began = coreTimes();
  await pause(LOOK_MS);
  const { busy, stolen } = shares(began);
  return {
    processor: `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${type()} ${release()}`,
    'a sync of 4 KiB to the disk': `${Math.round(syncMicroseconds(folder))} µs`,
    'load average before': averages.join(' '),
    'processor in use before': percent(busy),
    'time that the host gave to others before': percent(stolen),
  };
}

/** What the measurements tell about the machine; `began` is from when they began. */
export function lookBack(began: CoreTimes | undefined, measurements: readonly Measurement[]): Facts {
  const { stolen } = shares(began);
  const foreign = measurements.map((one) => one.foreign).filter((share) => !Number.isNaN(share));
  return {
    "the server's core, used by others": `median ${percent(quantile(foreign, 0.5))}, at most ${percent(Math.max(0, ...foreign))}`,
    'time that the host gave to others': percent(stolen),
  };
}

/** Of this program, of Bun, of what the peers use, and of the load. */
export function versions(): string {
  const packages = { ...manifest.dependencies, Bun: manifest.optionalDependencies['@oven/bun-linux-x64'] };
  const all = { 'Node.js': process.version, ...packages, wrk: wrkVersion };
  return Object.entries(all)
    .map((pair) => pair.join(' '))
    .join(', ');
}

/** Zeros where the machine does not tell. */
function shares(before: CoreTimes | undefined): { readonly busy: number; readonly stolen: number } {
  const after = coreTimes();
  if (before === undefined || after === undefined) return { busy: 0, stolen: 0 };
  const all = after.all - before.all;
  return { busy: (after.busy - before.busy) / all, stolen: (after.stolen - before.stolen) / all };
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
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
