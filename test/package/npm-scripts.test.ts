import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFolder } from '../support/folder.ts';
import { plainEnvironment, project } from './npm.ts';
import { run, serve } from './program.ts';

const place = { cwd: project, env: plainEnvironment };

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`"npm start" takes more flags, and ${signal} to npm ends the service with exit code 0`, async () => {
    const flags = ['--profile', 'error-demo', '--environment', 'production', '--port', '0'];
    await using service = await serve('npm', ['start', '--', ...flags], place);
    const page = await fetch(`${service.baseUrl}/scalar`);
    assert.equal(page.status, 404, 'the later --environment counts');
    assert.equal((await fetch(`${service.baseUrl}/todos/1`)).status, 200);

    assert.equal(await service.stop(signal), 0, service.stdout());
    assert.match(service.stdout(), /stopped/);
  });
}

test('"npm start" gives back the exit code of a start that fails', async () => {
  const { code, stderr } = await run('npm', ['start', '--', '--port', 'eighty'], place);
  assert.match(stderr, /--port must be a whole number from 0 to 65535, received "eighty"/);
  assert.equal(code, 78);
});

test('"npm run -s token" prints a token and nothing else, which the service accepts', async () => {
  await using folder = await temporaryFolder();
  const env = { ...plainEnvironment, TODO_DATA_DIR: folder.path };
  const words = ['run', '-s', 'token', '--', '--name', 'ada', '--role', 'editor'];
  const created = await run('npm', words, { cwd: project, env });
  assert.match(created.stdout, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);

  const verify = ['src/start.js', 'token', 'verify', '--environment', 'development', created.stdout.trim()];
  const verified = await run('tools/runtime/node', verify, { cwd: project, env });
  assert.match(verified.stdout, /accepted/);
  assert.equal(verified.code, 0);
});
