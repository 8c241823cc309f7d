import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { scriptFlags } from '../test/script-flags.ts';
import { startService } from '../test/start.ts';
import { quantile, steadily } from '../test/steadily.ts';
import { askMe } from './ask-me.ts';
import { forge } from './forge.ts';
import { AUDIENCE, ISSUER, makeKeys } from './tokens.ts';

const HELP = `Usage: node bench/token-flood.ts [flags]

Milliseconds that GET /me with a remembered token takes while nobody else calls, while 1,000 forged tokens
a second arrive, and while as many good ones arrive that the service has never seen. Each phase comes once a
round. Requests are sent when they are due, whatever has been answered, and timed from then on; the flood comes from a
thread of its own. Needs a core for the service and one for the load: with less it measures the load.

  --rounds ROUNDS   of all phases; default 5
`;

const { rounds } = scriptFlags(HELP, { rounds: 5 });
const SECONDS = 4;
const GOOD_PER_SECOND = 200;
const FLOOD_PER_SECOND = 1_000;

interface Flood {
  readonly baseUrl: string;
  readonly tokens: readonly string[];
  readonly status: 200 | 401;
}

if (isMainThread) await compare();
else {
  parentPort?.on('message', async ({ baseUrl, tokens, status }: Flood) => {
    const agent = new Agent({ keepAlive: true });
    await steadily(FLOOD_PER_SECOND, SECONDS, (nth) => askMe(baseUrl, tokens[nth] ?? '', status, agent));
    agent.destroy();
    parentPort?.postMessage('sent');
  });
}

async function compare(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'todo-token-flood-'));
  const flood = new Worker(new URL(import.meta.url));
  try {
    const maker = makeKeys(folder).RS256;
    const env = {
      TODO_AUTH_ISSUER: ISSUER,
      TODO_AUTH_AUDIENCE: AUDIENCE,
      TODO_AUTH_KEYS_FILE: maker.keyFile,
    };
    await using service = await startService({ env });
    const { baseUrl } = service;
    const token = await maker.make({ name: 'ada' });
    let made = 0;
    const fresh = () =>
      Promise.all(Array.from({ length: SECONDS * FLOOD_PER_SECOND }, () => maker.make({ jti: ++made })));
    const phases = new Map([
      ['alone', undefined],
      ['with forged tokens', { status: 401, tokens: async () => (await fresh()).map(forge) }],
      ['with first-seen good tokens', { status: 200, tokens: fresh }],
    ] as const);
    const taken = new Map([...phases.keys()].map((name) => [name, [] as number[]]));
    await timeGood(baseUrl, token);
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, phase] of phases) {
        const tokens = (await phase?.tokens()) ?? [];
        const sent = phase === undefined ? undefined : Promise.withResolvers<void>();
        if (phase !== undefined) {
          flood.once('message', () => sent?.resolve());
          flood.postMessage({ baseUrl, tokens, status: phase.status } satisfies Flood);
        }
        taken.get(name)?.push(...(await timeGood(baseUrl, token)));
        await sent?.promise;
      }
    }
    process.stdout.write(
      `${process.version}, RS256, ${rounds} rounds of ${SECONDS} s, ${GOOD_PER_SECOND} good requests/s, ` +
        `${FLOOD_PER_SECOND} others/s, milliseconds\n\n| good requests | p50 | p99 |\n|---|---|---|\n`,
    );
    for (const [name, times] of taken) {
      const [p50, p99] = [0.5, 0.99].map((share) => quantile(times, share).toFixed(2));
      process.stdout.write(`| ${name} | ${p50} | ${p99} |\n`);
    }
  } finally {
    await flood.terminate();
    await rm(folder, { recursive: true });
  }
}

async function timeGood(baseUrl: string, token: string): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  await steadily(GOOD_PER_SECOND, SECONDS, async (_nth, due) => {
    await askMe(baseUrl, token, 200, agent);
    times.push(performance.now() - due);
  });
  agent.destroy();
  return times;
}
