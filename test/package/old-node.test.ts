import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import conformance from '../../conformance/package.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };
import { install, installNode, pack, programsOf, project } from './npm.ts';
import { run, type Surroundings } from './program.ts';

describe('With a Node.js that is too old', () => {
  let folder = '';
  let place: Surroundings;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'todo-service-old-node-'));
    place = { cwd: project, env: programsOf(await installNode(folder, 'tooOld')) };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('the program says one sentence and ends', async () => {
    const { code, stdout, stderr } = await run('node', ['src/start.js'], place);
    assert.match(
      stderr,
      /^Cannot start: todo-service needs Node\.js 24\.15 or later, received v20\.[\d.]+\n$/,
    );
    assert.equal(stdout, '');
    assert.equal(code, 69);
  });

  test('todo-conformance says one sentence, and asks no service', async () => {
    const { tarball } = await pack(folder, join(project, 'conformance'));
    await install(folder, tarball);
    const program = join(folder, 'node_modules', '.bin', 'todo-conformance');
    const flags = ['--base-url', 'http://127.0.0.1:9', '--profile', 'error-demo'];
    const { code, stdout, stderr } = await run(program, flags, place);
    assert.match(
      stderr,
      /^Cannot test: todo-conformance needs Node\.js 22\.12 or later, received v20\.[\d.]+\n$/,
    );
    assert.equal(stdout, '');
    assert.equal(code, 69);
    assert.equal(conformance.engines.node, '>=22.12.0');
  });

  // Run without npm, because npm 11 puts the pinned Node.js first on the path and npm 10 does not.
  test('an npm script runs the pinned one', async () => {
    const flags = `--name ada --data-dir '${join(folder, 'data')}'`;
    const { code, stdout, stderr } = await run('sh', ['-c', `${manifest.scripts.token} ${flags}`], place);
    assert.match(stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/, stderr);
    assert.equal(code, 0);
  });
});
