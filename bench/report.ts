import { quantile } from '../test/support/steadily.ts';
import type { Cost, Figures, Latency, Rounds, Size } from './figures.ts';
import { ALONE, SERVERS } from './servers.ts';

/** Where the middle half of the rounds reaches further from the median than this share of it, it is shown in its place. */
const STEADY = { read: 0.1, write: 0.2 } as const;

/** Requests of a second at which answers are timed. */
export const LATENCY_RATE = 1_000;

/** Who has reached less of that rate has not reached it. */
export const REACHED = 0.95;

const TITLES = Object.fromEntries(ALONE.map(({ name, title }) => [name, title]));

/** All tables that these figures give, of Markdown. The first cell of each is another one. */
export function tablesOf(figures: Figures): readonly string[] {
  const tables = [sized, costs, throughput, byRate, byInstances, waited];
  return tables.map((make) => make(figures)).filter((lines) => lines !== '');
}

/** A server that is asked for one todo again and again has all of its core, unless another program has a part. */
const QUIET = 0.85;

/**
 * What says that other programs ran: servers that did not have their core while all asked for one todo. Where the load is
 * starved, requests come alone, and cost several times as much.
 */
export function disturbed({ costs }: Figures): readonly string[] {
  return Object.entries(costs).flatMap(([todos, { one = {} }]) =>
    Object.entries(one).flatMap(([server, { service, postgres, perSecond }]) => {
      const shares = service.map(
        (cost, round) => ((cost + (postgres[round] ?? 0)) * (perSecond[round] ?? 0)) / 1e6,
      );
      const least = Math.min(...shares);
      return least < QUIET
        ? [`${server} had ${Math.round(100 * least)} % of its core, one of ${todos} todos`]
        : [];
    }),
  );
}

/** What each server takes for a request. */
const costs = (figures: Figures) => beside('µs of a request', figures, costCell);

/** How many requests each server answers in a second. */
const throughput = (figures: Figures) =>
  beside('requests a second', figures, (servers, server) =>
    shown(servers[server]?.perSecond ?? [], steadyOf(servers)),
  );

/** A row for each server, a column for each kind of request. */
function beside(
  title: string,
  { costs }: Figures,
  cell: (servers: Record<string, Rounds<Cost>>, server: string) => string,
): string {
  const columns = [
    ['one todo', 'one', 10_000],
    ['list of 20', 'list', 20],
    ['list of 1,000', 'list', 1_000],
    ['of 10,000', 'list', 10_000],
    ['create', 'create', 10_000],
    ['replace', 'replace', 10_000],
  ] as const;
  const rows = Object.entries(TITLES).map(([server, title]) => {
    return [title, ...columns.map(([, work, todos]) => cell(costs[todos]?.[work] ?? {}, server))];
  });
  return table([title, ...columns.map(([title]) => title)], rows);
}

/** One todo at each rate, by server: what the table and the chart of cost against rate have. */
export const AT_RATES = {
  works: ['one-500', 'one-2000', 'one'],
  servers: ['service', 'service-postgresql', 'constant'],
} as const;

/** What one todo takes, by the requests of a second. */
function byRate({ costs }: Figures): string {
  const works = AT_RATES.works.map((work) => costs[10_000]?.[work] ?? {});
  const rows = AT_RATES.servers.map((server) => {
    return [TITLES[server] ?? '', ...works.map((work) => costCell(work, server))];
  });
  return table(['µs of one todo', 'at 500/s', 'at 2,000/s', 'as many as are answered'], rows);
}

/** What one instance takes while others run, and what they take for each change of it. */
function byInstances({ costs }: Figures): string {
  const { one = {}, replace = {} } = costs[10_000] ?? {};
  const rows = SERVERS.filter(({ name }) => /^service-postgresql/.test(name)).map(({ name, instances }) => {
    const others = instances === undefined ? Number.NaN : median(replace[name]?.others ?? []);
    return [String(instances ?? 1), costCell(one, name), costCell(replace, name), round(others)];
  });
  return table(['Instances', 'one todo, µs', 'replace, µs', 'each other one follows it, µs'], rows);
}

/** The kinds of requests whose answers are timed. */
export const TIMED = {
  one: { title: 'one todo', does: 'read' },
  replace: { title: 'replace', does: 'write' },
  create: { title: 'create', does: 'write' },
  list: { title: 'list of 1,000', does: 'read' },
} as const;

/** Milliseconds of answers at the rate. */
function waited({ latency }: Figures): string {
  const cell = (rounds: Rounds<Latency> | undefined, steady: number) => {
    if (rounds === undefined) return '–';
    const reached = median(rounds.perSecond);
    if (reached < REACHED * LATENCY_RATE) return `only ${round(reached)}/s`;
    return [rounds.p50, rounds.p99].map((share) => shown(share, steady, short)).join(' / ');
  };
  const servers = Object.entries(TITLES).filter(([server]) => latency.one?.[server] !== undefined);
  const rows = servers.map(([server, title]) => {
    const cells = Object.entries(TIMED).map(([kind, { does }]) =>
      cell(latency[kind]?.[server], STEADY[does]),
    );
    return [title, ...cells];
  });
  return table(
    [`ms at ${LATENCY_RATE.toLocaleString('en')}/s`, ...Object.values(TIMED).map(({ title }) => title)],
    rows,
  );
}

