import type { Figures, Soak } from './results.ts';
import { serverNamed } from './servers.ts';

/** A figure to reach, and what it came to. */
export interface Goal {
  readonly scenario: string;
  readonly text: string;
  /** Reached when the figure is at most (`<=`), below (`<`) or at least (`>=`) this. */
  readonly bound: readonly ['<=' | '<' | '>=', number];
  /** NaN when a server that it needs was not measured. */
  figure(figures: Lookup): number;
}

const SOAK_MINUTES = 60;

type Lookup = (scenario: string, wanted: Wanted) => readonly Figures[];
type Wanted = string | ((figures: Figures) => boolean);

const isPeer = ({ server }: Figures) => serverNamed(server).role === 'peer';
const isNodePeer = (figures: Figures) => isPeer(figures) && serverNamed(figures.server).runtime === 'node';
const isBunPeer = (figures: Figures) => isPeer(figures) && serverNamed(figures.server).runtime === 'bun';
const isDurablePeer = (figures: Figures) => isPeer(figures) && figures.durability === 'durable';
const isRelaxedPeer = (figures: Figures) => isPeer(figures) && figures.durability === 'relaxed';

/** CPU of the service by that of the cheapest of the others. */
const cpu =
  (scenario: string, wanted: Wanted, by = 'service') =>
  (figures: Lookup) =>
    least(figures(scenario, by), 'cpu') / least(figures(scenario, wanted), 'cpu');

/** Throughput of the service by that of the fastest of the others. */
const throughput = (scenario: string, wanted: Wanted) => (figures: Lookup) =>
  most(figures(scenario, 'service')) / most(figures(scenario, wanted));

export const GOALS: readonly Goal[] = [
  {
    scenario: 'one',
    text: 'CPU with the admin listener, by that of the constant',
    bound: ['<=', 1.35],
    figure: cpu('one', 'constant', 'service-admin'),
  },
  {
    scenario: 'one',
    text: 'CPU by that of the constant, nothing on',
    bound: ['<=', 1.2],
    figure: cpu('one', 'constant'),
  },
  {
    scenario: 'one',
    text: 'CPU with an allowed origin, by that of the constant',
    bound: ['<=', 1.3],
    figure: cpu('one', 'constant', 'service-cors'),
  },
  {
    scenario: 'one',
    text: 'CPU with traces, 1 % sampled, by that of the constant',
    bound: ['<=', 1.6],
    figure: cpu('one', 'constant', 'service-traces'),
  },
  {
    scenario: 'one',
    text: 'CPU by that of the best peer on Node.js',
    bound: ['<=', 0.5],
    figure: cpu('one', isNodePeer),
  },
  {
    scenario: 'one',
    text: 'CPU by that of the best peer on Bun',
    bound: ['<', 1],
    figure: cpu('one', isBunPeer),
  },
  {
    scenario: 'one',
    text: 'CPU with a log line per request, by that of the constant',
    bound: ['<=', 2.1],
    figure: cpu('one', 'constant', 'service-log'),
  },
  {
    scenario: 'one-postgres',
    text: 'CPU by that of a query by pg',
    bound: ['<=', 1.3],
    figure: cpu('one-postgres', 'pg-query'),
  },
  {
    scenario: 'one-rs256',
    text: 'CPU by that of the best peer',
    bound: ['<=', 1 / 3],
    figure: cpu('one-rs256', isPeer),
  },
  {
    scenario: 'one-es256',
    text: 'CPU by that of the best peer',
    bound: ['<=', 1 / 3],
    figure: cpu('one-es256', isPeer),
  },
  ...['list-20', 'list-1000'].flatMap((scenario): Goal[] => [
    {
      scenario,
      text: 'CPU with the admin listener, by that of the bytes',
      bound: ['<=', 1.5],
      figure: cpu(scenario, 'bytes', 'service-admin'),
    },
    {
      scenario,
      text: 'CPU by that of the bytes, nothing on',
      bound: ['<=', 1.2],
      figure: cpu(scenario, 'bytes'),
    },
  ]),
  {
    scenario: 'list-100000',
    text: 'CPU by that of the bytes',
    bound: ['<=', 1.25],
    figure: cpu('list-100000', 'bytes'),
  },
  {
    scenario: 'list-100000',
    text: 'Throughput by that of the best peer',
    bound: ['>=', 20],
    figure: throughput('list-100000', isPeer),
  },
  {
    scenario: 'unknown-token',
    text: 'CPU by that of the cheapest peer on Node.js',
    bound: ['<=', 1],
    figure: cpu('unknown-token', isNodePeer),
  },
  {
    scenario: 'create-1',
    text: 'Throughput by that of the best durable peer',
    bound: ['>=', 1],
    figure: throughput('create-1', isDurablePeer),
  },
  {
    scenario: 'create',
    text: 'Throughput by that of the best durable peer',
    bound: ['>=', 15],
    figure: throughput('create', isDurablePeer),
  },
  {
    scenario: 'create',
    text: 'Throughput by that of the best peer that does not sync',
    bound: ['>=', 2],
    figure: throughput('create', isRelaxedPeer),
  },
  {
    scenario: 'mix',
    text: 'Throughput by that of the best peer',
    bound: ['>=', 2],
    figure: throughput('mix', isPeer),
  },
  {
    scenario: 'not-found',
    text: 'CPU by that of a success',
    bound: ['<=', 1.3],
    figure: (figures) =>
      least(figures('not-found', 'service'), 'cpu') / least(figures('one', 'service'), 'cpu'),
  },
  {
    scenario: 'busy-list',
    text: 'p99 of one todo, in milliseconds',
    bound: ['<', 20],
    figure: (figures) => least(figures('busy-list', 'service'), 'p99'),
  },
  {
    scenario: 'start',
    text: 'Time by that of the constant',
    bound: ['<=', 2],
    figure: (figures) =>
      least(figures('start', 'service'), 'start') / least(figures('start', 'constant'), 'start'),
  },
];

