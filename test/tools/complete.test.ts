import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { project } from '../package/npm.ts';
import { temporaryFolder } from '../support/folder.ts';

/** A machine whose `apt-get` writes down what it is told to install, and puts each package as a file into `there/`. */
const PROGRAMS = {
  'apt-get': `while [ $# -gt 0 ] && [ "$1" != install ]; do shift; done
    for package; do case $package in install | -*) ;; *) : >"there/$package"; echo "installed $package" ;; esac; done`,
  sudo: 'shift; exec "$@"',
};

/** Runs `.ci/run` with these parts, a to d, in the place of its own. */
async function check(steps: string, env: Readonly<Record<string, string>> = {}) {
  await using folder = await temporaryFolder();
  const text = await readFile(join(project, '.ci/run'), 'utf8');
  for (const name of ['.ci', 'there']) await mkdir(join(folder.path, name));
  const own = text.replace(/^if \[ \$# -gt 0 \][\s\S]*?(?=^printf)/m, `parts=' a b c d '; ${steps}\n`);
  const script = await folder.write('.ci/run', own);
  for (const [name, lines] of Object.entries(PROGRAMS)) await folder.write(name, `#!/bin/sh\n${lines}\n`);
  for (const name of ['.ci/run', ...Object.keys(PROGRAMS)]) await chmod(join(folder.path, name), 0o755);
  const { LEFT_OUT, NODE_TEST_CONTEXT, CI, CI_INSTALL, CI_COMPLETE, ...inherited } = process.env;
  const PATH = `${folder.path}:${inherited.PATH}`;
  const { status, stdout, stderr } = spawnSync(script, {
    env: { ...inherited, PATH, ...env },
    encoding: 'utf8',
  });
  return { status, stdout, last: stdout.trim().split('\n').at(-1), stderr };
}

const skips = (name: string) => `echo "skipped: ${name}: needs a thing" >>"$LEFT_OUT"`;
const INCOMPLETE = `part a 'left_out "a thing"' '${skips('b')}'; part c '${skips('b')}' '${skips('d')}'`;

test('the last line says how many things were left out and how many tests were skipped', async () => {
  const { status, last } = await check(INCOMPLETE);
  assert.match(last ?? '', /^Passed in \d+ s\. Left out: 1; skipped: 2 tests\.$/);
  assert.equal(status, 0);
  assert.match((await check("part a 'true'")).last ?? '', / Left out: 0; skipped: 0 tests\.$/);
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

const NEEDS = `part a 'need sh there/x:x there/y:y && echo done' ; part b 'need there/x:x; true'`;

for (const env of [{ CI: 'true' }, { CI_INSTALL: '1' }]) {
  test(`with ${Object.entries(env).join().replace(',', '=')} .ci/run installs the packages that a step needs and that are missing`, async () => {
    const { status, stdout } = await check(NEEDS, env);
    assert.match(stdout, /^installed x\ninstalled y\ndone\n<== .*<== .*Left out: 0;/ms);
    assert.equal(stdout.match(/installed /g)?.length, 2);
    assert.equal(status, 0);
  });
}

for (const [first, second, heard, status] of [
  ['true', 'true', 'one two', 0],
  ['exit 3', 'true', 'one', 3],
  ['true', 'exit 3', 'one two', 3],
] as const) {
  test(`of two commands that run at once, "${first}" and "${second}", ${heard} is heard in this order, and the end is ${status}`, async () => {
    // Each waits for the other one.
    const { stdout, ...run } = await check(`
      one() { part a 'until [ -e there/b ]; do sleep 0.1; done; echo one; : >there/a; ${first}'; }
      two() { part b ': >there/b; echo two; until [ -e there/a ]; do sleep 0.1; done; ${second}'; }
      beside one two`);
    assert.equal(stdout.match(/^(?:one|two)$/gm)?.join(' '), heard);
    assert.equal(run.status, status);
    assert.equal(/^Passed in/m.test(stdout), status === 0);
  });
}

test('on a machine of somebody .ci/run installs nothing, and says what is missing and the command', async () => {
  const { status, stdout, last } = await check(`part a 'need sh there/x:x there/y:y || echo without'`);
  assert.match(
    stdout,
    /^CI_INSTALL=1 runs this, and so can you: sudo apt-get install --no-install-recommends x y\nLeft out: what needs x y, of Debian or its kin\.\nwithout\n/m,
  );
  assert.match(last ?? '', /Left out: 1; skipped: 0 tests\.$/);
  assert.equal(status, 0);
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
