import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { startAnother } from '../specification/another-implementation.ts';
import { install, pack, programsOf, project } from './npm.ts';
import { run } from './program.ts';

test('the package todo-conformance runs where nothing else is installed', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'todo-conformance-'));
  t.after(() => rm(folder, { recursive: true }));
  const { tarball, files } = await pack(folder, join(project, 'conformance'));
  assert.deepEqual(
    files.filter(({ path }) => !/^(?:package\.json|README\.md|LICENSE|dist\/.+\.js)$/.test(path)),
    [],
  );
  await install(folder, tarball);
  await using another = await startAnother('error-demo');
  const flags = ['--base-url', another.url, '--profile', 'error-demo', '--only', 'spec'];
  const place = { cwd: folder, env: programsOf(dirname(process.execPath)) };
  const { code, stdout, stderr } = await run(join('node_modules', '.bin', 'todo-conformance'), flags, place);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, /^ℹ fail 0$/m);
});
