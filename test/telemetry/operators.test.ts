import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import dashboard from '../../deploy/dashboard.json' with { type: 'json' };
import { readConfig } from '../../src/server/config.ts';
import { openMetrics } from '../../src/telemetry/metrics.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startList } from '../support/list.ts';
import { noPromtool, parseExposition, promtool, valuesOf } from '../support/prometheus.ts';
import { converse } from '../support/raw.ts';

/** What docs/ has for operators: alerts, a dashboard, and the unit of systemd. */
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const skip = noPromtool();

const ALERTS = fileURLToPath(new URL('../../deploy/alerts.yaml', import.meta.url));
const UNIT_TESTS = fileURLToPath(new URL('alerts.promtool.yaml', import.meta.url));

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
}

const rules: readonly Rule[] = parse(read('deploy/alerts.yaml')).groups[0].rules;

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

const WORD = /^(?:by|on|unless|and|or|ignoring|without|bool|group_left)$/;
const LABEL_LIST = /\b(?:by|on|ignoring|without) ?\(([^)]*)\)/g;

/** The selectors of an expression of PromQL. promtool is what says that it is one. */
function selectorsOf(expression: string): readonly Selector[] {
  const bare = expression.replace(LABEL_LIST, '').replace(/\[[^\]]*\]|\boffset \w+/g, '');
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

/** Those that Prometheus adds to each sample, and the metrics of others: of each target, of the script for backups. */
const OF_PROMETHEUS = ['job', 'instance'];
const OF_OTHERS = ['up', 'todo_backup_last_success_timestamp_seconds'];

/** What a service on SQLite exposes that has read, written and refused, and one on PostgreSQL. */
const [ofList, ofPool] = [await textOfList(), await textOfPool()];

async function textOfList(): Promise<string> {
  await using list = await startList({ env: { TODO_ADMIN_PORT: '0' } });
  await list.send('GET /todos');
  await list.send('POST /todos', { json: { title: 'a', categoryId: 1 } });
  await converse(list.url, 'not http\r\n\r\n');
  return await (await fetch(`${list.adminUrl}/metrics`)).text();
}

async function textOfPool(): Promise<string> {
  const database = { system: 'postgresql', schemaVersion: 3 } as const;
  const build = { version: '0', commit: 'c0ffee', profile: 'shared-list', database };
  using metrics = openMetrics(
    build,
    [],
    { dropped: () => 0 },
    async () => true,
    () => {},
  );
  metrics.watchStore({
    connections: () => ({ used: 1, idle: 0, waiting: 0 }),
    sizes: () => ({ database: [{ bytes: 1 }], list: 0 }),
  });
  metrics.watchTraces({ lost: () => 0 });
  metrics.watchKeys({ figures: () => ({ attempts: { read: 1, unusable: 0, failed: 0 } }) });
  return (await metrics.read()).text;
}

/** Every metric that the service exposes, and its labels as Prometheus stores them. */
const metrics = new Map(OF_OTHERS.map((name) => [name, new Set(OF_PROMETHEUS)]));
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

/** Gauges whose names prom-client and OpenTelemetry have chosen. */
const OF_OTHERS_NAMES =
  /^(?:nodejs_active_\w+_total non-counter metrics should not have "_total"|db_client_connection_count non-histogram and non-summary metrics should not have "_count") suffix\n/gm;

test('promtool finds nothing to say about the metrics', { skip }, () => {
  for (const text of [ofList, ofPool])
    assert.equal(promtool(['check', 'metrics'], text).output.replace(OF_OTHERS_NAMES, ''), '');
});

test('build_info says which version, commit and schema run', () => {
  const labels = { service_version: '0', vcs_ref_head_revision: 'c0ffee', schema_version: '3' };
  assert.deepEqual(valuesOf(parseExposition(ofPool), 'build_info', labels), [1]);
});

