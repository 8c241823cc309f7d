// What a create costs with a key and without, beside another checkout: node endurance/creates.ts --help
import { signer } from '../conformance/src/sign.ts';
import { testAuth } from '../test/operations/list.ts';
import { processorSeconds } from '../test/process-figures.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { startService } from '../test/start.ts';
import { quantile } from '../test/steadily.ts';
import { PostgresServer } from '../test/storage/postgres-server.ts';
import { asking } from './asking.ts';

const HELP = `Usage: node endurance/creates.ts [flags]

Creates todos as fast as it goes, in turns on services of this checkout, without a key and with a new Idempotency-Key for
each, and of another checkout, each with a database of its own. Prints the medians of creates a second and of the
microseconds of processor that the service took for each, and those of this checkout without a key by the others.
Throughput means little where other programs run; processor time of one run does. On Linux.

  --before FOLDER  a checkout with node_modules
  --clients N      default 16
  --rounds N       default 10
  --seconds S      of each in a round, default 2
  --postgresql     on one PostgreSQL server, which does not wait for its disk, instead of SQLite
  --help
`;

const { clients, rounds, seconds, postgresql, before } = scriptFlags(
  HELP,
  { clients: 16, rounds: 10, seconds: 2 },
  ['postgresql'],
  ['before'],
);

const auth = testAuth();
const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;
process.setMaxListeners(0);
const parts = new AsyncDisposableStack();
const server = postgresql ? parts.use(await PostgresServer.start('fsync=off')) : undefined;
let creates = 0;
try {
  const contenders = new Map([['now', await start()]]);
  contenders.set('with a key', await start({ keyed: true }));
  if (before !== undefined) contenders.set('before', await start({ checkout: before }));
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of contenders.values()) await run(contender);
  }
  const medians = [...contenders].map(([name, { perSecond, microseconds }]) => {
    return { name, perSecond: quantile(perSecond, 0.5), microseconds: quantile(microseconds, 0.5) };
  });
  for (const each of medians) {
    const nowByThis = (medians[0]?.microseconds ?? 0) / each.microseconds;
    console.log(JSON.stringify({ ...each, nowByThis }));
  }
} finally {
  await parts.disposeAsync();
}
// The package that starts PostgreSQL sets `exitCode` back to 0.
process.exit(0);

interface Contender {
  readonly pid: number;
  readonly create: () => Promise<void>;
  /** Of each round. */
  readonly perSecond: number[];
  readonly microseconds: number[];
}

async function start({
  checkout,
  keyed = false,
}: {
  checkout?: string;
  keyed?: boolean;
} = {}): Promise<Contender> {
  const database = await server?.makeDatabase();
  const service = parts.use(
    await startService({
      auth,
      environment: 'production',
      ...(database !== undefined && { args: ['--database', database] }),
      ...(checkout !== undefined && { checkout }),
    }),
  );
  const ask = parts.use(asking(service.baseUrl, authorization));
  return {
    pid: service.pid,
    perSecond: [],
    microseconds: [],
    async create() {
      creates += 1;
      const headers = keyed ? { 'idempotency-key': `key-${creates}` } : {};
      const body = { title: `Todo number ${creates}`, categoryId: 1 };
      const { status } = await ask('POST', '/todos', body, headers);
      if (status !== 201) throw new Error(`POST /todos was answered ${status}`);
    },
  };
}

async function run({ pid, create, perSecond, microseconds }: Contender): Promise<void> {
  const began = performance.now();
  const usedBefore = processorSeconds(pid);
  let made = 0;
  const client = async (): Promise<void> => {
    while (performance.now() - began < seconds * 1_000) {
      await create();
      made += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  perSecond.push((made * 1_000) / (performance.now() - began));
  microseconds.push(((processorSeconds(pid) - usedBefore) * 1e6) / made);
}
