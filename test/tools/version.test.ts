import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import runtime from '../../tools/runtime/package.json' with { type: 'json' };
import { copyCheckout, project } from '../package/npm.ts';
import { temporaryFolder } from '../support/folder.ts';

await using copy = await temporaryFolder();

/** Makes a copy of the checkout. */
function copyOfCheckout(): string {
  const folder = mkdtempSync(join(copy.path, 'checkout-'));
  copyCheckout(folder);
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Runs the tool in a checkout. */
function setVersion(folder: string, ...words: readonly string[]) {
  const tool = join(folder, 'tools/release/version.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [tool, ...words], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

test('set-version leaves no page and no manifest with the old version, and each knows the repository', () => {
  const folder = copyOfCheckout();
  const { status, stdout } = setVersion(folder, '98.76.5', '--repository', 'acme/todo-list');
  assert.equal(status, 0);
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const found = spawnSync(
    'grep',
    [
      '-rlF',
      '--exclude-dir=node_modules',
      '--exclude-dir=findings',
      '--exclude=*lock.json',
      '--exclude=go.sum',
      manifest.version,
      '.',
    ],
    { cwd: folder, encoding: 'utf8' },
  );
  assert.deepEqual(found.stdout, '');
  assert.match(read('CHANGELOG.md'), /^## \[98\.76\.5\] - \d{4}-\d\d-\d\d\n\n### /m);
  assert.equal(JSON.parse(read('package-lock.json')).packages['packages/client'].version, '98.76.5');
  for (const file of ['package.json', 'packages/client/package.json', 'packages/conformance/package.json']) {
    const { version, repository, bugs } = JSON.parse(read(file));
    assert.equal(version, '98.76.5');
    assert.equal(repository.url, 'git+https://github.com/acme/todo-list.git');
    assert.equal(bugs, 'https://github.com/acme/todo-list/issues');
  }
  for (const file of ['docs/installation.md', 'deploy/dashboard.json']) {
    assert.ok(stdout.split('\n').includes(file), file);
    assert.doesNotMatch(read(file), /OWNER\/REPOSITORY/);
  }
});

const unchanged = copyOfCheckout();
const times = () =>
  readdirSync(unchanged, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('node_modules'))
    .map((name) => [name, lstatSync(join(unchanged, name)).mtimeMs]);
const before = times();

for (const words of [[], ['1.2'], ['v1.2.3'], ['1.2.3', '--repository', 'todo']]) {
  test(`set-version ${words.join(' ')} is refused and changes nothing`, () => {
    const { status, stdout, stderr } = setVersion(unchanged, ...words);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, /Usage: node tools\/release\/version.ts VERSION/);
    assert.deepEqual(times(), before);
  });
}

test('the Node.js of .nvmrc is the one that is pinned for Linux, which releases contain', () => {
  const pinned = Object.entries(runtime.optionalDependencies).filter(([name]) =>
    name.startsWith('node-linux-'),
  );
  assert.deepEqual(
    [...new Set(pinned.map(([, version]) => version))],
    [readFileSync(join(project, '.nvmrc'), 'utf8').trim()],
  );
});
