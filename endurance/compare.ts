// What requests cost, beside another checkout: node endurance/compare.ts --help
import { signer } from '../conformance/src/sign.ts';
import { testAuth } from '../test/operations/list.ts';
import { processorSeconds } from '../test/process-figures.ts';
import { scriptFlags } from '../test/script-flags.ts';
import { startService } from '../test/start.ts';
import { quantile } from '../test/steadily.ts';
import { PostgresServer } from '../test/storage/postgres-server.ts';
import { type Ask, asking } from './asking.ts';

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

interface Figures {
  readonly microseconds: number;
  readonly perSecond: number;
}

const auth = testAuth();
const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;
process.setMaxListeners(0);
let made = 0;

/** Sends a request and sees to its answer. */
async function send(ask: Ask, wanted: number, ...request: Parameters<Ask>): Promise<void> {
  const { status } = await ask(...request);
  if (status !== wanted) throw new Error(`${request[0]} ${request[1]} was answered ${status}`);
}

const todo = () => {
  made += 1;
  return { title: `Todo number ${made}`, categoryId: 1 };
};
const one = () => `/todos/${1 + Math.floor(Math.random() * todos)}`;
const replace = (ask: Ask) => send(ask, 204, 'PUT', one(), todo());

const KINDS: Readonly<Record<string, (ask: Ask) => Promise<void>>> = {
  'one todo': (ask) => send(ask, 200, 'GET', one()),
  replace,
  'list after a replace': async (ask) => {
    await replace(ask);
    await send(ask, 200, 'GET', '/todos');
  },
  create: (ask) => send(ask, 201, 'POST', '/todos', todo()),
  'create with a key': (ask) =>
    send(ask, 201, 'POST', '/todos', todo(), { 'idempotency-key': `key-${made}` }),
};

const parts = new AsyncDisposableStack();
const server = postgresql
  ? parts.use(await PostgresServer.start(`fsync=${synced ? 'on' : 'off'}`))
  : undefined;

/** A service of a checkout, with todos in it; runs one kind of request for a while. */
async function start(checkout?: string) {
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
  const together = (client: () => Promise<void>) => Promise.all(Array.from({ length: clients }, client));
  let left = todos;
  await together(async () => {
    while (left-- > 0) await send(ask, 201, 'POST', '/todos', todo());
  });
  return async (kind: (ask: Ask) => Promise<void>): Promise<Figures> => {
    const began = performance.now();
    const used = processorSeconds(service.pid);
    let done = 0;
    await together(async () => {
      while (performance.now() - began < seconds * 1_000) {
        await kind(ask);
        done += 1;
      }
    });
    return {
      microseconds: ((processorSeconds(service.pid) - used) * 1e6) / done,
      perSecond: (done * 1_000) / (performance.now() - began),
    };
  };
}

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
// The package that starts PostgreSQL sets `exitCode` back to 0.
process.exit(0);
