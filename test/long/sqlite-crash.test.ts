import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crash } from '../storage/crash.ts';
import { crashRepeats } from '../storage/crash-repeats.ts';
import { temporaryFolder } from '../support/folder.ts';

test('after kill -9 under eight writers, every acknowledged write is there once, and nothing that nobody asked for', async () => {
  await using folder = await temporaryFolder();
  const { acknowledged, faults } = await crash({ dataDir: folder.path, cycles: 3, seed: 1 });
  assert.deepEqual(faults, []);
  assert.ok(acknowledged > 0);
});

test('after kill -9 at any moment, every create that is repeated has made one todo [I1]', async () => {
  await using folder = await temporaryFolder();
  const figures = await crashRepeats({ instances: 1, dataDir: folder.path, cycles: 3, seed: 1 });
  assert.deepEqual(figures.faults, []);
  assert.ok(figures.unanswered > 0);
});
