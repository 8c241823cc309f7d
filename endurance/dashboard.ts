import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import dashboard from '../docs/dashboard.json' with { type: 'json' };
import { scriptFlags } from '../test/script-flags.ts';
import { freePort } from '../test/storage/postgres-server.ts';
import { type Curve, drawDashboard, type Panel } from './panels.ts';

const HELP = `Usage: npm run dashboard -- [flags]

Makes docs/dashboard.svg: runs the soak, lets a Prometheus of its own scrape it every 5 s, asks that for every expression of
docs/dashboard.json, and draws the panels. The drawing is this script's and not Grafana's; the numbers are Prometheus'.
Needs prometheus on the PATH, on Debian of the package of this name.

  --minutes M  default 10
  --rate N     requests a second, default 250
  --help
`;
const { minutes, rate } = scriptFlags(HELP, { minutes: 10, rate: 250 });

/** Seconds. */
const SCRAPE_INTERVAL = 5;
const STEP = 10;

interface Answer {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [number, string])[];
    }[];
  };
}

const folder = await mkdtemp(join(tmpdir(), 'todo-dashboard-'));
const [adminPort, port] = [await freePort(), await freePort()];
const config = {
  scrape_configs: [
    {
      job_name: 'todo-service',
      scrape_interval: `${SCRAPE_INTERVAL}s`,
      static_configs: [{ targets: [`127.0.0.1:${adminPort}`] }],
    },
  ],
};
await writeFile(join(folder, 'prometheus.yml'), JSON.stringify(config));
const prometheus = spawn(
  'prometheus',
  [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
);
const soak = spawn(
  process.execPath,
  [fileURLToPath(new URL('soak.ts', import.meta.url)), '--minutes', String(minutes), '--rate', String(rate)],
  { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, TODO_ADMIN_PORT: String(adminPort) } },
);
await once(soak, 'exit');
const until = Math.floor(Date.now() / 1_000) - SCRAPE_INTERVAL;
const from = until - Math.floor(minutes * 60);

/** What the curves of an expression were while the soak ran. */
async function ask(expression: string, legend: string): Promise<Curve[]> {
  const query = expression.replaceAll('$__rate_interval', '30s').replaceAll('$instance', '.*');
  const asked = new URLSearchParams({ query, start: String(from), end: String(until), step: String(STEP) });
  const reply = await fetch(`http://127.0.0.1:${port}/api/v1/query_range?${asked}`);
  if (!reply.ok) throw new Error(`${query}: ${await reply.text()}`);
  const { data }: Answer = JSON.parse(await reply.text());
  return data.result.map(({ metric, values }) => ({
    name: legend
      .replace(/\{\{(\w+)\}\}/g, (_, label: string) => metric[label] ?? '')
      .replace(/127\.0\.0\.1:\d+/, 'todo-1'),
    points: values
      .map(([time, value]) => [time, Number(value)] as const)
      .filter(([, value]) => Number.isFinite(value)),
  }));
}

/** What stands for a value. */
function wordsOf(mappings: readonly { readonly options: object }[]): Readonly<Record<string, string>> {
  const entries = mappings.flatMap(({ options }) => Object.entries(options));
  return Object.fromEntries(entries.map(([value, { text }]) => [value, text]));
}

const panels: Panel[] = [];
for (const { title, gridPos: place, targets, fieldConfig } of dashboard.panels) {
  if (targets === undefined || fieldConfig === undefined) continue;
  const { defaults } = fieldConfig;
  const curves = await Promise.all(targets.map(({ expr, legendFormat }) => ask(expr, legendFormat)));
  panels.push({
    title,
    unit: defaults.unit,
    max: 'max' in defaults ? Number(defaults.max) : undefined,
    limit: 'custom' in defaults ? (defaults.thresholds?.steps.at(-1)?.value ?? undefined) : undefined,
    words: 'mappings' in defaults ? wordsOf(defaults.mappings) : undefined,
    place,
    curves: curves.flat(),
  });
}
prometheus.kill();
await once(prometheus, 'exit');
await rm(folder, { recursive: true });

const headings = dashboard.panels
  .filter(({ type }) => type === 'row')
  .map(({ title, gridPos }) => ({ title, y: gridPos.y }));
const title = `Todo Service: ${minutes} minutes, ${rate} requests a second, one instance on SQLite`;
const svg = drawDashboard(title, headings, panels, [from, until]);
await writeFile(new URL('../docs/dashboard.svg', import.meta.url), svg);
