import { quantile } from '../test/support/steadily.ts';
import type { Cost, Figures, Latency, Rounds, Size } from './figures.ts';
import { INSTANCES, ON_POSTGRESQL, SERVERS, type Server } from './servers.ts';

/** Where the middle half of the rounds reaches further from the median than this share of it, it is shown in its place. */
const STEADY = { read: 0.1, write: 0.2 } as const;

/** Requests of a second at which answers are timed. */
export const LATENCY_RATE = 1_000;

/** Who has reached less of that rate has not reached it. */
export const REACHED = 0.95;

const TITLES = Object.fromEntries(SERVERS.map(({ name, title }) => [name, title]));

/** Where the latencies of a kind of requests stand that were measured beside others on PostgreSQL. */
export const ofPostgres = (kind: string) => `${kind}-postgresql`;

/** All tables that these figures give, of Markdown. The first cell of each is another one. */
export function tablesOf(figures: Figures): readonly string[] {
  const ofServers = [costs, throughput, waited, onPostgres, throughputOnPostgres, waitedOnPostgres];
  return [sized, byRate, byInstances, ...ofServers]
    .map((make) => make(figures))
    .filter((lines) => lines !== '');
}

/** A server that is asked for one todo again and again has all of its core, unless another program has a part. */
const QUIET = 0.85;

/**
 * What says that other programs ran: servers that did not have their core while all asked for one todo. Where the load is
 * starved, requests come alone, and cost several times as much.
 */
export function disturbed({ costs }: Figures): readonly string[] {
  const { instances: _, ...whole } = costs;
  return Object.entries(whole).flatMap(([todos, { one = {} }]) =>
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
const throughput = (figures: Figures) => beside('requests a second', figures, rateCell);

const rateCell: Cell = (servers, server) => shown(servers[server]?.perSecond ?? [], steadyOf(servers));

/** The same beside others on PostgreSQL, and their memory. */
function onPostgres(figures: Figures): string {
  const sizes = figures.sizes.postgresql ?? {};
  const memory = [
    'memory, MB',
    (server: string) => round(Math.max(...(sizes[server]?.memory ?? []))),
  ] as const;
  return beside('µs on PostgreSQL', figures, costCell, ofScenario('postgresql'), ON_POSTGRESQL, [memory]);
}

function throughputOnPostgres(figures: Figures): string {
  return beside('a second on PostgreSQL', figures, rateCell, ofScenario('postgresql'), ON_POSTGRESQL);
}

/** How many requests instances answer in a second that have each the same part of a processor. */
const byInstances = (figures: Figures) =>
  beside('Instances', figures, timesOneCell, ofScenario('instances'), INSTANCES);

/** How many requests are answered in a second, and how many times as many as by one instance in the same round. */
const timesOneCell: Cell = (servers, server) => {
  const { 'instances-1': one, [server]: own } = servers;
  if (one === undefined || own === undefined) return '–';
  const ratios = own.perSecond.map((rate, round) => rate / (one.perSecond[round] ?? Number.NaN));
  return `${rateCell(servers, server)} (${shown(ratios, steadyOf(servers))}×)`;
};

type Cell = (servers: Record<string, Rounds<Cost>>, server: string) => string;

type Column = readonly [title: string, work: string, todos: number | string];

const COLUMNS: readonly Column[] = [
  ['one todo', 'one', 10_000],
  ['list of 20', 'list', 20],
  ['list of 1,000', 'list', 1_000],
  ['of 10,000', 'list', 10_000],
  ['create', 'create', 10_000],
  ['replace', 'replace', 10_000],
];

const ofScenario = (at: 'postgresql' | 'instances') =>
  Object.entries(TIMED).map(([work, { title }]): Column => [title, work, at]);

/** A row for each server, a column for each kind of request, and for what more there is of each server. */
function beside(
  title: string,
  { costs }: Figures,
  cell: Cell,
  columns = COLUMNS,
  servers: readonly Server[] = SERVERS,
  more: readonly (readonly [title: string, cell: (server: string) => string])[] = [],
): string {
  const rows = servers.map(({ name, title }) => {
    const cells = columns.map(([, work, todos]) => cell(costs[todos]?.[work] ?? {}, name));
    return [title, ...cells, ...more.map(([, of]) => of(name))];
  });
  return table([title, ...[...columns, ...more].map(([title]) => title)], rows);
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

/** The kinds of requests whose answers are timed. */
export const TIMED = {
  one: { title: 'one todo', does: 'read' },
  replace: { title: 'replace', does: 'write' },
  create: { title: 'create', does: 'write' },
  list: { title: 'list of 1,000', does: 'read' },
} as const;

/** Milliseconds of answers at the rate. */
const waited = (figures: Figures) => waitedOf(figures, `ms at ${RATE}/s`, SERVERS, (kind) => kind);

const waitedOnPostgres = (figures: Figures) =>
  waitedOf(figures, `ms on PostgreSQL at ${RATE}/s`, ON_POSTGRESQL, ofPostgres);

const RATE = LATENCY_RATE.toLocaleString('en');

function waitedOf(
  { latency }: Figures,
  title: string,
  servers: readonly Server[],
  at: (kind: string) => string,
): string {
  const cell = (rounds: Rounds<Latency> | undefined, steady: number) => {
    if (rounds === undefined) return '–';
    const reached = median(rounds.perSecond);
    if (reached < REACHED * LATENCY_RATE) return `only ${round(reached)}/s`;
    return [rounds.p50, rounds.p99].map((share) => shown(share, steady, short)).join(' / ');
  };
  const timed = servers.filter(({ name }) => latency[at('one')]?.[name] !== undefined);
  const rows = timed.map(({ name, title }) => {
    const cells = Object.entries(TIMED).map(([kind, { does }]) =>
      cell(latency[at(kind)]?.[name], STEADY[does]),
    );
    return [title, ...cells];
  });
  return table([title, ...Object.values(TIMED).map(({ title }) => title)], rows);
}

/** What services take. */
function sized({ costs, sizes }: Figures): string {
  type Sized = readonly [title: string, server: string, todos: string];
  const columns = ['service', 'service-postgresql'].flatMap((server) =>
    Object.keys(sizes)
      .filter((todos) => todos !== 'postgresql' && sizes[todos]?.[server] !== undefined)
      .map((todos): Sized => {
        const engine = SERVERS.find(({ name }) => name === server)?.engine;
        return [`${engine}, ${Number(todos).toLocaleString('en')}`, server, todos];
      }),
  );
  const row = (title: string, cell: (column: Sized) => string) => [title, ...columns.map(cell)];
  const size =
    (figure: keyof Size, of = median) =>
    ([, server, todos]: Sized) =>
      round(of(sizes[todos]?.[server]?.[figure] ?? []));
  const cost =
    (work: string) =>
    ([, server, todos]: Sized) =>
      costCell(costs[todos]?.[work] ?? {}, server);
  const bytes =
    (work: string) =>
    ([, server, todos]: Sized) =>
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
