import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createServer as createSocketServer, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { listen } from '../folder.ts';
import { preloading, runProgram, startService } from '../start.ts';

const healthcheck = (env: Readonly<Record<string, string>>) => runProgram(['healthcheck'], { env });

/** For one that waits as long as a busy machine needs. */
const patient = preloading('AbortSignal.timeout = () => new AbortController().signal;');

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
});
