import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { headersOf } from '../ask.ts';
import { LOAD_CORE, onCore } from '../process.ts';
import type { TodoRequest } from '../requests.ts';
import type { Load, LoadResult } from './load.ts';

const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url));

let files = 0;

/** Load by `wrk` (https://github.com/wg/wrk), one thread on the load's core. */
export function openWrk(requests: readonly TodoRequest[], folder: string): Load {
  files += 1;
  const file = join(folder, `requests-${files}`);
  writeFileSync(
    file,
    requests
      .map(raw)
      .map((bytes) => `${Buffer.byteLength(bytes)}\n${bytes}`)
      .join(''),
  );
  const errorsExpected = requests.every(({ expected }) => expected.status >= 400);
  return {
    name: 'wrk',
    run: (port, connections, seconds) => run(file, errorsExpected, port, connections, seconds),
  };
}

async function run(
  file: string,
  errorsExpected: boolean,
  port: number,
  connections: number,
  seconds: number,
): Promise<LoadResult> {
  const words = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', SCRIPT];
  const [command, ...rest] = onCore(LOAD_CORE, [...words, `http://127.0.0.1:${port}/`]);
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_REQUESTS: file },
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`Cannot measure: wrk ended with ${code}\n${output}`);
  const { requests, errors, ...times } = JSON.parse(output.slice(output.indexOf('{')));
  const { status, ...unanswered } = errors;
  const refused = errorsExpected ? requests - status : status;
  const failed = Object.values<number>(unanswered).reduce((sum, count) => sum + count, refused);
  return { requests, failed, ...times };
}

function raw({ method, path, token, body }: TodoRequest): string {
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const headers = Object.entries({ Host: 'localhost', ...headersOf(token, body), ...length });
  return `${method} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body ?? ''}`;
}
