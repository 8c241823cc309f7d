import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import dashboard from '../../docs/dashboard.json' with { type: 'json' };
import { openMetrics } from '../../src/observe/metrics.ts';
import { temporaryFolder } from '../folder.ts';
import { startList } from './list.ts';
import { noPromtool, parseExposition, promtool, valuesOf } from './prometheus.ts';
import { converse } from './raw.ts';

/** What docs/ has for operators: alerts, a dashboard, and the unit of systemd. */
const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

const skip = noPromtool();

const ALERTS = fileURLToPath(new URL('../../docs/alerts.yaml', import.meta.url));
const UNIT_TESTS = fileURLToPath(new URL('alerts.promtool.yaml', import.meta.url));

const rules = [...read('alerts.yaml').matchAll(/- alert: (\w+)\n +expr: (.+)\n/g)].map(([, name, expr]) => ({
  name: String(name),
  expr: String(expr),
}));

/** What Grafana puts in the place of its variables. */
const panels = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({
    title,
    named: Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, label = '']) => label),
    expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', 'a|b'),
  })),
);

/** What an expression asks for: a metric, and the labels by which it chooses. */
interface Selector {
  readonly metric: string;
  readonly labels: readonly string[];
}

const WORD = /^(?:by|on|unless|and|or|ignoring|without|bool)$/;
const LABEL_LIST = /\b(?:by|on|ignoring|without) ?\(([^)]*)\)/g;

/** The selectors of an expression of PromQL. promtool is what says that it is one. */
function selectorsOf(expression: string): readonly Selector[] {
  const bare = expression.replace(LABEL_LIST, '').replace(/\[[^\]]*\]/g, '');
  const found = bare.matchAll(/([a-zA-Z_:][\w:]*)(\{[^}]*\})?(?![\w:]*\s*\()/g);
  return Array.from(found).flatMap(([, metric = '', braces = '']) =>
    WORD.test(metric) ? [] : { metric, labels: labelsIn(braces) },
  );
}

/** The labels by which an expression groups or matches. */
function groupedBy(expression: string): readonly string[] {
  return Array.from(expression.matchAll(LABEL_LIST)).flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
}

function labelsIn(braces: string): readonly string[] {
  return Array.from(braces.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)/g), ([, label = '']) => label);
}

/** Those that Prometheus adds to each sample, and the metric that it adds for each target. */
const OF_PROMETHEUS = ['job', 'instance'];
const UP = ['up', new Set(OF_PROMETHEUS)] as const;

/** What a service on SQLite exposes that has read, written and refused, and one on PostgreSQL. */
const [ofList, ofPool] = [await textOfList(), await textOfPool()];

async function textOfList(): Promise<string> {
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0' } });
  await list.send('GET /todos');
  await list.send('POST /todos', { json: { title: 'a', categoryId: 1 } });
  await converse(list.url, 'not http\r\n\r\n');
  return (await fetch(`${list.adminUrl}/metrics`)).text();
}

async function textOfPool(): Promise<string> {
  using metrics = openMetrics({
    build: { version: '0', commit: 'c0ffee', profile: 'shared-list', schemaVersion: 3 },
    databaseSystem: 'postgresql',
    listeners: [],
    output: { dropped: 0 },
    ready: async () => true,
  });
  metrics.watchStore({
    connections: () => ({ used: 1, idle: 0, waiting: 0 }),
    sizes: { database: [{ bytes: 1 }], list: 0 },
  });
  metrics.keysTaken('read');
  return (await metrics.read()).text;
}

/** Every metric that the service exposes, and its labels as Prometheus stores them. */
const metrics = new Map<string, Set<string>>([[UP[0], new Set(UP[1])]]);
for (const { name, labels } of [ofList, ofPool].flatMap((text) => parseExposition(text).samples)) {
  const all = metrics.get(name) ?? new Set(OF_PROMETHEUS);
  for (const label of Object.keys(labels)) all.add(label);
  metrics.set(name, all);
}

/** Whether an expression asks for metrics and labels that the service has; `named` are labels beside it. */
function assertAsked(name: string, expr: string, named: readonly string[] = []): void {
  const selectors = selectorsOf(expr);
  assert.ok(selectors.length > 0, name);
  for (const { metric, labels } of selectors) {
    const known = metrics.get(metric);
    assert.ok(known !== undefined, `${name} asks for ${metric}`);
    for (const label of [...labels, ...groupedBy(expr), ...named])
      assert.ok(known.has(label), `${name}: ${metric} has no ${label}`);
  }
}

test('promtool finds nothing to say about the metrics', { skip }, () => {
  for (const text of [ofList, ofPool])
    assert.deepEqual(promtool(['check', 'metrics'], text), { status: 0, output: '' });
});

test('build_info says which version, commit and schema run', () => {
  const labels = { service_version: '0', vcs_ref_head_revision: 'c0ffee', schema_version: '3' };
  assert.deepEqual(valuesOf(parseExposition(ofPool), 'build_info', labels), [1]);
});

test('every alert is built from metrics and labels that the service has', () => {
  assert.ok(rules.length >= 15);
  for (const { name, expr } of rules) assertAsked(name, expr);
});

test('Prometheus takes the rules', { skip }, () => {
  const { status, output } = promtool(['check', 'rules', ALERTS]);
  assert.equal(status, 0, output);
  assert.match(output, new RegExp(`${rules.length} rules found`));
});

test('every alert fires when it should, and not for an instance that is well', { skip }, () => {
  const { status, output } = promtool(['test', 'rules', UNIT_TESTS]);
  assert.equal(status, 0, output);
});

