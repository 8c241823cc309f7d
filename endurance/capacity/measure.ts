import { setTimeout as pause } from 'node:timers/promises';
import { scrape, valuesOf } from '../../test/operations/prometheus.ts';
import { mainThreadMs, processorSeconds, residentMegabytes } from '../../test/process-figures.ts';
import { quantile } from '../../test/steadily.ts';
import { type Clients, clientsOf, drive, startLoaded } from '../load.ts';
import type { Engine } from './engines.ts';

/** Microseconds of processor that one operation takes. */
export interface Cost {
  /** Of all threads of the service. */
  readonly service: number;
  /** Of its main thread, which answers: its time is what one instance ends at. */
  readonly main: number;
  /** Of the database's server. */
  readonly server: number;
}

/** What a service with so many todos takes. */
export interface Point {
  readonly engine: Engine['name'];
  readonly todos: number;
  readonly amounts: Readonly<Record<Amount, number>>;
  readonly costs: Readonly<Record<string, Cost>>;
  /** Answers 503: of a machine that was too busy. */
  readonly unavailable: number;
}

export const AMOUNTS = {
  atRest: 'memory at rest, MB',
  withList: 'memory with the list, at rest, MB',
  peak: 'memory under load, at most, MB',
  list: 'of it the list and its copy in gzip, MB',
  database: 'file or tables, MB',
  key: 'a remembered key, bytes',
  firstList: 'first list after a start, ms of processor',
} as const;
export type Amount = keyof typeof AMOUNTS;

/** How long an operation is asked for before its cost counts. */
const AWAKENING_MS = 300;

/** Compilers have little left to do when a service has used so many seconds of processor. */
const WARM_UP_SECONDS = 3;

interface Operation {
  readonly clients: number;
  /** Before each round. */
  readonly prepare?: (clients: Clients) => Promise<void>;
  readonly run: (clients: Clients) => Promise<void>;
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'one todo': { clients: 16, run: (clients) => clients.readOne() },
  'list, 304': {
    clients: 16,
    prepare: (clients) => clients.list(),
    run: (clients) => clients.listAgain(),
  },
  'list, 200': { clients: 4, run: (clients) => clients.list() },
  'list, 200 in gzip': { clients: 4, run: (clients) => clients.list('gzip') },
  replace: { clients: 16, run: (clients) => clients.replace() },
  'replace, one client': { clients: 1, run: (clients) => clients.replace() },
  'create with a key': { clients: 16, run: (clients) => clients.createOnce() },
  'replace, then list': { clients: 1, run: (clients) => clients.replaceAndList() },
};

/** A service with so many todos, whose turn to be measured comes again and again. */
export interface Candidate {
  readonly name: string;
  /** Asks it for each operation for so many seconds. */
  measure(seconds: number): Promise<void>;
  /** Ends the service, and says what was found. */
  end(): Promise<Point>;
}

/** Starts a service with so many todos and looks at what it takes at rest. What is opened ends with `parts`. */
export async function openCandidate(
  engine: Engine,
  todos: number,
  parts: AsyncDisposableStack,
): Promise<Candidate> {
  const filled = parts.use(await engine.fill(todos));
  const own = parts.use(new AsyncDisposableStack());
  const database = await filled.size();
  const args = ['--database', filled.database];
  const { service, ask } = await startLoaded(own, { built: true, args, env: { TODO_ADMIN_PORT: '0' } });
  const { pid, adminUrl } = service;
  const clients = clientsOf(ask, todos);
  await clients.readOne();
  await pause(500);
  const atRest = residentMegabytes(pid);
  const before = processorSeconds(pid);
  await clients.list();
  const firstList = (processorSeconds(pid) - before) * 1e3;
  await clients.list('gzip');
  await clients.list('gzip');
  await pause(500);
  const withList = residentMegabytes(pid);
  const [listBytes = Number.NaN] = valuesOf(await scrape(adminUrl), 'todo_list_size_bytes');

  while (processorSeconds(pid) < WARM_UP_SECONDS) await drive(16, AWAKENING_MS, clients.readOne);
  const used = () => ({
    service: processorSeconds(pid),
    main: mainThreadMs(pid) / 1e3,
    server: engine.serverSeconds(),
  });
  const found = new Map(Object.keys(OPERATIONS).map((name) => [name, [] as Cost[]]));
  return {
    name: `${engine.name}, ${todos} todos`,
    async measure(seconds) {
      for (const [name, { clients: count, prepare, run }] of Object.entries(OPERATIONS)) {
        await prepare?.(clients);
        await drive(count, AWAKENING_MS, () => run(clients));
        const from = used();
        const done = await drive(count, seconds * 1e3, () => run(clients));
        const to = used();
        const each = (part: keyof Cost) => ((to[part] - from[part]) * 1e6) / done;
        found.get(name)?.push({ service: each('service'), main: each('main'), server: each('server') });
      }
    },
    async end() {
      const peak = residentMegabytes(pid, 'most');
      await own.disposeAsync();
      const key = await filled.keySize();
      return {
        engine: engine.name,
        todos,
        amounts: {
          ...{ atRest, withList, peak, key, firstList },
          list: listBytes / 1e6,
          database: database / 1e6,
        },
        costs: Object.fromEntries([...found].map(([name, costs]) => [name, quietCost(costs)])),
        unavailable: clients.unavailable(),
      };
    },
  };
}

/** The lower quartile of the rounds: what else runs on the machine only adds. */
function quietCost(costs: readonly Cost[]): Cost {
  const quiet = (part: keyof Cost) =>
    quantile(
      costs.map((cost) => cost[part]),
      0.25,
    );
  return { service: quiet('service'), main: quiet('main'), server: quiet('server') };
}
