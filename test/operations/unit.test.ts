import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const unit = readFileSync(new URL('../../docs/todo-service.service', import.meta.url), 'utf8');
const nginx = readFileSync(new URL('../../docs/proxies/nginx.conf', import.meta.url), 'utf8');

function setting(name: string): string {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
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
  const alerts = readFileSync(new URL('../../docs/alerts.yaml', import.meta.url), 'utf8');
  const alert = Number(/process_memory_usage_bytes\S* > (\d+)/.exec(alerts)?.[1]);
  assert.ok(Number(/^(\d+)G$/.exec(setting('MemoryMax'))?.[1]) * 2 ** 30 > alert);
});

test('the proxy of the example closes idle connections before the service does', () => {
  assert.ok(Number(/keepalive_timeout (\d+)s/.exec(nginx)?.[1]) < 75);
});
