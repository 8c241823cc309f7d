/**
 * What a start costs: CPU time from the start of the process until its log says that it serves, in milliseconds,
 * of the executable and of the npm package's program, in turns. Build both first: `npm run executable` and
 * `npm run build`. A quotient means something; the numbers alone belong to one machine.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { temporaryFolder } from '../folder.ts';
import { processorSeconds } from '../process-figures.ts';
import { quantile } from '../steadily.ts';
import { project } from './npm.ts';
import { serve } from './program.ts';

const ROUNDS = 15;

const PROGRAMS = {
  executable: [join(project, 'build', 'todo-service')],
  'npm package': [process.execPath, join(project, 'dist', 'start.js')],
} as const;

await using folder = await temporaryFolder();
const secret = await folder.write('secret', randomBytes(32));
for (const profile of ['error-demo', 'shared-list']) {
  const costs: Record<string, number[]> = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, command] of Object.entries(PROGRAMS)) {
      costs[name] = [...(costs[name] ?? []), await costOf(command, profile)];
    }
  }
  const medians = Object.entries(costs).map(([name, values]) => `${name} ${quantile(values, 0.5)} ms`);
  process.stdout.write(`${profile}: ${medians.join(', ')}, median of ${ROUNDS} starts\n`);
}

async function costOf([file, ...args]: readonly [string, ...string[]], profile: string): Promise<number> {
  const env = {
    TODO_AUTH_ISSUER: 'https://issuer.test',
    TODO_AUTH_AUDIENCE: 'todos',
    TODO_AUTH_SECRET_FILE: secret,
  };
  const flags = ['serve', '--profile', profile, '--port', '0'];
  await using service = await serve(file, [...args, ...flags], { cwd: folder.path, env });
  // Counted in hundredths of a second.
  return Math.round(processorSeconds(service.pid) * 1e3);
}
