import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noHaproxy, noNginx, startHaproxy, startNginx } from '../operations/proxies.ts';
import { restartBehind } from '../operations/restart-behind.ts';

test('clients of HAProxy do not notice that the only instance is restarted', {
  skip: noHaproxy(),
}, async () => {
  const { failures, notOnce } = await restartBehind(startHaproxy, 2);
  assert.deepEqual({ failures, notOnce }, { failures: {}, notOnce: 0 });
});

test('clients of nginx do not notice that the only instance is restarted', { skip: noNginx() }, async () => {
  const { failures, notOnce } = await restartBehind(startNginx, 2);
  assert.deepEqual({ failures, notOnce }, { failures: {}, notOnce: 0 });
});
