import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startService } from '../test/start.ts';
import { cpuMicroseconds } from './process.ts';
import { type Algorithm, AUDIENCE, ISSUER, makeKeys, type TokenMaker } from './tokens.ts';

/**
 * CPU microseconds that the whole service process, its other threads included, spends on `GET /me` with a token
 * it remembers and with one it has never seen. Linux only. Says nothing about latency, and nothing on a machine that
 * does something else meanwhile: run it twice.
 *
 *     node bench/token-cost.ts [requests]
 */
const REQUESTS = Number(process.argv[2] ?? 8000);
const CONNECTIONS = 8;

const folder = await mkdtemp(join(tmpdir(), 'todo-token-cost-'));
try {
  const keys = makeKeys(folder);
  process.stdout.write(
    `${process.version}, ${REQUESTS} requests each, ${CONNECTIONS} connections, CPU µs/request\n\n`,
  );
  process.stdout.write('| | remembered | unknown | verifying costs |\n|---|---|---|---|\n');
  for (const algorithm of ['HS256', 'RS256', 'ES256'] as const) {
    const [remembered, unknown] = await measure(algorithm, keys[algorithm]);
    const row = [algorithm, ...[remembered, unknown, unknown - remembered].map((cost) => cost.toFixed(0))];
    process.stdout.write(`| ${row.join(' | ')} |\n`);
  }
} finally {
  await rm(folder, { recursive: true });
}

async function measure(algorithm: Algorithm, maker: TokenMaker): Promise<readonly [number, number]> {
  const tokens = await Promise.all(
    Array.from({ length: 2 * REQUESTS }, (_, jti) => maker.make({ jti, role: 'editor' })),
  );
  const variable = algorithm === 'HS256' ? 'TODO_AUTH_SECRET_FILE' : 'TODO_AUTH_KEYS_FILE';
  const env = { TODO_AUTH_ISSUER: ISSUER, TODO_AUTH_AUDIENCE: AUDIENCE, [variable]: maker.keyFile };
  await using service = await startService({ env });
  const one = Array<string>(REQUESTS).fill(tokens[0] ?? '');
  await cost(service, one);
  await cost(service, tokens.slice(REQUESTS));
  return [await cost(service, one), await cost(service, tokens.slice(0, REQUESTS))];
}

async function cost(
  { baseUrl, pid }: { baseUrl: string; pid: number },
  tokens: readonly string[],
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const left = tokens.values();
  const before = cpuMicroseconds(pid);
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (const token of left) await askMe(`${baseUrl}/me`, token, agent);
    }),
  );
  const after = cpuMicroseconds(pid);
  agent.destroy();
  if (before === undefined || after === undefined) throw new Error('Cannot measure: there is no /proc');
  return (after - before) / tokens.length;
}

function askMe(url: string, token: string, agent: Agent): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const asked = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
    if (response.statusCode !== 200) reject(new Error(`the service answered ${response.statusCode}`));
    response.resume().once('end', resolve);
  });
  asked.once('error', reject).end();
  return promise;
}
