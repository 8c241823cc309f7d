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

const PROGRAM = fileURLToPath(new URL('autocannon-run.ts', import.meta.url));

let files = 0;

/** Load by `autocannon`, in a process of its own on the load's core. */
export function openAutocannon(requests: readonly TodoRequest[], folder: string): Load {
  files += 1;
  const file = join(folder, `requests-${files}.json`);
  const told = requests.map(({ method, path, token, body }) => ({
    method,
    path,
    headers: headersOf(token, body),
    ...(body === undefined ? {} : { body }),
  }));
  writeFileSync(file, JSON.stringify(told));
  const status = expectedError(requests);
  return {
    command: words('REQUESTS', 'PORT', 64, 1, status, 'bench/load/autocannon-run.ts', 'node').join(' '),
    async run(port, connections, seconds) {
      const [command, ...rest] = words(file, port, connections, seconds, status);
      const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
      const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      if (code !== 0) throw new Error(`Cannot measure: autocannon ended with ${code}`);
      return JSON.parse(output);
    },
  };
}

function words(
  file: string,
  port: number | 'PORT',
  connections: number,
  seconds: number,
  status: number | undefined,
  program = PROGRAM,
  node = process.execPath,
) {
  return onCore(LOAD_CORE, [node, program, file, ...[port, connections, seconds, status ?? ''].map(String)]);
}
