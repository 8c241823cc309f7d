import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../test/support/folder.ts';
import { quantile } from '../test/support/steadily.ts';
import type { Databases } from './databases.ts';
import { type Figures, keep, type Latency } from './figures.ts';
import { cores, type Target } from './load.ts';
import { type Flags, inTurns, open } from './measure.ts';
import { LATENCY_RATE } from './report.ts';
import { ALONE, type Server, VEGETA } from './servers.ts';
import { draw } from './works.ts';

const run = promisify(execFile);

/** Times that each server is started and its answers are timed. */
export const LATENCY_ROUNDS = 7;

/** Measures how long the answers of a list of 1,000 take at a fixed rate, over as many connections as that needs. */
export async function measureLatency(
  servers: readonly Server[],
  databases: Databases,
  figures: Figures,
  rounds: number,
  { seconds, warmUp }: Flags,
): Promise<void> {
  // The constant writes nothing, and the admin listener changes little.
  const chosen = ALONE.filter(
    (server) => servers.includes(server) && !['constant', 'service-admin'].includes(server.name),
  );
  const todos = 1_000;
  await inTurns(chosen, rounds, async (server, parts) => {
    const { target } = await open(server, databases, todos, parts);
    // Creates come last: they make the list longer.
    for (const kind of ['one', 'replace', 'list', 'create'] as const) {
      const requests = draw(kind, todos);
      // From the other end: the first replaces that are measured change something, too.
      if (warmUp > 0) await attack(target, requests.toReversed(), warmUp);
      keep(figures.latency, kind, server.name, await attack(target, requests, seconds));
    }
  });
}

async function attack(
  { token, baseUrl }: Target,
  requests: readonly string[],
  seconds: number,
): Promise<Latency> {
  await using folder = await temporaryFolder();
  const [targets, results] = [join(folder.path, 'targets'), join(folder.path, 'results')];
  const header = {
    Authorization: [`Bearer ${token}`],
    'Content-Type': ['application/json'],
    // Go asks for gzip by itself, which the others do not have, and takes its time to undo it.
    'Accept-Encoding': ['identity'],
  };
  const lines = requests.map((request) => {
    const [, method, path, body = ''] = /^(\S+) (\S+) ?(.*)$/.exec(request) ?? [];
    return JSON.stringify({
      method,
      url: baseUrl + path,
      header,
      body: Buffer.from(body).toString('base64'),
    });
  });
  writeFileSync(targets, lines.join('\n'));
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
