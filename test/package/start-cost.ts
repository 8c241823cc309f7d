/**
 * What a start costs: CPU time from the start of the process until its log says that it serves, in milliseconds,
 * of the executable and of the npm package's program, in turns. Build both first: `npm run executable` and
 * `npm run build`. A quotient means something; the numbers alone belong to one machine.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { project } from './npm.ts';
import { serve } from './program.ts';

const ROUNDS = 15;

const PROGRAMS = {
  executable: [join(project, 'build', 'todo-service')],
  'npm package': [process.execPath, join(project, 'dist', 'start.js')],
} as const;

/** Of `/proc/<pid>/stat`: a clock tick is 10 ms on every Linux that Node.js runs on. */
const TICK_MS = 10;

const folder = await mkdtemp(join(tmpdir(), 'todo-service-start-cost-'));
await writeFile(join(folder, 'secret'), randomBytes(32), { mode: 0o600 });
try {
  for (const profile of ['error-demo', 'shared-list']) {
    const costs: Record<string, number[]> = {};
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, command] of Object.entries(PROGRAMS)) {
        costs[name] = [...(costs[name] ?? []), await costOf(command, profile)];
      }
    }
    const medians = Object.entries(costs).map(([name, values]) => `${name} ${median(values)} ms`);
    process.stdout.write(`${profile}: ${medians.join(', ')}, median of ${ROUNDS} starts\n`);
  }
} finally {
  await rm(folder, { recursive: true });
}

async function costOf([file, ...args]: readonly [string, ...string[]], profile: string): Promise<number> {
  const env = {
    TODO_AUTH_ISSUER: 'https://issuer.test',
    TODO_AUTH_AUDIENCE: 'todos',
    TODO_AUTH_SECRET_FILE: join(folder, 'secret'),
  };
  const flags = ['serve', '--profile', profile, '--port', '0'];
  await using service = await serve(file, [...args, ...flags], { cwd: folder, env });
  const stat = await readFile(`/proc/${service.pid}/stat`, 'utf8');
  const [user = 0, system = 0] = stat.split(') ').at(-1)?.split(' ').slice(11, 13).map(Number) ?? [];
  return (user + system) * TICK_MS;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
