import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { nextCheckout } from '../support/next-checkout.ts';

/** The tests that make, upgrade, restore or look at schemas. */
const FILES = [
  'test/storage/{postgres-definitions,postgres-schema,postgres-schemas,postgres-start}.test.ts',
  'test/storage/{sqlite-failures,sqlite-file}.test.ts',
  'test/commands/{database,moving,restore}.test.ts',
];

/** In the names of their tests for which a schema matters: every one that knows a version has one of these words. */
const WORDS = /schema|version|migrat|check|column/;

test('the tests of schemas pass with one migration more for each engine: the next one changes no test', {
  timeout: 1_800_000,
}, async ({ signal }) => {
  await using checkout = await nextCheckout();
  const named = [`--test-name-pattern=${WORDS}`, '--test-concurrency=3'];
  // Its files would report to the runner of this one.
  const { NODE_TEST_CONTEXT: _, LEFT_OUT: __, ...env } = process.env;
  const runner = spawn('tools/test', [...named, ...FILES], {
    cwd: checkout.path,
    env,
    signal,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said, [code]] = await Promise.all([text(runner.stdout), once(runner, 'exit')]);
  assert.equal(code, 0, said);
  assert.doesNotMatch(said, /: 0 tests, /);
});
