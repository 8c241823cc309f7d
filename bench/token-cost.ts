import { createPublicKey } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptFlags } from '../test/script-flags.ts';
import { type Running, startService } from '../test/start.ts';
import { quantile } from '../test/steadily.ts';
import { askMe } from './ask-me.ts';
import { forge } from './forge.ts';
import { threadMicroseconds } from './process.ts';
import { type Algorithm, AUDIENCE, ISSUER, makeKeys, type TokenMaker } from './tokens.ts';

const HELP = `Usage: node bench/token-cost.ts [flags]

CPU microseconds that the whole service process, its other threads included, spends on GET /me with a token
it remembers, with a good one it has never seen, and with bad ones it has never seen. The kinds take turns in
slices, so that whatever else the machine does meanwhile meets all of them: the tenth percentile of the slices
leaves most of it out, and the ratio is the median over slices of the same round. Linux only. Says nothing about
latency: token-flood.ts does.

  --slices SLICES   of each kind of token, in turns; default 100
`;

const { slices } = scriptFlags(HELP, { slices: 100 });
const REQUESTS_PER_SLICE = 100;
const CONNECTIONS = 8;
const KEY_ID = 'bench';

/** Makes a token that nobody has seen; `nth` is different for each. */
type Make = (maker: TokenMaker, nth: number) => Promise<string>;

interface Kind {
  readonly name: string;
  readonly status: 200 | 401;
  readonly make: Make;
}

const good: Make = (maker, jti) => maker.make({ jti, role: 'editor' });

const KINDS: readonly Kind[] = [
  { name: 'remembered', status: 200, make: good },
  { name: 'first seen', status: 200, make: good },
  { name: 'bad signature', status: 401, make: async (maker, jti) => forge(await good(maker, jti)) },
  { name: 'expired', status: 401, make: (maker, jti) => maker.make({ jti, role: 'editor', exp: 1_000_000 }) },
  {
    name: 'other audience',
    status: 401,
    make: (maker, jti) => maker.make({ jti, role: 'editor', aud: 'x' }),
  },
  { name: 'malformed', status: 401, make: async (maker, jti) => `${await good(maker, jti)}=` },
  {
    name: 'unknown kid',
    status: 401,
    make: (maker, jti) => maker.make({ jti, role: 'editor' }, { kid: `${jti}` }),
  },
];

const folder = await mkdtemp(join(tmpdir(), 'todo-token-cost-'));
try {
  const keys = makeKeys(folder);
  process.stdout.write(
    `${process.version}, ${slices} slices of ${REQUESTS_PER_SLICE} requests, ${CONNECTIONS} connections, ` +
      `CPU µs/request, tenth percentile (median ratio to first seen)\n\n`,
  );
  process.stdout.write(
    `| | ${KINDS.map(({ name }) => name).join(' | ')} |\n|---${'|---'.repeat(KINDS.length)}|\n`,
  );
  for (const algorithm of ['HS256', 'RS256', 'ES256'] as const) {
    const costs = await measure(algorithm, keys[algorithm]);
    const firstSeen = costs.get('first seen') ?? [];
    const cells = KINDS.map(({ name }) => {
      const list = costs.get(name);
      if (list === undefined) return '';
      const ratios = list.map((cost, round) => cost / (firstSeen[round] ?? Number.NaN));
      return `${quantile(list, 0.1).toFixed(0)} (${quantile(ratios, 0.5).toFixed(2)})`;
    });
    process.stdout.write(`| ${[algorithm, ...cells].join(' | ')} |\n`);
  }
} finally {
  await rm(folder, { recursive: true });
}

async function measure(
  algorithm: Algorithm,
  maker: TokenMaker,
): Promise<ReadonlyMap<string, readonly number[]>> {
  // The one secret of a file has no `kid`, and is tried for any.
  const kinds = KINDS.filter(({ name }) => algorithm !== 'HS256' || name !== 'unknown kid');
  const env = {
    TODO_AUTH_ISSUER: ISSUER,
    TODO_AUTH_AUDIENCE: AUDIENCE,
    ...(await keyVariable(algorithm, maker)),
  };
  const tokens = new Map<Kind, readonly string[]>();
  for (const kind of kinds) tokens.set(kind, await makeTokens(kind, maker));
  await using service = await startService({ env });
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const costs = new Map<string, number[]>();
  for (let slice = 0; slice < slices; slice += 1) {
    const turn = slice % kinds.length;
    const order = [...kinds.slice(turn), ...kinds.slice(0, turn)];
    for (const kind of order) {
      const { name, status } = kind;
      const list = tokens.get(kind) ?? [];
      const from = slice * REQUESTS_PER_SLICE;
      const cost = await costOf(service, list.slice(from, from + REQUESTS_PER_SLICE), status, agent);
      costs.set(name, [...(costs.get(name) ?? []), cost]);
    }
  }
  agent.destroy();
  return costs;
}

async function keyVariable(algorithm: Algorithm, { keyFile }: TokenMaker): Promise<Record<string, string>> {
  if (algorithm === 'HS256') return { TODO_AUTH_SECRET_FILE: keyFile };
  const jwk = createPublicKey(await readFile(keyFile)).export({ format: 'jwk' });
  const path = join(folder, `${algorithm}.json`);
  await writeFile(path, JSON.stringify({ keys: [{ ...jwk, kid: KEY_ID }] }));
  return { TODO_AUTH_KEYS_FILE: path };
}

async function makeTokens({ name, make }: Kind, maker: TokenMaker): Promise<string[]> {
  const count = slices * REQUESTS_PER_SLICE;
  if (name === 'remembered') return Array<string>(count).fill(await make(maker, -1));
  return Promise.all(Array.from({ length: count }, (_, nth) => make(maker, nth)));
}

async function costOf(
  { baseUrl, pid }: Running,
  tokens: readonly string[],
  status: number,
  agent: Agent,
): Promise<number> {
  const left = tokens.values();
  const before = threadMicroseconds(pid);
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (const token of left) await askMe(baseUrl, token, status, agent);
    }),
  );
  return (threadMicroseconds(pid) - before) / tokens.length;
}
