import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../../conformance/src/sign.ts';
import { testAuth } from '../../test/operations/list.ts';
import { parseExposition, valuesOf } from '../../test/operations/prometheus.ts';
import { mainThreadMs, processorSeconds, residentMegabytes } from '../../test/process-figures.ts';
import { type Running, startService } from '../../test/start.ts';
import { quantile } from '../../test/steadily.ts';
import { type Ask, asking } from '../asking.ts';
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
  afterLoad: 'the same after the load, MB',
  log: 'write-ahead log after the load, MB',
  key: 'a remembered key, bytes',
  start: 'start, ms of the clock',
  startCost: 'start, ms of processor',
  firstList: 'first list after a start, ms of processor',
} as const;
export type Amount = keyof typeof AMOUNTS;

/** How long an operation is asked for before its cost counts. */
export const AWAKENING_MS = 300;

/** Compilers have little left to do when a service has used so many seconds of processor. */
export const WARM_UP_SECONDS = 3;

export interface Effort {
  readonly rounds: number;
  /** Of each operation in a round. */
  readonly seconds: number;
}

export type Clients = ReturnType<typeof clientsOf>;

interface Operation {
  readonly clients: number;
  /** Before each round. */
  readonly prepare?: (clients: Clients) => Promise<void>;
  readonly run: (clients: Clients) => Promise<void>;
}

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'one todo': { clients: 16, run: (clients) => clients.readOne() },
  'one todo, one client': { clients: 1, run: (clients) => clients.readOne() },
  'list, 304': {
    clients: 16,
    prepare: (clients) => clients.list(),
    run: (clients) => clients.listAgain(),
  },
  'list, 200': { clients: 4, run: (clients) => clients.list() },
  'list, 200 in gzip': { clients: 4, run: (clients) => clients.list('gzip') },
  replace: { clients: 16, run: (clients) => clients.replace() },
  'replace, one client': { clients: 1, run: (clients) => clients.replace() },
  'create with a key': { clients: 16, run: (clients) => clients.create() },
  'replace, then list': {
    clients: 1,
    async run(clients) {
      await clients.replace();
      await clients.list();
    },
  },
  'mix: 4 of 5 read one, 1 replaces': {
    clients: 16,
    run: (clients) => (Math.random() < 0.8 ? clients.readOne() : clients.replace()),
  },
};

/** Clients of one service, each request over a connection that is kept. */
export function clientsOf(ask: Ask, todos: number) {
  let unavailable = 0;
  let etag = '';
  const send = async (wanted: number, ...request: Parameters<Ask>): Promise<void> => {
    const answer = await ask(...request);
    if (answer.status === 503) unavailable += 1;
    else if (answer.status !== wanted)
      throw new Error(`${request[0]} ${request[1]} was answered ${answer.status}`);
    if (answer.status === 200) etag = answer.etag;
  };
  const one = () => `/todos/${1 + Math.floor(Math.random() * todos)}`;
  const todo = () => ({ title: `Todo ${Math.random().toFixed(18)}`, categoryId: 1 });
  return {
    unavailable: () => unavailable,
    readOne: () => send(200, 'GET', one()),
    list: (coding = 'identity') => send(200, 'GET', '/todos', undefined, { 'accept-encoding': coding }),
    listAgain: () => send(304, 'GET', '/todos', undefined, { 'if-none-match': etag }),
    replace: () => send(204, 'PUT', one(), todo()),
    create: () => send(201, 'POST', '/todos', todo(), { 'idempotency-key': crypto.randomUUID() }),
  };
}

/** Runs the operation on each of the clients again and again; each at least once. */
export async function drive(
  { clients: count, run }: Operation,
  clients: readonly Clients[],
  ms: number,
): Promise<number> {
  const until = performance.now() + ms;
  let done = 0;
  const client = async (own: Clients) => {
    do {
      await run(own);
      done += 1;
    } while (performance.now() < until);
  };
  await Promise.all(clients.flatMap((own) => Array.from({ length: count }, () => client(own))));
  return done;
}

/** A service of this checkout's build, and clients of it. */
export async function startMeasured(database: string, todos: number, parts: AsyncDisposableStack) {
  const auth = testAuth();
  const began = performance.now();
  const service = parts.use(
    await startService({
      auth,
      built: true,
      environment: 'production',
      args: ['--database', database],
      env: { TODO_ADMIN_PORT: '0' },
    }),
  );
  const start = performance.now() - began;
  const startCost = processorSeconds(service.pid) * 1e3;
  const token = signer(auth)({ role: 'editor', exp: Math.floor(Date.now() / 1_000) + 7_200 });
  const ask = parts.use(asking(service.baseUrl, `Bearer ${token}`));
  return { service, start, startCost, clients: clientsOf(ask, todos) };
}

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
  const { service, clients, start, startCost } = await startMeasured(filled.database, todos, own);
  const { pid } = service;
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
  const list = (await listBytes(service)) / 1e6;

  while (processorSeconds(pid) < WARM_UP_SECONDS)
    await drive({ clients: 16, run: (each) => each.readOne() }, [clients], AWAKENING_MS);
  const used = () => ({
    service: processorSeconds(pid),
    main: mainThreadMs(pid) / 1e3,
    server: engine.serverSeconds(),
  });
  const found = new Map(Object.keys(OPERATIONS).map((name) => [name, [] as Cost[]]));
  return {
    name: `${engine.name}, ${todos} todos`,
    async measure(seconds) {
      for (const [name, operation] of Object.entries(OPERATIONS)) {
        await operation.prepare?.(clients);
        await drive(operation, [clients], AWAKENING_MS);
        const from = used();
        const done = await drive(operation, [clients], seconds * 1e3);
        const to = used();
        const each = (part: keyof Cost) => ((to[part] - from[part]) * 1e6) / done;
        found.get(name)?.push({ service: each('service'), main: each('main'), server: each('server') });
      }
    },
    async end() {
      const peak = residentMegabytes(pid, 'most');
      const log = filled.logSize() / 1e6;
      const afterLoad = (await filled.size()) / 1e6;
      await own.disposeAsync();
      const key = await filled.keySize();
      return {
        engine: engine.name,
        todos,
        amounts: {
          ...{ atRest, withList, peak, list, afterLoad, log, key, start, startCost, firstList },
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

async function listBytes(service: Running): Promise<number> {
  const started = service
    .stdout()
    .split('\n')
    .find((line) => line.includes('adminUrl'));
  const { adminUrl } = JSON.parse(started ?? '');
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return valuesOf(parseExposition(text), 'todo_list_size_bytes')[0] ?? Number.NaN;
}
