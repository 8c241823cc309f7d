// What requests cost, beside another checkout: node bench/compare.ts --help
import { join } from 'node:path';
import { clientsOf, drive, startLoaded } from '../test/endurance/load.ts';
import { PostgresServer } from '../test/storage/postgres-server.ts';
import { temporaryFolder } from '../test/support/folder.ts';
import { familySeconds, processorSeconds } from '../test/support/process-figures.ts';
import { scriptFlags } from '../test/support/script-flags.ts';
import { quantile } from '../test/support/steadily.ts';
import { makeTodos } from './make-todos.ts';

const HELP = `Usage: node bench/compare.ts [flags]

Asks services of this checkout and of another one as fast as it goes, in turns, each with a database of its own: one todo,
creates, creates with a new Idempotency-Key, replaces, lists of which each comes after a replace, in a database without
creates, and on SQLite lists of 20 todos, 1,000 (72 KB) and 10,000 that stay. Prints the medians of the microseconds of
processor that each service took for a request, and PostgreSQL for it, and of requests a second, and those of this checkout
by the other's, of the same round. Processor time means something where other programs run, throughput little. Without
--before both are this checkout: how far from 1 the machine makes a ratio. On Linux.

  --before FOLDER  a checkout with node_modules
  --clients N      default 16
  --rounds N       default 10
  --seconds S      of each kind of request in a round, default 2
  --todos N        there before, default 1000
  --postgresql     on one PostgreSQL server instead of SQLite; it does not wait for its disk
  --synced         it does
  --admin          with the admin listener
  --help
`;

const { before, clients, rounds, seconds, todos, postgresql, synced, admin } = scriptFlags(
  HELP,
  { clients: 16, rounds: 10, seconds: 2, todos: 1_000 },
  ['postgresql', 'synced', 'admin'],
  ['before'],
);

const KINDS = {
  'one todo': 'readOne',
  replace: 'replace',
  create: 'create',
  'create with a key': 'createOnce',
} as const;

/** What PostgreSQL took is a figure where there is one. */
const FIGURES = ['microseconds', ...(postgresql ? (['ofPostgresql'] as const) : []), 'perSecond'] as const;

const LISTS = [20, 1_000, 10_000];

process.setMaxListeners(0);
const parts = new AsyncDisposableStack();
const server = postgresql
  ? parts.use(await PostgresServer.start(`fsync=${synced ? 'on' : 'off'}`))
  : undefined;

const serverSeconds = () => (server?.pid === undefined ? 0 : familySeconds(server.pid));

/** A service of a checkout, on a database. @returns what asks it, and what does one thing for a while and measures it. */
async function start(checkout: string | undefined, database: string | undefined, size: number) {
  const { service, ask } = await startLoaded(parts, {
    env: admin ? { TODO_ADMIN_PORT: '0' } : {},
    ...(database !== undefined && { args: ['--database', database] }),
    ...(checkout !== undefined && { checkout }),
  });
  const own = clientsOf(ask, size);
  const measure = async (run: () => Promise<void>) => {
    const began = performance.now();
    const used = processorSeconds(service.pid);
    const ofServer = serverSeconds();
    const done = await drive(clients, seconds * 1_000, run);
    if (own.unavailable() > 0) throw new Error(`${own.unavailable()} answers were 503`);
    return {
      microseconds: ((processorSeconds(service.pid) - used) * 1e6) / done,
      ofPostgresql: ((serverSeconds() - ofServer) * 1e6) / done,
      perSecond: (done * 1_000) / (performance.now() - began),
    };
  };
  return { own, measure };
}

/** A service with todos, on a database that is empty before. */
async function startFilled(checkout: string | undefined) {
  const service = await start(checkout, await server?.makeDatabase(), todos);
  for (let made = 0; made < todos; made += 1) await service.own.create();
  return service;
}

type Figures = Awaited<ReturnType<Awaited<ReturnType<typeof start>>['measure']>>;

/** By name, what a service of a checkout does and measures. */
async function casesOf(checkout?: string): Promise<Readonly<Record<string, () => Promise<Figures>>>> {
  const [{ own, measure }, listing] = await Promise.all([startFilled(checkout), startFilled(checkout)]);
  const cases = Object.entries(KINDS).map(([name, kind]) => [name, () => measure(own[kind])] as const);
  // Its list must not grow by the creates of whichever service is faster.
  const lists: (typeof cases)[number][] = [
    ['list after a replace', () => listing.measure(listing.own.replaceAndList)],
  ];
  for (const size of server === undefined ? LISTS : []) {
    const folder = parts.use(await temporaryFolder());
    const path = join(folder.path, 'todos.db');
    await makeTodos(path, size, "printf('%023d', i), false, 1");
    const listed = await start(checkout, `sqlite:${path}`, size);
    lists.push([`list of ${size}`, () => listed.measure(() => listed.own.list())]);
  }
  return Object.fromEntries([...cases, ...lists]);
}

try {
  const sides = { now: await casesOf(), before: await casesOf(before) };
  const found = new Map(
    Object.keys(sides.now).map((name) => [name, { now: [] as Figures[], before: [] as Figures[] }]),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, figures] of found) {
      const order = round % 2 === 0 ? (['now', 'before'] as const) : (['before', 'now'] as const);
      for (const side of order) {
        const measured = await sides[side][name]?.();
        if (measured !== undefined) figures[side].push(measured);
      }
    }
  }
  for (const [name, figures] of found) {
    const medians = FIGURES.map((figure) => {
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
