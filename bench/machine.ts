import { spawnSync } from 'node:child_process';
import { closeSync, fdatasyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { bunProgram } from './bun.ts';
import { median } from './results.ts';

/** What the figures depend on. */
export function describeMachine(folder: string, load: string): Record<string, string> {
  return {
    processor: `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${type()} ${release()}`,
    'a sync of 4 KiB to the disk': `${Math.round(syncMicroseconds(folder))} µs`,
    load,
  };
}

const PACKAGES = [
  'express',
  'jsonwebtoken',
  'fastify',
  '@fastify/jwt',
  'better-sqlite3',
  'hono',
  '@hono/node-server',
  'elysia',
  '@elysiajs/jwt',
  'pg',
  'autocannon',
];

export function readVersions(): Record<string, string> {
  return {
    'Node.js': process.version,
    ...(bunProgram === undefined ? {} : { Bun: firstLine(bunProgram, '--version') }),
    ...Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)])),
    wrk: firstLine('wrk', '--version').replace(/^wrk | \[.*/g, ''),
  };
}

/** Read as a file: not every package exports its `package.json`. */
function versionOf(name: string): string {
  const [folder = ''] = createRequire(import.meta.url).resolve.paths(name) ?? [];
  return JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).version;
}

function firstLine(program: string, ...words: string[]): string {
  const { stdout, error } = spawnSync(program, words, { encoding: 'utf8' });
  return error === undefined ? (stdout.split('\n')[0] ?? '') : 'not installed';
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
  return median(times);
}
