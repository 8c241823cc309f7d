import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { temporaryFolder } from '../folder.ts';
import { exposedMetrics } from './exposed.ts';
import { groupedBy, selectorsOf } from './promql.ts';
import { noPromtool, promtool } from './promtool.ts';

const skip = noPromtool();

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

const ALERTS = fileURLToPath(new URL('../../docs/alerts.yaml', import.meta.url));
const UNIT_TESTS = fileURLToPath(new URL('alerts.promtool.yaml', import.meta.url));

const rules = [...read('alerts.yaml').matchAll(/- alert: (\w+)\n +expr: (.+)\n/g)].map(([, name, expr]) => ({
  name: String(name),
  expr: String(expr),
}));

/** The same series, of a program that is not this service. */
function foreignOf(series: string): string {
  const other = series.replace(/job="[^"]*",instance="[^"]*"/, 'job="other",instance="foreign"');
  assert.notEqual(other, series);
  return other;
}

test('every alert is built from metrics and labels that the service has', async () => {
  const metrics = await exposedMetrics();
  assert.ok(rules.length >= 15);
  for (const { name, expr } of rules) {
    const selectors = selectorsOf(expr);
    assert.ok(selectors.length > 0, name);
    for (const { metric, labels } of selectors) {
      const known = metrics.get(metric);
      assert.ok(known !== undefined, `${name} asks for ${metric}`);
      for (const label of [...labels, ...groupedBy(expr)])
        assert.ok(known.has(label), `${name}: ${metric} has no ${label}`);
    }
  }
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
