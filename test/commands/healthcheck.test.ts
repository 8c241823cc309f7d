import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { createServer as createSocketServer, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { listen } from '../support/folder.ts';
import { preloading, runProgram, startService } from '../support/start.ts';

const healthcheck = (env: Readonly<Record<string, string>>, ...flags: readonly string[]) =>
  runProgram(['healthcheck', ...flags], { env });

/** For one that waits as long as a busy machine needs. */
const patient = preloading(
  'AbortSignal.timeout = () => new AbortController().signal; performance.now = () => 0;',
);

/** The interface that has it; undefined on a machine, or in a container, without IPv6. */
const loopback = Object.entries(networkInterfaces()).find(([, addresses]) =>
  addresses?.some(({ address }) => address === '::1'),
)?.[0];

for (const host of ['127.0.0.1', '0.0.0.0', '::1', '::', `::1%${loopback}`]) {
  test(`healthcheck is silent and 0 when the service is ready, with its admin listener on ${host}`, {
    skip: isIPv6(host) && loopback === undefined && 'needs IPv6',
  }, async () => {
    const admin = { TODO_ADMIN_HOST: host, TODO_ADMIN_PORT: '0' };
    await using service = await startService({ profile: 'error-demo', env: admin });
    const { port } = new URL(service.adminUrl);
    const asked = await healthcheck({ ...admin, ...patient, TODO_ADMIN_PORT: port });
    assert.deepEqual(asked, { code: 0, stdout: '', stderr: '' });
  });
}

test('healthcheck is 1, with the reason, when the service is not ready', async () => {
  const server = createServer((_request, response) => response.writeHead(503).end('{"detail":"starting"}'));
  const { code, stderr } = await healthcheck({ ...patient, TODO_ADMIN_PORT: String(await listen(server)) });
  server.close();
  assert.deepEqual({ code, stderr }, { code: 1, stderr: 'Not ready: {"detail":"starting"}\n' });
});

test('healthcheck asks directly, whatever variables say of proxies [D23]', async () => {
  const server = createServer((_request, response) => response.end());
  const nowhere = 'http://127.0.0.1:1';
  const { code, stderr } = await healthcheck({
    ...patient,
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: nowhere,
    http_proxy: nowhere,
    HTTPS_PROXY: nowhere,
    NO_PROXY: '',
    no_proxy: '',
    TODO_ADMIN_PORT: String(await listen(server)),
  });
  server.close();
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
});

test('healthcheck is 1 when nobody answers', async () => {
  const silent = createSocketServer();
  const waited = await healthcheck({ TODO_ADMIN_PORT: String(await listen(silent)) });
  silent.close();
  assert.equal(waited.code, 1);
  assert.match(waited.stderr, /^Not ready: http:\/\/127\.0\.0\.1:\d+\/ready does not answer: .*\n$/);

  const refused = await healthcheck({ TODO_ADMIN_PORT: '1' });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /ECONNREFUSED/);
});

test('healthcheck is 78 where there is no admin listener, or none whose port is known', async () => {
  for (const [env, received] of [
    [{}, 'nothing: there is no admin listener'],
    [{ TODO_ADMIN_PORT: '' }, 'nothing: there is no admin listener'],
    [{ TODO_ADMIN_PORT: '0' }, '"0": any port'],
  ] as const) {
    const { code, stderr } = await healthcheck(env);
    assert.equal(code, 78);
    assert.ok(stderr.includes(`TODO_ADMIN_PORT must name a port, received ${received}\n`), stderr);
  }
  const { stderr } = await healthcheck({ TODO_ADMIN_PORT: 'http' });
  assert.match(stderr, /:\n {2}TODO_ADMIN_PORT must be a whole number .*, received "http"\n$/);
});

test('healthcheck --live waits until /live answers, whether or not the service is ready', async () => {
  const asked: unknown[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.writeHead(asked.length > 2 ? 200 : 503).end();
  });
  const env = { ...patient, TODO_ADMIN_PORT: String(await listen(server)), MAINPID: String(process.pid) };
  const { code, stderr } = await healthcheck(env, '--live');
  server.close();
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  assert.deepEqual(asked, ['/live', '/live', '/live']);
});

test('healthcheck --live ends with 1 when the process MAINPID is gone, or 10 s are over', async () => {
  const { pid } = spawnSync(process.execPath, ['--version']);
  const gone = await healthcheck({ TODO_ADMIN_PORT: '1', MAINPID: String(pid) }, '--live');
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /^Not alive: http:\/\/127\.0\.0\.1:1\/live does not answer: /);

  const late = preloading('let now = 0; performance.now = () => (now += 5_001);');
  assert.equal((await healthcheck({ ...late, TODO_ADMIN_PORT: '1', MAINPID: '1' }, '--live')).code, 1);
});
