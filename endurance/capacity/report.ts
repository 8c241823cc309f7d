import { round, table } from '../../bench/report.ts';
import { fitAndTest, type Growth, isHeldOut, type Line, type Measured, valueAt } from './fit.ts';
import { AMOUNTS, type Amount, type Cost, type Point } from './measure.ts';

/** Every figure of a point by its name. What a list costs after a replace is what both cost without the replace. */
function figuresOf({ amounts, costs, engine }: Point): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [amount, name] of Object.entries(AMOUNTS)) found.set(name, amounts[amount as Amount]);
  const { 'replace, then list': both, ...others } = costs;
  const rest = (of: keyof Cost) =>
    Math.max(Number(both?.[of]) - Number(others['replace, one client']?.[of]), 0);
  const list = { service: rest('service'), main: rest('main'), server: rest('server') };
  for (const [name, { service, main, server }] of Object.entries({
    ...others,
    'list after a replace': list,
  })) {
    found.set(`${name}, µs`, service);
    found.set(`${name}, of it the main thread, µs`, main);
    if (engine === 'PostgreSQL') found.set(`${name}, server, µs`, server);
  }
  return found;
}

/** What an operator plans with. */
const PLANNED = [
  AMOUNTS.peak,
  AMOUNTS.database,
  AMOUNTS.firstList,
  'one todo, µs',
  'list, 304, µs',
  'list, 200, µs',
  'list, 200 in gzip, µs',
  'list after a replace, µs',
  'replace, µs',
  'create with a key, µs',
];

/** Todos for which instances are counted. */
const SCALED = 100_000;

const thousands = (todos: number) => todos.toLocaleString('en');
const percent = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(0)} %`;

/** A line for people; what a million todos add is left out below 3 % of the constant. */
export function formula(line: Line): string {
  const { growth, constant, each } = line;
  if (valueAt(line, 1_000_000) < 1.03 * constant) return round(constant);
  const added = `${each < 1 ? Number(each.toPrecision(2)) : round(each)} ${growth === 'todos' ? 'T' : 'L'}`;
  return constant === 0 ? added : `${round(constant)} + ${added}`;
}

/** The cost of an operation on one todo, or of a 304, does not grow with the list. */
function growthOf(name: string): Growth {
  return name.endsWith('µs') && !/^list(?:, 200| after)/.test(name) ? 'depth' : 'todos';
}

/** A figure at each size, the line through two thirds of them, and by how much that misses the others. */
interface Fit {
  readonly measured: Measured;
  readonly formula: string;
  readonly errors: string;
}

function fitsOf(points: readonly Point[]): ReadonlyMap<string, Fit> {
  const all = points.map((point) => [point.todos, figuresOf(point)] as const);
  const names = [...(all[0]?.[1].keys() ?? [])];
  return new Map(
    names.map((name) => {
      const measured = all.map(([todos, figures]) => [todos, figures.get(name) ?? Number.NaN] as const);
      if (measured.some(([, value]) => !(value > 0))) return [name, { measured, formula: '–', errors: '–' }];
      const { line, errors } = fitAndTest(measured, growthOf(name));
      const missed = errors.map(([, error]) => percent(error)).join(', ');
      return [name, { measured, formula: formula(line), errors: missed }];
    }),
  );
}

function tableOf(points: readonly Point[]): string {
  const sizes = points.map(({ todos }, index) => `${thousands(todos)}${isHeldOut(index) ? ' *' : ''}`);
  const rows = [...fitsOf(points)].map(([name, fit]) => {
    return [name, ...fit.measured.map(([, value]) => round(value)), fit.formula, fit.errors];
  });
  return table(['', ...sizes, 'formula', 'error at *'], rows);
}

/** The formulas of what an operator plans with, both engines side by side: the table of `docs/scaling.md`. */
function formulaTable(points: readonly Point[]): string {
  const [sqlite, postgres] = (['SQLite', 'PostgreSQL'] as const).map((name) =>
    fitsOf(points.filter(({ engine }) => engine === name)),
  );
  const rows = PLANNED.map((name) => {
    const server = name.endsWith('µs') ? postgres?.get(name.replace('µs', 'server, µs')) : undefined;
    const fits = [sqlite?.get(name), postgres?.get(name), server];
    return [name.replace(', µs', ''), ...fits.map((fit) => fit?.formula ?? '–')];
  });
  return table(['', 'SQLite', 'PostgreSQL', 'its server'], rows);
}

/** The share of a station's time that may be taken: at 70 % a request waits for twice the time that it takes (M/M/1). */
const USABLE = 0.7;

/**
 * The utilisation law: a station is busy for the throughput times what one operation takes there. So the throughput ends where
 * the first station has no time left: the main threads of the instances, or the cores of the server. It holds whatever the
 * order and spread of requests, and what it needs is processor time, which a busy machine does not blur.
 */
export function mostPerSecond(
  { main, server }: Pick<Cost, 'main' | 'server'>,
  instances: number,
  serverCores: number,
): { readonly perSecond: number; readonly endsAt: 'instances' | 'server' } {
  const ofInstances = (USABLE * instances * 1e6) / main;
  const ofServer = (USABLE * serverCores * 1e6) / server;
  return ofInstances < ofServer
    ? { perSecond: ofInstances, endsAt: 'instances' }
    : { perSecond: ofServer, endsAt: 'server' };
}

/** How many operations a second so many instances answer, by the cores of their server. */
function scaleTable(points: readonly Point[]): string {
  const at = (name: string) => {
    const figures = points.map((point) => [point.todos, figuresOf(point).get(name) ?? Number.NaN] as const);
    return valueAt(fitAndTest(figures, 'depth').line, SCALED);
  };
  const columns = ['one todo', 'replace'].flatMap((operation) => {
    const demand = {
      main: at(`${operation}, of it the main thread, µs`),
      server: at(`${operation}, server, µs`),
    };
    return [4, 8].map((cores) => ({ name: `${operation}, server with ${cores} cores`, demand, cores }));
  });
  const rows = [1, 2, 4, 8].map((instances) => [
    `${instances}`,
    ...columns.map(({ demand, cores }) => {
      const { perSecond, endsAt } = mostPerSecond(demand, instances, cores);
      return `${thousands(Math.round(perSecond / 100) * 100)}${endsAt === 'server' ? ', the server ends' : ''}`;
    }),
  ]);
  return table(['Instances', ...columns.map(({ name }) => name)], rows);
}

/** Everything that a run found, as Markdown. @param about the run and its machine. */
export function report(about: Readonly<Record<string, string>>, all: readonly Point[]): string {
  const parts = [
    table(['', ''], Object.entries(about)),
    'T: thousands of todos. L: the decimal logarithm of T.',
  ];
  for (const name of ['SQLite', 'PostgreSQL']) {
    const points = all.filter(({ engine }) => engine === name);
    parts.push(`### ${name}\n\n${tableOf(points)}`);
  }
  parts.push(
    `### The formulas\n\n${formulaTable(all)}`,
    `### Operations a second with ${thousands(SCALED)} todos, at ${USABLE * 100} % of what ends first\n\n${scaleTable(
      all.filter(({ engine }) => engine === 'PostgreSQL'),
    )}`,
  );
  const unavailable = all.reduce((sum, point) => sum + point.unavailable, 0);
  if (unavailable > 0) parts.push(`${unavailable} answers were 503: the machine was too busy.`);
  return `${parts.join('\n\n')}\n`;
}
