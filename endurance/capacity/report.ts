import { round, table } from '../../bench/report.ts';
import { quantile } from '../../test/steadily.ts';
import { fitAndTest, isHeldOut, type Line, valueAt } from './fit.ts';
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

const thousands = (todos: number) => todos.toLocaleString('en');
const percent = (share: number) => `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(0)} %`;

/** A line for people; what it adds for a million todos is left out below 3 % of its constant. */
export function formula({ constant, each }: Line): string {
  const growth = `${round(each * 1_000)} T`;
  if (valueAt({ constant: 0, each }, 1_000_000) < 0.03 * constant) return round(constant);
  return constant === 0 ? growth : `${round(constant)} + ${growth}`;
}

/** What was measured at each size, the line through it, and by how much that misses the sizes that it was not fitted to. */
function tableOf(points: readonly Point[]): string {
  const sizes = points.map(({ todos }, index) => `${thousands(todos)}${isHeldOut(index) ? ' *' : ''}`);
  const all = points.map((point) => [point.todos, figuresOf(point)] as const);
  const rows = [...(all[0]?.[1].keys() ?? [])].map((name) => {
    const measured = all.map(([todos, figures]) => [todos, figures.get(name) ?? Number.NaN] as const);
    const values = measured.map(([, value]) => round(value));
    if (measured.some(([, value]) => !(value > 0))) return [name, ...values, '–', '–'];
    const { line, errors } = fitAndTest(measured);
    return [name, ...values, formula(line), errors.map(([, error]) => percent(error)).join(', ')];
  });
  return table(['', ...sizes, 'formula', 'error at *'], rows);
}

/** A mix of two operations by the formulas of its parts, against what was measured of it. */
function mixTable(points: readonly Point[]): string {
  const lineOf = (name: string) =>
    fitAndTest(points.map((point) => [point.todos, point.costs[name]?.service ?? Number.NaN])).line;
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

/** How many operations a second two to eight instances answer, by the cores of their server. */
function scaleTable(measured: readonly Together[]): string {
  const cores = [2, 4, 8];
  const alone = groupsOf(measured.filter(({ instances }) => instances === 1));
  const rows = alone.flatMap(({ rows: [first], median }) => {
    const demand = { main: median(({ cost }) => cost.main), server: median(({ cost }) => cost.server) };
    return [1, 2, 3, 4, 6, 8].map((instances) => [
      `${first?.operation}, ${instances}`,
      ...cores.map((each) => {
        const { perSecond, endsAt } = mostPerSecond(demand, instances, each);
        return `${thousands(Math.round(perSecond / 100) * 100)}${endsAt === 'server' ? ' (server)' : ''}`;
      }),
    ]);
  });
  const head = cores.map((each) => `PostgreSQL on ${each} cores`);
  return `${table(['operation, instances', ...head], rows)}\n\nAt ${USABLE * 100} % of whatever ends first: the instances' main threads, or the server.`;
}

/** Everything that a run found, as Markdown. */
export function report(run: {
  readonly about: Readonly<Record<string, string>>;
  readonly points: readonly Point[];
  readonly together: readonly Together[];
}): string {
  const parts = [table(['', ''], Object.entries(run.about)), 'T: thousands of todos.'];
  for (const name of ['SQLite', 'PostgreSQL']) {
    const points = run.points.filter(({ engine }) => engine === name);
    parts.push(
      `### ${name}\n\n${tableOf(points)}`,
      `### ${name}: the mix, by the formulas of its parts\n\n${mixTable(points)}`,
    );
  }
  parts.push(
    `### Several instances on one PostgreSQL, 10,000 todos\n\n${togetherTable(run.together)}`,
    `### Operations a second at the most, by the utilisation law\n\n${scaleTable(run.together)}`,
  );
  const unavailable = run.points.reduce((sum, point) => sum + point.unavailable, 0);
  if (unavailable > 0) parts.push(`${unavailable} answers were 503: the machine was too busy.`);
  return `${parts.join('\n\n')}\n`;
}