export interface Score {
  readonly goal: Omit<Goal, 'figure'>;
  /** NaN when it was not measured. */
  readonly figure: number;
  readonly reached: boolean;
}

/** The goals of the scenarios that were measured, and those that only a soak can decide. */
export function score(figures: readonly Figures[], soak?: Soak): readonly Score[] {
  const lookup: Lookup = (scenario, wanted) =>
    figures.filter(
      (one) =>
        one.scenario === scenario && (typeof wanted === 'string' ? one.server === wanted : wanted(one)),
    );
  const measured = GOALS.filter(({ scenario }) => figures.some((one) => one.scenario === scenario));
  return [
    ...measured.map((goal) => scoreOf(goal, goal.figure(lookup))),
    ...scoreSoak(soak ?? { minutes: SOAK_MINUTES, megabytes: Number.NaN, megabytesPerHour: Number.NaN }),
  ];
}

function scoreSoak({ minutes, megabytes, megabytesPerHour }: Soak): readonly Score[] {
  const scenario = 'soak';
  const after = `after ${minutes} minutes`;
  return [
    scoreOf({ scenario, text: `Memory ${after}, MB`, bound: ['<', 150] }, megabytes),
    scoreOf({ scenario, text: `Growth of memory ${after}, MB an hour`, bound: ['<=', 1] }, megabytesPerHour),
  ].map((one) => ({ ...one, reached: one.reached && minutes >= SOAK_MINUTES }));
}

function scoreOf(goal: Score['goal'], figure: number): Score {
  const [relation, limit] = goal.bound;
  const reached = { '<=': figure <= limit, '<': figure < limit, '>=': figure >= limit }[relation];
  return { goal, figure, reached };
}

/** NaN of nothing, and where a figure is missing. */
function least(figures: readonly Figures[], name: 'cpu' | 'p99' | 'start'): number {
  return figures.length === 0 ? Number.NaN : Math.min(...figures.map((one) => one[name] ?? Number.NaN));
}

function most(figures: readonly Figures[]): number {
  return figures.length === 0
    ? Number.NaN
    : Math.max(...figures.map((one) => one.requestsPerSecond ?? Number.NaN));
}
