import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { LOAD_CORE, onCore } from './machine.ts';
import { raw, type TodoRequest } from './requests.ts';

const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url));

/** The version of `wrk`; undefined where it is not installed. */
export const wrkVersion = /^wrk (\S+)/.exec(
  spawnSync('wrk', ['--version'], { encoding: 'utf8' }).stdout ?? '',
)?.[1];

/** Sends requests over `connections` for so many seconds, the next one on each as soon as one is answered. */
export type Load = (port: number, connections: number, seconds: number) => Promise<LoadResult>;

export interface LoadResult {
  /** Answered, whatever the answer. */
  readonly requests: number;
  /** Without an answer, or with one that refuses what should be done or does not refuse as it should. */
  readonly failed: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

let files = 0;

/** Load by `wrk` (https://github.com/wg/wrk), one thread on the load's core: it costs less than what it asks. */
export function openLoad(requests: readonly TodoRequest[], folder: string): Load {
  files += 1;
  const file = join(folder, `requests-${files}`);
  const bytes = requests
    .map((request) => raw(request))
    .map((request) => `${Buffer.byteLength(request)}\n${request}`);
  writeFileSync(file, bytes.join(''));
  const [status = 0, ...others] = new Set(requests.map(({ expected }) => expected.status));
  // Where all must be refused in the same way, another answer is the failure.
  const expected = status >= 400 && others.length === 0 ? { BENCH_STATUS: String(status) } : {};
  const env = { ...process.env, BENCH_REQUESTS: file, ...expected };
  return async (port, connections, seconds) => {
    const [command, ...words] = onCore(LOAD_CORE, [
      ...['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', SCRIPT],
      `http://127.0.0.1:${port}/`,
    ]);
    const child = spawn(command, words, { stdio: ['ignore', 'pipe', 'inherit'], env });
    const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    if (code !== 0) throw new Error(`Cannot measure: wrk ended with ${code}\n${output}`);
    const { refused, unanswered, ...answered } = JSON.parse(output.slice(output.indexOf('{')));
    const failed = Object.values<number>(unanswered).reduce((sum, count) => sum + count, refused);
    return { failed, ...answered };
  };
}
