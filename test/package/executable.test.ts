import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { commitOf } from '../../tools/origin.ts';
import { staysClosedAtSigusr1 } from '../lifecycle/sigusr1.ts';
import { type Folder, temporaryFolder } from '../support/folder.ts';
import { plainEnvironment, project } from './npm.ts';
import { run, serve } from './program.ts';
import { servesAsInstalled, type Way } from './ways.ts';

describe('The executable', () => {
  const program = join(project, 'build', 'todo-service');
  let folder: Folder;
  let way: Way;

  before(async () => {
    folder = await temporaryFolder();
    // Nothing is on the path: no Node.js, no shell.
    const place = { cwd: folder.path, env: { PATH: '/nonexistent' } };
    way = {
      folder: folder.path,
      serve: (env) => serve(program, ['serve', '--port', '0'], { ...place, env: { ...place.env, ...env } }),
      run: (args, env) => run(program, args, { ...place, env: { ...place.env, ...env } }),
      keepSecret: (content) => folder.write('secret', content),
    };
  });
  after(() => folder[Symbol.asyncDispose]());

  servesAsInstalled(() => way);

  test('names its version and commit', async () => {
    const { stdout } = await way.run(['--version']);
    const commit = commitOf(project);
    assert.equal(stdout, `${manifest.version}${commit === null ? '' : ` (commit ${commit})`}\n`);
  });

  test('opens no debugger at SIGUSR1 [D15]', () => staysClosedAtSigusr1((env) => way.serve(env)));

  test('shows the document and the reference page in development', async () => {
    await using service = await way.serve({ TODO_ENVIRONMENT: 'development', TODO_PROFILE: 'error-demo' });
    const document = await (await fetch(`${service.baseUrl}/openapi/v1.json`)).text();
    assert.match(document, /"openapi": "3\.1\./);
    const page = await fetch(`${service.baseUrl}/scalar`);
    const src = / src="([^"]+)"/.exec(await page.text())?.[1] ?? '';
    const script = await fetch(new URL(src, page.url));
    assert.ok((await script.bytes()).length > 1_000_000);
  });

  test('is the same file when it is built again', async () => {
    const sum = async () =>
      createHash('sha256')
        .update(await readFile(program))
        .digest('hex');
    const first = await sum();
    await run('npm', ['run', 'executable'], { cwd: project, env: plainEnvironment });
    assert.equal(await sum(), first);
  });

  test('makes and verifies development tokens', async () => {
    const { stdout: token } = await way.run(['token', 'create', '--name', 'ada']);
    const words = ['token', 'verify', '--environment', 'development', token.trim()];
    assert.equal((await way.run(words)).code, 0);
  });

  test('has the completions of its commands beside it, for three shells', async () => {
    for (const file of ['bash/todo-service', 'zsh/_todo-service', 'fish/todo-service.fish']) {
      const text = await readFile(join(project, 'build/completions', file), 'utf8');
      for (const word of ['healthcheck', 'rename', 'no-migrate', 'error-demo'])
        assert.ok(text.includes(word), word);
    }
  });

  test('has the licenses of its parts beside it', async () => {
    const licenses = await readFile(join(project, 'build', 'LICENSES.txt'), 'utf8');
    for (const part of ['todo-service', 'node-', 'lru-cache', 'pg', 'prom-client', 'pino']) {
      assert.match(licenses, new RegExp(`^${part}[^ ]* \\d+\\.\\d+\\.\\d+ \\(`, 'm'), part);
    }
  });
});