/** The same series, of a program that is not this service. */
function foreignOf(series: string): string {
  const other = series.replace(/job="[^"]*",instance="[^"]*"/, 'job="other",instance="foreign"');
  assert.notEqual(other, series);
  return other;
}

test('no alert fires for another program, whose metrics have the same names', { skip }, async () => {
  const { tests, ...file } = parse(readFileSync(UNIT_TESTS, 'utf8'));
  const foreign = tests.map((one: { input_series: { series: string }[] }) => ({
    ...one,
    input_series: one.input_series.flatMap((series) => [
      series,
      { ...series, series: foreignOf(series.series) },
    ]),
  }));
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'foreign.yaml');
  await writeFile(path, stringify({ ...file, rule_files: [ALERTS], tests: foreign }));
  const { status, output } = promtool(['test', 'rules', path]);
  assert.equal(status, 0, output);
});

test('every alert asks for the job with every metric', () => {
  for (const { name, expr } of rules)
    assert.equal(expr.split('{job="todo-service"').length - 1, selectorsOf(expr).length, `${name}: ${expr}`);
});

test('every alert has a unit test in which it fires', () => {
  const tested = [
    ...readFileSync(UNIT_TESTS, 'utf8').matchAll(/alertname: (\w+)\n +exp_alerts:\n +- exp_labels/g),
  ];
  assert.deepEqual(
    tested.map(([, name]) => name),
    rules.map(({ name }) => name),
  );
});

test('the page about incidents says what to do for each alert, and for no other', () => {
  const described = [...read('incidents.md').matchAll(/^\| `(Todo\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(
    described,
    rules.map(({ name }) => name),
  );
});

test('Prometheus takes every expression of the dashboard', { skip }, async () => {
  await using folder = await temporaryFolder();
  const rules = panels.map(({ expr }, index) => ({ record: `panel:${index}`, expr }));
  const file = join(folder.path, 'rules.json');
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const { status, output } = promtool(['check', 'rules', file]);
  assert.equal(status, 0, output);
  assert.match(output, new RegExp(`${rules.length} rules found`));
});

test('the dashboard asks for metrics and labels that the service has', () => {
  assert.ok(panels.length > 30);
  for (const { title, expr, named } of panels) assertAsked(title, expr, named);
});

test('a curve is named by labels that its expression keeps', () => {
  for (const { title, expr, named } of panels) {
    const kept = groupedBy(expr);
    for (const label of named)
      assert.ok(kept.includes(label) || !/\b(?:sum|histogram_quantile)\b/.test(expr), `${title}: ${label}`);
  }
});

test('the dashboard shows every metric of the operations page, except the version that runs', () => {
  const page = read('operations.md');
  const section = page.slice(page.indexOf('## What to watch'), page.indexOf('## Traces'));
  const shown = panels.map(({ expr }) => expr).join('\n');
  const documented = Array.from(
    section.matchAll(/`((?:http|db|todo|nodejs|process|v8js)_\w+)`/g),
    ([, name = '']) => name,
  );
  assert.ok(documented.length > 15);
  for (const name of documented.filter((one) => one !== 'nodejs_eventloop_delay_mean_seconds'))
    assert.ok(shown.includes(name), name);
});

test('a panel about an alert shows where it fires, and leads to what to do', () => {
  const alerts = read('alerts.yaml');
  const about = dashboard.panels.filter(({ links }) => links !== undefined);
  assert.ok(about.length > 10);
  for (const { title, links = [], fieldConfig, type } of about) {
    const [{ title: alert, url } = { title: '', url: '' }] = links;
    assert.match(url, /\/incidents\.md#for-each-alert$/);
    const expression = new RegExp(`alert: ${alert}\n +expr: (.*)`).exec(alerts)?.[1];
    assert.ok(expression !== undefined, `${title}: there is no alert ${alert}`);
    const limit = fieldConfig?.defaults.thresholds?.steps.at(-1)?.value;
    if (type === 'timeseries' && limit != null) assert.ok(expression.endsWith(` > ${limit}`), title);
  }
});

test('panels do not lie on each other, and have one id each', () => {
  const cells = new Set<string>();
  for (const {
    title,
    gridPos: { x, y, w, h },
  } of dashboard.panels) {
    for (let cell = 0; cell < w * h; cell += 1) {
      const key = `${x + (cell % w)} ${y + Math.floor(cell / w)}`;
      assert.ok(!cells.has(key) && x + w <= 24, title);
      cells.add(key);
    }
  }
  assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
});

/** Of the unit. */
function setting(name: string): string {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(read('todo-service.service'))?.[1] ?? '';
}

test('the unit gives the service more time to stop than it takes by default', () => {
  assert.ok(Number(setting('TimeoutStopSec')) > 10 + 5);
});

test('the unit allows more files than the service has connections by default', () => {
  assert.ok(Number(setting('LimitNOFILE')) > 10_000);
});

test('the unit does not restart after wrong usage and faults in the configuration', () => {
  assert.deepEqual(setting('RestartPreventExitStatus').split(' '), ['2', '78']);
});

test('the alert about memory comes before the unit is killed for it', () => {
  const alert = Number(/process_memory_usage_bytes\S* > (\d+)/.exec(read('alerts.yaml'))?.[1]);
  assert.ok(Number(/^(\d+)G$/.exec(setting('MemoryMax'))?.[1]) * 2 ** 30 > alert);
});

test('the proxy of the example closes idle connections before the service does', () => {
  assert.ok(Number(/keepalive_timeout (\d+)s/.exec(read('proxies/nginx.conf'))?.[1]) < 75);
});
