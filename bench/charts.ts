import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import type { Figures } from './figures.ts';
import { AT_RATES, LATENCY_RATE, median, ofPostgres, REACHED, TIMED } from './report.ts';
import { EVERY } from './servers.ts';

type Row = Readonly<Record<string, string | number>>;

/** The look of both kinds of pages, in colours that people who see few of them tell apart (Okabe and Ito). */
const LOOKS = {
  light: { ink: '#24292f', faint: '#d0d7de', ground: '#ffffff' },
  dark: { ink: '#e6edf3', faint: '#3d444d', ground: '#0d1117' },
} as const;

const COLOURS: Readonly<Record<string, string>> = {
  service: '#2f81c9',
  'service-admin': '#56b4e9',
  'service-postgresql': '#cc79a7',
  constant: '#8c959f',
  fastify: '#009e73',
  'fastify-kept': '#66c2a4',
  elysia: '#e69f00',
  go: '#d55e00',
  'go-kept': '#f4a582',
  rust: '#b8a800',
  'fastify-pg': '#009e73',
  'go-pgx': '#d55e00',
  kinto: '#e69f00',
  pocketbase: '#b8a800',
};

const titleOf = (name: string) => {
  const title = EVERY.find((server) => server.name === name)?.title ?? name;
  return name.startsWith('service-') ? `todo-service ${title}` : title;
};

/** Charts of vega-lite, as SVG, by the names of their files: each for light and for dark pages. */
export async function chartsOf(figures: Figures): Promise<ReadonlyMap<string, string>> {
  const charts = {
    'cost-by-length': byLength(figures),
    latency: byServer(figures, (kind) => kind),
    'latency-postgresql': byServer(figures, ofPostgres),
    'cost-by-rate': byRate(figures),
  };
  const files = new Map<string, string>();
  for (const [name, chart] of Object.entries(charts)) {
    for (const look of ['light', 'dark'] as const) {
      const { spec } = compile({ ...chart, background: LOOKS[look].ground, config: configOf(look) });
      const svg = await new View(parse(spec), { renderer: 'none' }).toSVG();
      files.set(`${name}-${look}.svg`, `${svg}\n`);
    }
  }
  return files;
}

function configOf(look: keyof typeof LOOKS): NonNullable<TopLevelSpec['config']> {
  const { ink, faint } = LOOKS[look];
  const text = { labelColor: ink, titleColor: ink, labelLimit: 300 };
  return {
    font: 'sans-serif',
    axis: { ...text, gridColor: faint, domainColor: faint, tickColor: faint, titleFontWeight: 'normal' },
    legend: { ...text, title: null },
    header: { ...text, title: null, labelFontSize: 12 },
    title: { color: ink },
    view: { stroke: faint },
    text: { color: ink },
  };
}

/** A colour for each server of these rows, in the order of the tables. */
function colour(rows: readonly Row[]) {
  const there = EVERY.filter(({ name }) => rows.some((row) => row.name === name));
  const domain = there.map(({ name }) => titleOf(name));
  const range = there.map(({ name }) => COLOURS[name] ?? '');
  return { field: 'server', type: 'nominal', scale: { domain, range } } as const;
}

/** A line for each server, over a logarithmic scale. */
function lines(
  values: readonly Row[],
  x: {
    readonly field: string;
    readonly domain: [number, number];
    readonly axis: { title: string; values: number[] };
  },
  y: object,
): TopLevelSpec {
  const { field, domain, axis } = x;
  return {
    width: 460,
    height: 260,
    padding: 8,
    data: { values: [...values] },
    mark: { type: 'line', point: { filled: true, size: 45 }, strokeWidth: 2 },
    encoding: {
      x: { field, type: 'quantitative', scale: { type: 'log', domain }, axis: { ...axis, format: ',d' } },
      y: { field: 'cost', type: 'quantitative', ...y },
      color: colour(values),
    },
  };
}

function byLength({ costs }: Figures): TopLevelSpec {
  const values: Row[] = [20, 1_000, 10_000].flatMap((todos) =>
    Object.entries(costs[todos]?.list ?? {})
      .filter(([name]) => name !== 'service-admin')
      .map(([name, { service }]) => ({ name, server: titleOf(name), todos, cost: median(service) })),
  );
  const axis = { title: 'todos in the list', values: [20, 100, 1_000, 10_000] };
  const costsShown = [10, 30, 100, 300, 1_000, 3_000, 10_000];
  return lines(
    values,
    { field: 'todos', domain: [15, 13_000], axis },
    {
      scale: { type: 'log' },
      axis: { title: 'µs of processor for one list', format: ',d', values: costsShown },
    },
  );
}

function byServer({ latency }: Figures, at: (kind: string) => string): TopLevelSpec {
  const values: Row[] = Object.entries(TIMED).flatMap(([kind, { title }]) =>
    Object.entries(latency[at(kind)] ?? {}).map(([name, { p50, p99, perSecond }]) => {
      const row = { name, server: titleOf(name), kind: title };
      if (median(perSecond) >= REACHED * LATENCY_RATE) return { ...row, p50: median(p50), p99: median(p99) };
      return { ...row, missed: `only ${Math.round(median(perSecond))}/s` };
    }),
  );
  const order = EVERY.map(({ name }) => titleOf(name));
  const y = { field: 'server', type: 'nominal', sort: order, axis: { title: null } } as const;
  const x = (field: string) => ({
    field,
    type: 'quantitative' as const,
    scale: { type: 'log' as const },
    axis: { title: 'ms: p50 to p99', values: [0.1, 0.3, 1, 3, 10, 30, 100] },
  });
  const reached = 'isValid(datum.p50)';
  const marks = { type: 'point', filled: true, opacity: 1 } as const;
  return {
    data: { values },
    padding: 8,
    facet: { field: 'kind', type: 'nominal', sort: Object.values(TIMED).map(({ title }) => title) },
    columns: 2,
    spec: {
      width: 240,
      height: 150,
      layer: [
        {
          transform: [{ filter: reached }],
          mark: { type: 'rule', strokeWidth: 3 },
          encoding: { y, x: x('p50'), x2: { field: 'p99' }, color: { ...colour(values), legend: null } },
        },
        {
          transform: [{ filter: reached }],
          mark: { ...marks, size: 70 },
          encoding: { y, x: x('p50'), color: { ...colour(values), legend: null } },
        },
        {
          transform: [{ filter: `!${reached}` }],
          mark: { type: 'text', align: 'left', x: 4 },
          encoding: { y, text: { field: 'missed' } },
        },
      ],
    },
  };
}

function byRate({ costs }: Figures): TopLevelSpec {
  const values: Row[] = AT_RATES.works.flatMap((work) =>
    AT_RATES.servers.flatMap((name) => {
      const rounds = costs[10_000]?.[work]?.[name];
      if (rounds === undefined) return [];
      const [rate, cost] = [median(rounds.perSecond), median(rounds.service)];
      return [{ name, server: titleOf(name), rate, cost }];
    }),
  );
  const axis = { title: 'requests a second', values: [500, 2_000, 10_000, 50_000] };
  return lines(
    values,
    { field: 'rate', domain: [400, 100_000], axis },
    { axis: { title: 'µs of processor for one todo' } },
  );
}