test('every alert is built from metrics and labels that the service has', () => {
  assert.ok(rules.length >= 15);
  for (const { alert, expr } of rules) assertAsked(alert, expr);
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

/** Scrapes of a counter, 60 s apart: nothing for 20 minutes, then errors among `requests` a minute, by a fixed dice. */
function scrapesOf(requests: number, share: number) {
  let [dice, errors] = [requests, 0];
  return Array.from({ length: 40 }, (_, minute) => {
    for (let request = 0; minute >= 20 && request < requests; request += 1) {
      dice = (dice * 48_271) % 2_147_483_647;
      if (dice / 2_147_483_647 < share) errors += 1;
    }
    return { answered: requests * minute - errors, errors };
  });
}

test('random errors, 2 % of 20 requests a second down to one, page within 7 minutes, with scrapes 60 s apart', {
  skip,
}, async () => {
  const answers = 'http_server_request_duration_seconds_count{job="todo-service",http_response_status_code=';
  const operations = 'db_client_operation_duration_seconds_count{job="todo-service",error_type=';
  const series = [20, 2, 1].flatMap((rate) => {
    const scrapes = scrapesOf(rate * 60, 0.02);
    const answered = scrapes.map((one) => one.answered).join(' ');
    // A series begins with its first error.
    const failed = scrapes.map(({ errors }) => errors || '_').join(' ');
    return [
      { series: `${answers}"200",instance="${rate}"}`, values: answered },
      { series: `${answers}"503",instance="${rate}"}`, values: failed },
      { series: `${operations}"",instance="${rate}"}`, values: answered },
      { series: `${operations}"OutcomeUnknown",instance="${rate}"}`, values: failed },
    ];
  });
  const firing = (alertname: string, summary: (rate: number) => string, labels = {}) => ({
    eval_time: '27m',
    alertname,
    exp_alerts: [20, 2, 1].map((rate) => ({
      exp_labels: { severity: 'page', instance: String(rate), ...labels },
      exp_annotations: { summary: summary(rate) },
    })),
  });
  const tests = [
    firing('TodoServerErrors', (rate) => `More than 1 % of the answers of ${rate} are server errors`),
    firing('TodoDatabaseErrors', (rate) => `Operations of ${rate} fail with OutcomeUnknown`, {
      error_type: 'OutcomeUnknown',
    }),
  ];
  const early = tests.map((one) => ({ ...one, eval_time: '23m', exp_alerts: [] }));
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'random.yaml');
  const alert_rule_test = [...early, ...tests];
  const file = {
    rule_files: [ALERTS],
    evaluation_interval: '30s',
    tests: [{ interval: '1m', input_series: series, alert_rule_test }],
  };
  await writeFile(path, stringify(file));
  const { status, output } = promtool(['test', 'rules', path]);
  assert.equal(status, 0, output);
});

interface AlertTest {
  readonly alertname: string;
  readonly exp_alerts: readonly { readonly exp_labels: { readonly severity: string } }[];
}

/** The same series, of a program that is not this service. */
function foreignOf(series: string): string {
  const other = series.replace(/job="[^"]*",instance="[^"]*"/, 'job="other",instance="foreign"');
  assert.notEqual(other, series);
  return other;
}

test('no alert fires for another program, whose metrics have the same names', { skip }, async () => {
  const { tests, ...file } = parse(readFileSync(UNIT_TESTS, 'utf8'));
  // Backups are told of by the node exporter, whatever its job is called.
  const ofTheService = tests.filter(({ name }: { name: string }) => name !== 'TodoBackupOld');
  const foreign = ofTheService.map((one: { input_series: { series: string }[] }) => ({
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
  for (const { alert, expr } of rules.filter((rule) => rule.alert !== 'TodoBackupOld'))
    assert.equal(expr.split('{job="todo-service"').length - 1, selectorsOf(expr).length, `${alert}: ${expr}`);
});

test('every alert has a unit test in which it fires', () => {
  const fired: string[] = parse(readFileSync(UNIT_TESTS, 'utf8')).tests.flatMap(
    ({ alert_rule_test }: { alert_rule_test: AlertTest[] }) =>
      alert_rule_test.flatMap(({ alertname, exp_alerts }) =>
        exp_alerts.map(({ exp_labels }) => `${alertname} ${exp_labels.severity}`),
      ),
  );
  assert.deepEqual(new Set(fired), new Set(rules.map(({ alert, labels }) => `${alert} ${labels.severity}`)));
});

test('the page about incidents says what to do for each alert, and for no other', () => {
  const described = [...read('docs/incidents.md').matchAll(/^- (`Todo\w+`.*?): /gm)].flatMap(
    ([, head = '']) => Array.from(head.matchAll(/`(Todo\w+)`/g), ([, name]) => name),
  );
  assert.deepEqual(described, [...new Set(rules.map(({ alert }) => alert))]);
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

test('the dashboard shows every metric of docs/metrics.md, except the version that runs', () => {
  const shown = panels.map(({ expr }) => expr).join('\n');
  const documented = Array.from(
    read('docs/metrics.md').matchAll(/`((?:http|db|todo|nodejs|process)_\w+)`/g),
    ([, name = '']) => name,
  );
  assert.ok(documented.length > 15);
  for (const name of documented) assert.ok(shown.includes(name), name);
});

test('a panel about an alert shows where it fires, and leads to what to do', () => {
  const about = dashboard.panels.filter(({ links }) => links !== undefined);
  assert.ok(about.length > 10);
  for (const { title, links = [], fieldConfig, type } of about) {
    const [{ title: alert, url } = { title: '', url: '' }] = links;
    assert.match(url, /\/incidents\.md#for-each-alert$/);
    const expression = rules.find((rule) => rule.alert === alert)?.expr;
    assert.ok(expression !== undefined, `${title}: there is no alert ${alert}`);
    const limit = fieldConfig?.defaults.thresholds?.steps.at(-1)?.value;
    if (type === 'timeseries' && limit != null)
      assert.match(expression, new RegExp(` > ${limit}(?:\\n|$)`), title);
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
  return new RegExp(`^${name}=(.*)$`, 'm').exec(read('deploy/todo-service.service'))?.[1] ?? '';
}

test('the unit gives the service more time to stop than it takes by default', () => {
  assert.ok(Number(setting('TimeoutStopSec')) > 10 + 5);
});

test('the unit allows more files than the service has connections by default', () => {
  assert.ok(Number(setting('LimitNOFILE')) > 10_000);
});

test('the unit restarts after any end but wrong usage, a damaged file and faults in the configuration [D15]', () => {
  assert.equal(setting('Restart'), 'always');
  assert.deepEqual(setting('RestartPreventExitStatus').split(' '), ['2', '65', '78']);
});

test('the unit waits for a start by /live, on the admin port that it sets, and a failure of that is none', () => {
  assert.equal(setting('ExecStartPost'), '-/usr/bin/todo-service healthcheck --live');
  assert.ok(read('deploy/todo-service.service').includes('\nEnvironment=TODO_ADMIN_PORT=9090\n'));
});

test('the variables of two machines behind a proxy are sound, and give them time to stop', async () => {
  const [, section = ''] = read('docs/several-instances.md').split('## Two machines behind a proxy');
  const [, block = ''] = /<<'END'\n(.*?)\n +END\n/s.exec(section) ?? [];
  const env = Object.fromEntries(block.split('\n').map((line) => line.trim().split(/=(.*)/, 2)));
  assert.equal(Object.keys(env).length, 7);
  const { config } = await readConfig(
    {},
    { ...env, TODO_DATABASE_PASSWORD_FILE: ALERTS, TODO_ADMIN_PORT: '9090' },
  );
  const { shutdownDelaySeconds, shutdownSeconds, address, admin } = config;
  for (const each of [address, admin]) assert.partialDeepStrictEqual(each, { host: '0.0.0.0' });
  assert.ok(Number(setting('TimeoutStopSec')) > shutdownDelaySeconds + shutdownSeconds + 5);
});

test('the alert about memory comes before the unit is killed for it', () => {
  const alert = Number(/process_resident_memory_bytes\S* > (\d+)/.exec(read('deploy/alerts.yaml'))?.[1]);
  assert.ok(Number(/^(\d+)G$/.exec(setting('MemoryMax'))?.[1]) * 2 ** 30 > alert);
});

test('the proxy of the example closes idle connections before the service does', () => {
  for (const example of ['nginx.conf', 'nginx-several.conf']) {
    assert.ok(Number(/keepalive_timeout (\d+)s/.exec(read(`deploy/proxies/${example}`))?.[1]) < 75);
  }
});
