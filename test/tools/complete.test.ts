import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { project } from '../package/npm.ts';
import { temporaryFolder } from '../support/folder.ts';

/** Runs `.ci/run` with these steps in the place of its own. */
async function check(steps: string, env: Readonly<Record<string, string>> = {}) {
  await using folder = await temporaryFolder();
  const text = await readFile(join(project, '.ci/run'), 'utf8');
  const script = join(folder.path, '.ci/run');
  await mkdir(join(folder.path, '.ci'));
  await writeFile(script, text.replace(/^step 'install[\s\S]*?(?=^printf)/m, `${steps}\n`));
  await chmod(script, 0o755);
  const { LEFT_OUT: _, NODE_TEST_CONTEXT: __, CI_COMPLETE: ___, ...inherited } = process.env;
  const { status, stdout, stderr } = spawnSync(script, { env: { ...inherited, ...env }, encoding: 'utf8' });
  return { status, last: stdout.trim().split('\n').at(-1), stderr };
}

const skips = (name: string) => `echo "skipped: ${name}: needs a thing" >>"$LEFT_OUT"`;
const INCOMPLETE = `part a 'left_out "a thing"' '${skips('b')}'; part c '${skips('b')}' '${skips('d')}'`;

test('the last line says how many steps were left out and how many tests were skipped', async () => {
  const { status, last } = await check(INCOMPLETE);
  assert.match(last ?? '', /^Passed in \d+ s\. Left out: 1 steps; skipped: 2 tests\.$/);
  assert.equal(status, 0);
  assert.match((await check("part a 'true'")).last ?? '', / Left out: 0 steps; skipped: 0 tests\.$/);
});

for (const [what, steps, line] of [
  ['a step that is left out', `part a 'left_out "a thing"'`, 'left out: a thing'],
  ['a test that is skipped', `part a '${skips('b')}'`, 'skipped: b: needs a thing'],
] as const) {
  test(`CI_COMPLETE=1 makes a failure of ${what}`, async () => {
    const { status, stderr } = await check(steps, { CI_COMPLETE: '1' });
    assert.equal(stderr, `\nCI_COMPLETE=1 admits none of these:\n${line}\n`);
    assert.equal(status, 1);
  });
}

test('CI_COMPLETE=1 passes where nothing is left out', async () => {
  assert.equal((await check("part a 'true'", { CI_COMPLETE: '1' })).status, 0);
});

test('a test and a suite that are skipped for a reason are lines of the file of LEFT_OUT, and one that fails still fails', async () => {
  await using folder = await temporaryFolder();
  const leftOut = await folder.write('left-out', '');
  const file = await folder.write(
    'skips.test.mjs',
    `import { describe, test } from 'node:test';
     test('a', { skip: 'needs a' }, () => {});
     describe('b', { skip: 'needs b' }, () => {});
     test('c', (t) => t.skip('needs c'));
     test('d', { skip: false }, () => {});
     test('f', { skip: true }, () => {});
     test('e', () => { throw new Error('no'); });`,
  );
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const args = ['--test-reporter=./test/support/report.ts', '--test', file];
  const env = { ...inherited, LEFT_OUT: leftOut };
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: project, env, encoding: 'utf8' });
  assert.equal(
    await readFile(leftOut, 'utf8'),
    'skipped: a: needs a\nskipped: b: needs b\nskipped: c: needs c\n',
  );
  assert.match(stdout, /^ℹ fail 1$/m);
  assert.equal(status, 1);
});
