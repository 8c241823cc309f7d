import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { headersOf } from '../ask.ts';
import { LOAD_CORE, onCore } from '../cores.ts';
import type { TodoRequest } from '../requests.ts';
import { expectedError, type Load } from './load.ts';

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
  const status = expectedError(requests);
  const environment = {
    BENCH_REQUESTS: file,
    ...(status === undefined ? {} : { BENCH_STATUS: `${status}` }),
  };
  return {
    command: words(64, 1, 'PORT', 'bench/load/wrk.lua').join(' '),
    async run(port, connections, seconds) {
      const [command, ...rest] = words(connections, seconds, port, SCRIPT);
      const child = spawn(command, rest, {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: { ...process.env, ...environment },
      });
      const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      if (code !== 0) throw new Error(`Cannot measure: wrk ended with ${code}\n${output}`);
      const { refused, unanswered, ...answered } = JSON.parse(output.slice(output.indexOf('{')));
      const failed = Object.values<number>(unanswered).reduce((sum, count) => sum + count, refused);
      return { failed, ...answered };
    },
  };
}

function words(connections: number, seconds: number, port: number | 'PORT', script: string) {
  const load = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script];
  return onCore(LOAD_CORE, [...load, `http://127.0.0.1:${port}/`]);
}

function raw({ method, path, token, body }: TodoRequest): string {
  const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
  const headers = Object.entries({ Host: 'localhost', ...headersOf(token, body), ...length });
  return `${method} ${path} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body ?? ''}`;
}
