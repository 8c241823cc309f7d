import assert from 'node:assert/strict';
import { relative } from 'node:path';
import { test } from 'node:test';
import { runTests } from './inner-run.ts';

const FILES = {
  first: `import { describe, test } from 'node:test';
    describe('a suite', () => { test('good', () => {}); test('bad', () => { throw new Error('whole\\nmessage'); }); });
    test('left out', { skip: 'needs a thing' }, () => {});`,
  second: `import { test } from 'node:test'; console.log('said'); test('fine', () => {});`,
  third: 'process.exit(3);',
};

/** Without times, stacks and the folder. */
function plainly({ stdout, folder }: { readonly stdout: string; readonly folder: string }): string {
  return stdout
    .replaceAll(relative('', folder), 'FOLDER')
    .replaceAll(folder, 'FOLDER')
    .replaceAll(/^ +at .*\n/gm, '')
    .replaceAll(/\d+\.\d+/g, 'N');
}

test('a run shows one line for each file, then what was printed, each failure as a whole, and the sums', async () => {
  const run = await runTests(FILES, { flags: ['--test-concurrency=1'] });
  assert.equal(
    plainly(run),
    `✖ FOLDER/first.test.mjs: 3 tests, N s, N s of processor time
✔ FOLDER/second.test.mjs: 1 tests, N s, N s of processor time
✖ FOLDER/third.test.mjs: 0 tests, N s, N s of processor time

FOLDER/second.test.mjs printed:
said

✖ bad
FOLDER/first.test.mjs:2
Error: whole
message

✖ FOLDER/third.test.mjs
FOLDER/third.test.mjs:1
The process ended with 3

ℹ tests 5
ℹ suites 1
ℹ pass 2
ℹ fail 2
ℹ cancelled 0
ℹ skipped 1
ℹ todo 0
ℹ duration_ms N
`,
  );
  assert.equal(run.code, 1);
});

test('TITLES=1 shows every title', async () => {
  const { stdout } = await runTests({ second: FILES.second }, { env: { TITLES: '1' } });
  assert.match(stdout, /^✔ fine \(/m);
  assert.match(stdout, /^ℹ tests 1$/m);
});
