import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { project } from '../package/npm.ts';
import { temporaryFolder } from '../support/folder.ts';

/** A source of four lines, of which a run without `all` covers two. */
const SOURCE = `if (process.argv[2] === 'all') {
  process.stdout.write('all');
}
process.exitCode = Number(process.argv[3] ?? 0);
`;

/** What comes of a project whose tests run this command. */
async function cover(command: string, ...flags: readonly string[]) {
  await using folder = await temporaryFolder();
  await folder.write('package.json', JSON.stringify({ scripts: { test: command } }));
  await mkdir(join(folder.path, 'src'));
  await folder.write('src/a.js', SOURCE);
  await symlink(join(project, 'node_modules'), join(folder.path, 'node_modules'));
  const before = await readdir(folder.path);
  const leftOut = join(folder.path, 'src/left-out');
  const { NODE_TEST_CONTEXT: _, NODE_V8_COVERAGE: __, ...inherited } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(project, 'tools/coverage.ts'), ...flags],
    {
      cwd: folder.path,
      env: { ...inherited, LEFT_OUT: leftOut },
      encoding: 'utf8',
    },
  );
  assert.deepEqual(await readdir(folder.path), before);
  const said = await readFile(leftOut, 'utf8').catch(() => '');
  return { status, stdout, stderr, said };
}

test('the figure of a run is that of its processes', async () => {
  const { status, stdout } = await cover('node src/a.js');
  assert.equal(status, 0);
  assert.match(stdout, /^Lines +: 50% \( 2\/4 \)$/m);
});

test('to hold the coverage fails below it, and not at all of it', async () => {
  assert.equal((await cover('node src/a.js all', '--hold')).status, 0);
  const { status, stderr } = await cover('node src/a.js', '--hold');
  assert.match(stderr, /ERROR: Coverage for lines \(50%\) does not meet global threshold \(98%\)/);
  assert.equal(status, 1);
});

for (const flags of [[], ['--hold']]) {
  test(`a test that fails leaves no figure, and fails ${flags.join() || 'without a flag'}`, async () => {
    const { status, stdout, stderr } = await cover('node src/a.js all 3', ...flags);
    assert.doesNotMatch(stdout, /Lines/);
    assert.match(stderr, /^There is no figure: a test failed\.$/m);
    assert.equal(status, 3);
  });
}

test('where a test is skipped the coverage is not held, and what was skipped is said', async () => {
  const { status, stdout, said } = await cover(
    'echo "skipped: b: needs a thing" >>"$LEFT_OUT" && node src/a.js',
    '--hold',
  );
  assert.match(stdout, /^The coverage is not held:\nskipped: b: needs a thing\n/m);
  assert.equal(said, 'skipped: b: needs a thing\n');
  assert.equal(status, 0);
});
