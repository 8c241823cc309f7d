import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { nextCheckout } from '../support/next-checkout.ts';

/** The tests that make, upgrade, restore or look at schemas. */
const FILES = [
  'test/storage/{postgres-definitions,postgres-schema,postgres-schemas,postgres-start}.test.ts',
  'test/storage/{sqlite-file,sqlite-trouble}.test.ts',
  'test/commands/{database,moving,restore}.test.ts',
];

test('the tests of schemas pass with one migration more for each engine: the next one changes no test', {
  timeout: 1_800_000,
}, async ({ signal }) => {
  await using checkout = await nextCheckout();
  const flags = ['--require', './test/support/preload.ts', '--test-reporter=./test/support/report.ts'];
  // Its files would report to the runner of this one.
  const { NODE_TEST_CONTEXT: _, LEFT_OUT: __, ...env } = process.env;
  const runner = spawn(process.execPath, [...flags, '--test', '--test-concurrency=3', ...FILES], {
    cwd: checkout.path,
    env,
    signal,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said, [code]] = await Promise.all([text(runner.stdout), once(runner, 'exit')]);
  assert.equal(code, 0, said);
});
