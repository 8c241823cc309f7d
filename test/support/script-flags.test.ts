import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

for (const [program, name, words] of [
  ['test/endurance/attack/run.ts', 'seconds', ['many', '-1', '']],
  ['bench/compare.ts', 'clients', ['many']],
  ['test/http/fuzzing.ts', 'requests', ['many']],
] as const) {
  const path = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  const run = (...args: string[]) => spawnSync(process.execPath, [path, ...args], { encoding: 'utf8' });

  test(`${program} explains itself`, () => {
    const { status, stdout, stderr } = run('--help');
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^Usage: node /);
  });

  test(`${program} refuses a number that is none, and runs nothing`, () => {
    for (const word of words) {
      const { status, stdout, stderr } = run(`--${name}=${word}`);
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(stderr, new RegExp(`^--${name} must be a number from 0\n\nUsage: node `));
    }
  });
}
