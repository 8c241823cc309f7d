import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../folder.ts';
import { authVariables, startService } from '../start.ts';
import { installAlone, pack, programsOf, project } from './npm.ts';
import { run } from './program.ts';

test('the package todo-conformance holds the service to both profiles, alone in its folder', async () => {
  await using owned = await temporaryFolder();
  const folder = owned.path;
  const { tarball, files } = await pack(folder, join(project, 'conformance'));
  assert.deepEqual(
    files.filter(({ path }) => !/^(?:package\.json|README\.md|LICENSE|dist\/.+\.js)$/.test(path)),
    [],
  );
  await installAlone(folder, tarball);
  const place = { cwd: folder, env: programsOf(dirname(process.execPath)) };
  const program = join('node_modules', '.bin', 'todo-conformance');
  const help = await run(program, ['--help'], place);
  assert.deepEqual([help.code, help.stderr], [0, '']);
  assert.match(help.stdout, /^Usage: todo-conformance --base-url URL /);

  const auth = { issuer: 'https://issuer.test', audience: 'todos', secret: randomBytes(64) };
  const { TODO_AUTH_SECRET_FILE: file = '' } = await authVariables(auth, folder);
  const claims = ['--secret-file', file, '--issuer', auth.issuer, '--audience', auth.audience];
  for (const [profile, flags] of [
    ['error-demo', []],
    ['shared-list', claims],
  ] as const) {
    await using service = await startService({ profile, auth });
    const words = ['--base-url', service.baseUrl, '--profile', profile, '--fresh', ...flags];
    const { code, stdout, stderr } = await run(program, words, place);
    assert.equal(code, 0, stdout + stderr);
    assert.match(stdout, /^ℹ pass [1-9]\d*$/m);
    assert.match(stdout, /^ℹ fail 0$/m);
  }
});
