import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proxies } from '../operations/proxies.ts';
import { restartBehind } from '../operations/restart-behind.ts';

for (const [name, start, skip] of proxies) {
  test(`clients of ${name}, whose creates have keys, do not notice that the only instance is restarted`, {
    skip,
  }, async () => {
    const { failures, notOnce } = await restartBehind(start, 2);
    assert.deepEqual({ failures, notOnce }, { failures: {}, notOnce: 0 });
  });
}
