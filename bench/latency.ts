import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../test/support/folder.ts';
import { quantile } from '../test/support/steadily.ts';
import type { Latency } from './figures.ts';
import { cores, type Target } from './load.ts';
import { LATENCY_RATE } from './report.ts';
import { VEGETA } from './servers.ts';

const run = promisify(execFile);

/** How long the answers take at a fixed rate, over as many connections as that needs. */
export async function attack(
  { authorization, instances: [first], say }: Target,
  requests: readonly string[],
  seconds: number,
): Promise<Latency> {
  await using folder = await temporaryFolder();
  const [targets, results] = [join(folder.path, 'targets'), join(folder.path, 'results')];
  const header = {
    Authorization: [authorization],
    'Content-Type': ['application/json'],
    // Go asks for gzip by itself, which the others do not have, and takes its time to undo it.
    'Accept-Encoding': ['identity'],
  };
  const lines = requests.map((request) => {
    const [, method, path, body = ''] = /^(\S+) (\S+) ?(.*)$/.exec(say(request)) ?? [];
    return JSON.stringify({
      method,
      url: `${first?.baseUrl}${path}`,
      header,
      body: Buffer.from(body).toString('base64'),
    });
  });
  // vegeta leaves out what no newline ends.
  writeFileSync(targets, lines.map((line) => `${line}\n`).join(''));
  const flags = `-format=json -rate=${LATENCY_RATE}/s -duration=${seconds}s -max-body=0 -timeout=60s`;
  const most = '-workers=10 -max-workers=500 -connections=500 -max-connections=500';
  const words = `-c ${cores?.[2]} ${VEGETA.program} attack ${flags} ${most}`.split(' ');
  await run('taskset', [...words, `-targets=${targets}`, `-output=${results}`]);
  const { stdout } = await run(VEGETA.program, ['encode', '-to=csv', results], { maxBuffer: 2 ** 30 });
  // Of nanoseconds: when a request was sent, and how long it took. Then come bytes, an error, a body …
  const hits = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(',', 3).map(Number));
  const answered = hits.filter(([, status = 0]) => status >= 200 && status < 300);
  const took = answered.map(([, , nanoseconds = 0]) => nanoseconds / 1e6);
  const began = Math.min(...hits.map(([sent = 0]) => sent));
  const ended = Math.max(...hits.map(([sent = 0, , nanoseconds = 0]) => sent + nanoseconds));
  return {
    p50: quantile(took, 0.5),
    p99: quantile(took, 0.99),
    perSecond: answered.length / ((ended - began) / 1e9),
  };
}
