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
  const errorsExpected = requests.every(({ expected }) => expected.status >= 400);
  return {
    name: 'autocannon',
    async run(port, connections, seconds) {
      const words = [process.execPath, PROGRAM, file, String(port), String(connections), String(seconds)];
      const [command, ...rest] = onCore(LOAD_CORE, words);
      const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'inherit'] });
      const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
      if (code !== 0) throw new Error(`Cannot measure: autocannon ended with ${code}`);
      const { succeeded, refused, unanswered, ...times } = JSON.parse(output);
      const wrong: number = errorsExpected ? succeeded : refused;
      const result: LoadResult = { requests: succeeded + refused, failed: wrong + unanswered, ...times };
      return result;
    },
  };
}
