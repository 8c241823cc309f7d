import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import dashboard from '../../docs/dashboard.json' with { type: 'json' };
import { temporaryFolder } from '../folder.ts';
import { exposedMetrics } from './exposed.ts';
import { groupedBy, selectorsOf } from './promql.ts';
import { noPromtool, promtool } from './promtool.ts';

/** What Grafana puts in the place of its variables. */
const expressions = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr, legendFormat }) => ({
    title,
    legendFormat,
    expr: expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', 'a|b'),
  })),
);

test('Prometheus takes every expression of the dashboard', { skip: noPromtool() }, async () => {
  await using folder = await temporaryFolder();
  const rules = expressions.map(({ expr }, index) => ({ record: `panel:${index}`, expr }));
  const file = join(folder.path, 'rules.json');
  await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  const { status, output } = promtool(['check', 'rules', file]);
  assert.equal(status, 0, output);
  assert.match(output, new RegExp(`${rules.length} rules found`));
});

test('the dashboard asks for metrics and labels that the service has', async () => {
  const metrics = await exposedMetrics();
  assert.ok(expressions.length > 30);
  for (const { title, expr, legendFormat } of expressions) {
    const selectors = selectorsOf(expr);
    assert.ok(selectors.length > 0, title);
    const named = Array.from(legendFormat.matchAll(/\{\{(\w+)\}\}/g), ([, label = '']) => label);
    for (const { metric, labels } of selectors) {
      const known = metrics.get(metric);
      assert.ok(known !== undefined, `${title} asks for ${metric}`);
      for (const label of [...labels, ...groupedBy(expr), ...named])
        assert.ok(known.has(label), `${title}: ${metric} has no ${label}`);
    }
  }
});

test('a curve is named by labels that its expression keeps', () => {
  for (const { title, expr, legendFormat } of expressions) {
    const kept = groupedBy(expr);
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
      assert.ok(kept.includes(label) || !/\b(?:sum|histogram_quantile)\b/.test(expr), `${title}: ${label}`);
    }
  }
});

test('the dashboard shows every metric of the operations page, except the version that runs', () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const section = page.slice(page.indexOf('## What to watch'), page.indexOf('## Traces'));
  const shown = expressions.map(({ expr }) => expr).join('\n');
  const documented = Array.from(
    section.matchAll(/`((?:http|db|todo|nodejs|process|v8js)_\w+)`/g),
    ([, name = '']) => name,
  );
  assert.ok(documented.length > 15);
  for (const name of documented.filter((one) => one !== 'nodejs_eventloop_delay_mean_seconds'))
    assert.ok(shown.includes(name), name);
});

test('a panel about an alert shows where it fires, and leads to what to do', () => {
  const alerts = readFileSync(new URL('../../docs/alerts.yaml', import.meta.url), 'utf8');
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
