import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

for (const program of ['stops.ts', 'fuzzing.ts']) {
  test(`${program} never runs for nothing: a word that is no count is wrong usage`, () => {
    const path = fileURLToPath(new URL(program, import.meta.url));
    for (const word of ['--help', '0', 'many']) {
      const { status, stdout, stderr } = spawnSync(process.execPath, [path, word], { encoding: 'utf8' });
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(stderr, /^Usage: npm run /);
    }
  });
}
