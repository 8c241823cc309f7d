// What requests cost, beside another checkout: node endurance/compare.ts --help
import { processorSeconds } from '../test/process-figures.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { quantile } from '../test/steadily.ts';
import { PostgresServer } from '../test/storage/postgres-server.ts';
import { clientsOf, drive, startLoaded } from './load.ts';

const HELP = `Usage: node endurance/compare.ts [flags]

Asks services of this checkout and of another one as fast as it goes, in turns, each with a database of its own: one todo,
creates, creates with a new Idempotency-Key, replaces, and lists of which each comes after a replace. Prints the medians
of the microseconds of processor that each service took for a request and of requests a second, and those of this
checkout by the other's, of the same round. Processor time means something where other programs run, throughput
little. Without --before both are this checkout: how far from 1 the machine makes a ratio. On Linux.

  --before FOLDER  a checkout with node_modules
  --clients N      default 16
  --rounds N       default 10
  --seconds S      of each kind of request in a round, default 2
  --todos N        there before, default 1000
  --postgresql     on one PostgreSQL server instead of SQLite; it does not wait for its disk
  --synced         it does
  --help
`;

const { before, clients, rounds, seconds, todos, postgresql, synced } = scriptFlags(
  HELP,
  { clients: 16, rounds: 10, seconds: 2, todos: 1_000 },
  ['postgresql', 'synced'],
  ['before'],
);

const KINDS = {
  'one todo': 'readOne',
  replace: 'replace',
  'list after a replace': 'replaceAndList',
  create: 'create',
  'create with a key': 'createOnce',
} as const;

process.setMaxListeners(0);
const parts = new AsyncDisposableStack();
const server = postgresql
  ? parts.use(await PostgresServer.start(`fsync=${synced ? 'on' : 'off'}`))
  : undefined;

/** A service of a checkout, with todos in it; runs one kind of request for a while. */
async function start(checkout?: string) {
  const database = await server?.makeDatabase();
  const { service, ask } = await startLoaded(parts, {
    ...(database !== undefined && { args: ['--database', database] }),
    ...(checkout !== undefined && { checkout }),
  });
  const own = clientsOf(ask, todos);
  for (let made = 0; made < todos; made += 1) await own.create();
  return async (kind: (typeof KINDS)[keyof typeof KINDS]) => {
    const began = performance.now();
    const used = processorSeconds(service.pid);
    const done = await drive(clients, seconds * 1_000, own[kind]);
    if (own.unavailable() > 0) throw new Error(`${own.unavailable()} answers were 503`);
    return {
      microseconds: ((processorSeconds(service.pid) - used) * 1e6) / done,
      perSecond: (done * 1_000) / (performance.now() - began),
    };
  };
}

type Figures = Awaited<ReturnType<Awaited<ReturnType<typeof start>>>>;

try {
  const sides = { now: await start(), before: await start(before) };
  const found = new Map(
    Object.keys(KINDS).map((name) => [name, { now: [] as Figures[], before: [] as Figures[] }]),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, kind] of Object.entries(KINDS)) {
      const order = round % 2 === 0 ? (['now', 'before'] as const) : (['before', 'now'] as const);
      for (const side of order) found.get(name)?.[side].push(await sides[side](kind));
    }
  }
  for (const [name, figures] of found) {
    const medians = (['microseconds', 'perSecond'] as const).map((figure) => {
      const now = figures.now.map((each) => each[figure]);
      const then = figures.before.map((each) => each[figure]);
      const ratios = now.map((value, round) => value / (then[round] ?? Number.NaN));
      const [a, b] = [now, then].map((values) => Math.round(quantile(values, 0.5)));
      return [figure, { now: a, before: b, nowByBefore: Number(quantile(ratios, 0.5).toFixed(2)) }] as const;
    });
    console.log(JSON.stringify({ name, ...Object.fromEntries(medians) }));
  }
} finally {
  await parts.disposeAsync();
}
