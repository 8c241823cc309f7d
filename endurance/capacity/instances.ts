import { mainThreadMs, processorSeconds } from '../../test/process-figures.ts';
import type { Engine } from './engines.ts';
import {
  AWAKENING_MS,
  type Clients,
  type Cost,
  drive,
  type Effort,
  startMeasured,
  WARM_UP_SECONDS,
} from './measure.ts';

/** What an operation took in a round with so many instances on one PostgreSQL, and the load that asked them. */
export interface Together {
  readonly round: number;
  readonly instances: number;
  readonly operation: string;
  readonly cost: Cost;
  /** Microseconds of processor of the load for one operation. */
  readonly load: number;
  readonly perSecond: number;
  /** Cores that load, instances and server had of the machine meanwhile. */
  readonly cores: number;
}

const TODOS = 10_000;
const CLIENTS = 16;

const OPERATIONS: Readonly<Record<string, (clients: Clients) => Promise<void>>> = {
  'one todo': (clients) => clients.readOne(),
  replace: (clients) => clients.replace(),
};

/** Asks 1, 2 and 3 instances of a database, each by clients of its own, in turns: what else runs hits all alike. */
export async function measureTogether(
  engine: Engine,
  { rounds, seconds }: Effort,
): Promise<readonly Together[]> {
  await using parts = new AsyncDisposableStack();
  const groups: ReadonlyMap<number, Awaited<ReturnType<typeof startGroup>>> = new Map([
    [1, await startGroup(engine, 1, parts)],
    [2, await startGroup(engine, 2, parts)],
    [3, await startGroup(engine, 3, parts)],
  ]);
  for (const [instances, { clients, used }] of groups) {
    while (used().service < WARM_UP_SECONDS * instances)
      await drive({ clients: CLIENTS, run: (each) => each.readOne() }, clients, AWAKENING_MS);
  }
  const found: Together[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const [operation, run] of Object.entries(OPERATIONS)) {
      for (const [instances, { clients, used }] of groups) {
        await drive({ clients: CLIENTS, run }, clients, AWAKENING_MS);
        const from = used();
        const done = await drive({ clients: CLIENTS, run }, clients, seconds * 1e3);
        const to = used();
        const took = (part: keyof typeof to) => to[part] - from[part];
        const each = (part: keyof typeof to) => (took(part) * 1e6) / done;
        found.push({
          round,
          instances,
          operation,
          cost: { service: each('service'), main: each('main'), server: each('server') },
          load: each('load'),
          perSecond: done / took('at'),
          cores: (took('service') + took('server') + took('load')) / took('at'),
        });
      }
    }
  }
  return found;
}

async function startGroup(engine: Engine, instances: number, parts: AsyncDisposableStack) {
  const filled = parts.use(await engine.fill(TODOS));
  const started = await Promise.all(
    Array.from({ length: instances }, () => startMeasured(filled.database, TODOS, parts)),
  );
  const sum = (of: (pid: number) => number) =>
    started.reduce((total, { service }) => total + of(service.pid), 0);
  return {
    clients: started.map(({ clients }) => clients),
    /** Seconds of processor, and of the clock. */
    used: () => ({
      service: sum(processorSeconds),
      main: sum(mainThreadMs) / 1e3,
      server: engine.serverSeconds(),
      load: Object.values(process.cpuUsage()).reduce((a, b) => a + b) / 1e6,
      at: performance.now() / 1e3,
    }),
  };
}

/** Microseconds of processor that an operation takes at each station that it passes. */
export type Demand = Pick<Cost, 'main' | 'server'>;

/** The share of a station's time that may be taken: at 70 % a request waits for twice the time that it takes (M/M/1). */
export const USABLE = 0.7;

/**
 * The utilisation law: a station is busy for the throughput times what one operation takes there. So the throughput ends where
 * the first station has no time left: the main threads of the instances, or the cores of the server. It holds whatever the
 * order and spread of requests, and what it needs is processor time, which a busy machine does not blur.
 */
export function mostPerSecond(
  { main, server }: Demand,
  instances: number,
  serverCores: number,
): { readonly perSecond: number; readonly endsAt: 'instances' | 'server' } {
  const ofInstances = (USABLE * instances * 1e6) / main;
  const ofServer = (USABLE * serverCores * 1e6) / server;
  return ofInstances < ofServer
    ? { perSecond: ofInstances, endsAt: 'instances' }
    : { perSecond: ofServer, endsAt: 'server' };
}

/** What so many cores give, by the same law, when each operation takes what it took with one instance. */
export function predictedPerSecond(alone: Together, cores: number): number {
  return (cores * 1e6) / (alone.cost.service + alone.cost.server + alone.load);
}
