import { round, table } from '../../bench/report.ts';
import { quantile } from '../../test/steadily.ts';
import { fitAndTest, type Growth, isHeldOut, type Line, type Measured, valueAt } from './fit.ts';
import { mostPerSecond, predictedPerSecond, type Together, USABLE } from './instances.ts';
import { AMOUNTS, type Amount, type Point } from './measure.ts';

/** Operations whose cost is the difference of two that were measured. */
const DIFFERENCES = { 'list after a replace': ['replace, then list', 'replace, one client'] } as const;

const MIX = 'mix: 4 of 5 read one, 1 replaces';

/** Every figure of a point by its name, and those that follow from two. */
export function figuresOf({ amounts, costs, engine }: Point): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [amount, name] of Object.entries(AMOUNTS)) found.set(name, amounts[amount as Amount]);
  const all = new Map(Object.entries(costs));
  for (const [name, [whole, part]] of Object.entries(DIFFERENCES)) {
    const [a, b] = [all.get(whole), all.get(part)];
    if (a === undefined || b === undefined) continue;
    all.delete(whole);
    const rest = (of: 'service' | 'main' | 'server') => Math.max(a[of] - b[of], 0);
    all.set(name, { service: rest('service'), main: rest('main'), server: rest('server') });
  }
  for (const [name, { service, main, server }] of all) {
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

/** A mix of two operations by the formulas of its parts, against what was measured of it. */
function mixTable(points: readonly Point[]): string {
  const lineOf = (name: string) =>
    fitAndTest(
      points.map((point) => [point.todos, point.costs[name]?.service ?? Number.NaN]),
      'depth',
    ).line;
  const [read, write] = [lineOf('one todo'), lineOf('replace')];
  const rows = points.map(({ todos, costs }) => {
    const predicted = 0.8 * valueAt(read, todos) + 0.2 * valueAt(write, todos);
    const measured = costs[MIX]?.service ?? Number.NaN;
    return [thousands(todos), round(predicted), round(measured), percent(predicted / measured - 1)];
  });
  return table(['todos', 'by the formula, µs', 'measured, µs', 'error'], rows);
}

/** The medians of the rounds of each operation, by instances. */
function groupsOf(measured: readonly Together[]) {
  const groups = Map.groupBy(measured, ({ operation, instances }) => `${operation}, ${instances}`);
  return [...groups].map(([name, rows]) => ({
    name,
    rows,
    median: (of: (row: Together) => number) => quantile(rows.map(of), 0.5),
  }));
}

/** What several instances took, and what the law makes of what one took in the same round. */
function togetherTable(measured: readonly Together[]): string {
  const lawOf = ({ operation, round: of, cores }: Together) => {
    const alone = measured.find((row) => {
      return row.instances === 1 && row.operation === operation && row.round === of;
    });
    return alone === undefined ? Number.NaN : predictedPerSecond(alone, cores);
  };
  const rows = groupsOf(measured).map(({ name, median }) => [
    name,
    ...[
      median(({ cost }) => cost.service),
      median(({ cost }) => cost.server),
      median(({ cores }) => cores),
      median(({ perSecond }) => perSecond),
      median(lawOf),
    ].map(round),
    percent(median((row) => lawOf(row) / row.perSecond - 1)),
  ]);
  const head = ['instance, µs', 'server, µs', 'cores', 'a second', 'by the law', 'error'];
  return table(['operation, instances', ...head], rows);
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

/** Everything that a run found, as Markdown. */
export function report(run: {
  readonly about: Readonly<Record<string, string>>;
  readonly points: readonly Point[];
  readonly together: readonly Together[];
}): string {
  const parts = [
    table(['', ''], Object.entries(run.about)),
    'T: thousands of todos. L: the decimal logarithm of T.',
  ];
  for (const name of ['SQLite', 'PostgreSQL']) {
    const points = run.points.filter(({ engine }) => engine === name);
    parts.push(
      `### ${name}\n\n${tableOf(points)}`,
      `### ${name}: the mix, by the formulas of its parts\n\n${mixTable(points)}`,
    );
  }
  parts.push(
    `### The formulas\n\n${formulaTable(run.points)}`,
    `### Several instances on one PostgreSQL, 10,000 todos\n\n${togetherTable(run.together)}`,
    `### Operations a second with ${thousands(SCALED)} todos, at ${USABLE * 100} % of what ends first\n\n${scaleTable(
      run.points.filter(({ engine }) => engine === 'PostgreSQL'),
    )}`,
  );
  const unavailable = run.points.reduce((sum, point) => sum + point.unavailable, 0);
  if (unavailable > 0) parts.push(`${unavailable} answers were 503: the machine was too busy.`);
  return `${parts.join('\n\n')}\n`;
}
