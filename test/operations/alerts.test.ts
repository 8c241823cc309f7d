import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { openMetrics } from '../../src/observe/metrics.ts';
import { parseExposition } from './prometheus.ts';

const read = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');

const rules = [...read('alerts.yaml').matchAll(/- alert: (\w+)\n +expr: (.+)\n/g)].map(([, name, expr]) => ({
  name: String(name),
  expr: String(expr),
}));

/** Names in an expression that are neither words of PromQL nor labels. */
function metricsOf(expr: string): string[] {
  const bare = expr.replace(/\{[^}]*\}/g, '').replace(/\bby \([^)]*\)/g, '');
  const words = bare.match(/[a-z_]\w*(?!\w*\()/gi) ?? [];
  return words.filter((word) => !/^(?:sum|by|unless|and|or|[smhd])$/.test(word));
}

async function exposed() {
  using metrics = openMetrics({ version: '0', profile: 'shared-list', databaseSystem: 'postgresql' });
  metrics.watchLog({ dropped: 0 });
  metrics.watchReadiness(async () => true);
  metrics.watchConnections(() => ({ used: 0, idle: 0, waiting: 0 }));
  metrics.watchWriteAheadLog('none');
  return parseExposition((await metrics.read()).text).types;
}

test('every alert is built from metrics that the service has', async () => {
  const types = await exposed();
  assert.ok(rules.length >= 15);
  for (const { name, expr } of rules) {
    for (const metric of metricsOf(expr).filter((word) => word !== 'up')) {
      const family = metric.replace(/_(?:bucket|count)$/, '');
      assert.ok(types.has(metric) || types.get(family) === 'histogram', `${name} asks for ${metric}`);
    }
  }
});

test('every alert asks for at least one metric, and for labels that it has', async () => {
  const labels = new Set(['job', 'http_response_status_code', 'error_type', 'outcome', 'code']);
  for (const { name, expr } of rules) {
    assert.ok(metricsOf(expr).length > 0, name);
    for (const [, label] of expr.matchAll(/[{,](\w+)[=!]/g)) assert.ok(labels.has(String(label)), name);
  }
});

test('the operations page says what to do for each alert, and for no other', () => {
  const described = [...read('operations.md').matchAll(/^\| `(Todo\w+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(
    described,
    rules.map(({ name }) => name),
  );
});
