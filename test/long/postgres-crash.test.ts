import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashRepeats } from '../storage/crash-repeats.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { temporaryFolder } from '../support/folder.ts';

const server = await PostgresServer.startForAll();

test('when one of two instances is killed at any moment, every create that is repeated with the other has made one todo [I1]', async () => {
  await using folder = await temporaryFolder();
  const env = { TODO_DATABASE: await server.makeDatabase() };
  const figures = await crashRepeats({ instances: 2, dataDir: folder.path, cycles: 2, seed: 1, env });
  assert.deepEqual(figures.faults, []);
  assert.ok(figures.unanswered > 0);
});
