import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crash } from './crash.ts';
import { temporaryFolder } from './folder.ts';

test('after kill -9 under eight writers, every acknowledged write is there once, and nothing that nobody asked for', async () => {
  await using folder = await temporaryFolder();
  const { acknowledged, faults } = await crash({ dataDir: folder.path, cycles: 3, seed: 1 });
  assert.deepEqual(faults, []);
  assert.ok(acknowledged > 0);
});