/** What services take. */
function sized({ costs, sizes }: Figures): string {
  type Column = readonly [title: string, server: string, todos: string];
  const columns = ['service', 'service-postgresql'].flatMap((server) =>
    Object.keys(sizes)
      .filter((todos) => sizes[todos]?.[server] !== undefined)
      .map((todos): Column => {
        const engine = SERVERS.find(({ name }) => name === server)?.engine;
        return [`${engine}, ${Number(todos).toLocaleString('en')}`, server, todos];
      }),
  );
  const row = (title: string, cell: (column: Column) => string) => [title, ...columns.map(cell)];
  const size =
    (figure: keyof Size, of = median) =>
    ([, server, todos]: Column) =>
      round(of(sizes[todos]?.[server]?.[figure] ?? []));
  const cost =
    (work: string) =>
    ([, server, todos]: Column) =>
      costCell(costs[todos]?.[work] ?? {}, server);
  const bytes =
    (work: string) =>
    ([, server, todos]: Column) =>
      round(median(costs[todos]?.[work]?.[server]?.bytes ?? []) / 1e6);
  return table(
    ['Todos', ...columns.map(([title]) => title)],
    [
      row(
        'memory at most, MB',
        size('memory', (values) => Math.max(...values)),
      ),
      row('file or tables, MB', size('database')),
      row('list, MB', bytes('list')),
      row('list in gzip, MB', bytes('gzip')),
      row('first list after a start, ms', size('firstList')),
      row('one todo, µs', cost('one')),
      row('unchanged list (304), µs', cost('unchanged')),
      row('list in gzip, µs', cost('gzip')),
      row('list, µs', cost('list')),
      row('replace, µs', cost('replace')),
      row('replaces and lists in turn, µs of each', cost('changed')),
      row('75 % one, 20 % replace, 5 % list, µs', cost('mixed')),
    ],
  );
}

/** A write has no constant. */
const steadyOf = ({ constant }: Record<string, Rounds<Cost>>) =>
  STEADY[constant === undefined ? 'write' : 'read'];

/** Microseconds, those of PostgreSQL, and how many times the constant's of the same round: `15.0 + 4.5 (1.31×)`. */
function costCell(servers: Record<string, Rounds<Cost>>, server: string): string {
  const { [server]: own, constant } = servers;
  if (own === undefined) return '–';
  const steady = steadyOf(servers);
  const postgres = median(own.postgres) > 0 ? ` + ${shown(own.postgres, steady)}` : '';
  const time = `${shown(own.service, steady)}${postgres}`;
  if (constant === undefined || constant === own) return time;
  const ratios = own.service.map((cost, index) => cost / (constant.service[index] ?? Number.NaN));
  return `${time} (${shown(ratios, steady)}×)`;
}

/** The median, or the middle half of the values where that reaches further from it than this share. */
function shown(values: readonly number[], steady: number, text = round): string {
  const [low = 0, middle = 0, high = 0] = [0.25, 0.5, 0.75].map((share) => quantile(values, share));
  const isWide = Math.max(high - middle, middle - low) > steady * middle;
  return isWide ? `${text(low)}–${text(high)}` : text(middle);
}

export const median = (values: readonly number[]) => quantile(values, 0.5);

/** Two or three significant digits; a dash where there is nothing. */
function round(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const text = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return Number.isFinite(value) ? text : '–';
}

/** Two significant digits. */
const short = (value: number) => Number(value.toPrecision(2)).toLocaleString('en');

/** A table of Markdown; nothing without a row. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.every((cells) => cells.slice(1).every((cell) => cell === '–'))) return '';
  const rule = head.map((_, index) => (index === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map(rowOf).join('\n');
}

/**
 * The page with these tables in the place of those whose first cell is the same. The page chooses tables, rows and columns:
 * what it does not show is left out.
 * @throws Error where it shows a row or a column that these tables do not have.
 */
export function withTables(page: string, tables: readonly string[]): string {
  return tables.reduce((text, lines) => {
    const [head = [], rule = [], ...rows] = lines.split('\n').map(cellsOf);
    const start = text.indexOf(`\n| ${head[0]} |`) + 1;
    if (start === 0) return text;
    const end = text.indexOf('\n\n', start);
    const [shown = [], , ...shownRows] = text.slice(start, end).split('\n').map(cellsOf);
    const columns = shown.map((title) => placeOf(title, head));
    const titles = rows.map(([title = '']) => title);
    const kept = shownRows.map(([title = '']) => rows[placeOf(title, titles)] ?? []);
    const drawn = [head, rule, ...kept].map((cells) => rowOf(columns.map((column) => cells[column] ?? '')));
    return text.slice(0, start) + drawn.join('\n') + text.slice(end);
  }, page);
}

function placeOf(title: string, titles: readonly string[]): number {
  const place = titles.indexOf(title);
  if (place === -1) throw new Error(`No figures are there for ${JSON.stringify(title)}`);
  return place;
}

const cellsOf = (row: string) => row.slice(2, -2).split(' | ');

const rowOf = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
