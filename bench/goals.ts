import type { Figures, Soak } from './results.ts';
import { serverNamed } from './servers.ts';

/** A figure to reach. */
interface Goal {
  readonly scenario: string;
  readonly text: string;
  /** Reached when the figure is at most (`<=`), below (`<`) or at least (`>=`) this. */
  readonly bound: readonly [relation: '<=' | '<' | '>=', limit: number];
}

const SOAK_MINUTES = 60;

type Wanted = string | ((figures: Figures) => boolean);

/** The figures of some servers, in the scenario of the goal if no other is named. */
type Lookup = (wanted: Wanted, scenario?: string) => readonly Figures[];

/** NaN when a server that it needs was not measured. */
type Figure = (lookup: Lookup) => number;

const isPeer = ({ server }: Figures) => serverNamed(server).role === 'peer';
const isNodePeer = (figures: Figures) => isPeer(figures) && serverNamed(figures.server).runtime === 'node';
const isBunPeer = (figures: Figures) => isPeer(figures) && serverNamed(figures.server).runtime === 'bun';
const isDurablePeer = (figures: Figures) => isPeer(figures) && figures.durability === 'durable';
const isRelaxedPeer = (figures: Figures) => isPeer(figures) && figures.durability === 'relaxed';

/** CPU of the service, as it is or with something on, by that of the cheapest of the others. */
const cpu =
  (others: Wanted, on?: 'admin' | 'cors' | 'log' | 'traces'): Figure =>
  (lookup) =>
    least(lookup(on === undefined ? 'service' : `service-${on}`), 'cpu') / least(lookup(others), 'cpu');

/** Throughput of the service by that of the fastest of the others. */
const throughput =
  (others: Wanted): Figure =>
  (lookup) =>
    most(lookup('service')) / most(lookup(others));

const cpuByOne: Figure = (lookup) => least(lookup('service'), 'cpu') / least(lookup('service', 'one'), 'cpu');
const p99: Figure = (lookup) => least(lookup('service'), 'p99');
const start: Figure = (lookup) => least(lookup('service'), 'start') / least(lookup('constant'), 'start');

const GOALS: readonly (readonly [scenario: string, text: string, ...Goal['bound'], Figure])[] = [
  ['one', 'CPU with the admin listener, by that of the constant', '<=', 1.35, cpu('constant', 'admin')],
  ['one', 'CPU by that of the constant, nothing on', '<=', 1.2, cpu('constant')],
  ['one', 'CPU with an allowed origin, by that of the constant', '<=', 1.3, cpu('constant', 'cors')],
  ['one', 'CPU with traces, 1 % sampled, by that of the constant', '<=', 1.6, cpu('constant', 'traces')],
  ['one', 'CPU by that of the best peer on Node.js', '<=', 0.5, cpu(isNodePeer)],
  ['one', 'CPU by that of the best peer on Bun', '<', 1, cpu(isBunPeer)],
  ['one', 'CPU with a log line per request, by that of the constant', '<=', 2.1, cpu('constant', 'log')],
  ['one-postgres', 'CPU by that of a query by pg', '<=', 1.3, cpu('pg-query')],
  ['one-rs256', 'CPU by that of the best peer', '<=', 1 / 3, cpu(isPeer)],
  ['one-es256', 'CPU by that of the best peer', '<=', 1 / 3, cpu(isPeer)],
  ['list-20', 'CPU with the admin listener, by that of the bytes', '<=', 1.5, cpu('bytes', 'admin')],
  ['list-20', 'CPU by that of the bytes, nothing on', '<=', 1.2, cpu('bytes')],
  ['list-1000', 'CPU with the admin listener, by that of the bytes', '<=', 1.5, cpu('bytes', 'admin')],
  ['list-1000', 'CPU by that of the bytes, nothing on', '<=', 1.2, cpu('bytes')],
  ['list-100000', 'CPU by that of the bytes', '<=', 1.25, cpu('bytes')],
  ['list-100000', 'Throughput by that of the best peer', '>=', 20, throughput(isPeer)],
  ['unknown-token', 'CPU by that of the cheapest peer on Node.js', '<=', 1, cpu(isNodePeer)],
  ['create-1', 'Throughput by that of the best durable peer', '>=', 1, throughput(isDurablePeer)],
  ['create', 'Throughput by that of the best durable peer', '>=', 15, throughput(isDurablePeer)],
  ['create', 'Throughput by that of the best peer that does not sync', '>=', 2, throughput(isRelaxedPeer)],
  ['mix', 'Throughput by that of the best peer', '>=', 2, throughput(isPeer)],
  ['not-found', 'CPU by that of a success', '<=', 1.3, cpuByOne],
  ['busy-list', 'p99 of one todo, in milliseconds', '<', 20, p99],
  ['start', 'Time by that of the constant', '<=', 2, start],
];

export interface Score {
  readonly goal: Goal;
  /** NaN when it was not measured. */
  readonly figure: number;
  readonly reached: boolean;
}

/** The goals of the scenarios that were measured, and those that only a soak can decide. */
export function score(figures: readonly Figures[], soak?: Soak): readonly Score[] {
  const measured = GOALS.filter(([scenario]) => figures.some((one) => one.scenario === scenario));
  return [
    ...measured.map(([scenario, text, relation, limit, figure]) =>
      scoreOf({ scenario, text, bound: [relation, limit] }, figure(lookupOf(figures, scenario))),
    ),
    ...scoreSoak(soak ?? { minutes: SOAK_MINUTES, megabytes: Number.NaN, megabytesPerHour: Number.NaN }),
  ];
}

function lookupOf(figures: readonly Figures[], own: string): Lookup {
  return (wanted, scenario = own) =>
    figures.filter(
      (one) =>
        one.scenario === scenario && (typeof wanted === 'string' ? one.server === wanted : wanted(one)),
    );
}

function scoreSoak({ minutes, megabytes, megabytesPerHour }: Soak): readonly Score[] {
  const scenario = 'soak';
  const after = `after ${minutes} minutes`;
  return [
    scoreOf({ scenario, text: `Memory ${after}, MB`, bound: ['<', 150] }, megabytes),
    scoreOf({ scenario, text: `Growth of memory ${after}, MB an hour`, bound: ['<=', 1] }, megabytesPerHour),
  ].map((one) => ({ ...one, reached: one.reached && minutes >= SOAK_MINUTES }));
}

function scoreOf(goal: Goal, figure: number): Score {
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
