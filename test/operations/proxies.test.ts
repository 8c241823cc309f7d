import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startDemo } from './demo.ts';
import { haproxyFaults, noHaproxy, noNginx, startHaproxy, startNginx, startTlsNginx } from './proxies.ts';
import { askBy } from './raw.ts';

const proxies = [
  ['HAProxy', startHaproxy, noHaproxy()],
  ['nginx', startNginx, noNginx()],
] as const;

for (const [name, start, skip] of proxies) {
  test(`clients of ${name} are not told how long the service keeps its own connections`, {
    skip,
  }, async () => {
    await using demo = await startDemo();
    const { headers } = await fetch(`${demo.url}/todos/1`);
    assert.match(headers.get('keep-alive') ?? '', /timeout=75/);
    await using proxy = await start(Number(new URL(demo.url).port));
    const passed = await fetch(`${proxy.url}/todos/1`);
    assert.deepEqual([passed.status, passed.headers.get('keep-alive')], [200, null]);
  });
}

for (const [name, start, skip] of proxies) {
  test(`${name} repeats reads, and creates with a key, whose connection ended without an answer; no other create`, {
    skip,
  }, async () => {
    const heard: (string | undefined)[] = [];
    const server = createServer(({ method, url, socket }, response) => {
      if (url !== '/') heard.push(method);
      if (url !== '/' && heard.length < 3) socket.resetAndDestroy();
      else response.writeHead(204).end();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await using proxy = await start((server.address() as AddressInfo).port);
    const { hostname, port } = new URL(proxy.url);
    const ask = async (method: string, path: string, headers: OutgoingHttpHeaders = {}) => {
      const body = method === 'POST' ? 'a'.repeat(3_000) : undefined;
      heard.length = 0;
      const { status } = await askBy(new Agent(), { hostname, port, method, path, headers }, body);
      return [status, heard.length];
    };
    assert.deepEqual(await ask('GET', '/todos'), [204, 3]);
    assert.deepEqual(await ask('HEAD', '/todos'), [204, 3]);
    assert.deepEqual(await ask('POST', '/todos', { 'idempotency-key': '1' }), [204, 3]);
    assert.deepEqual(await ask('POST', '/todos'), [502, 1]);
    server.close();
  });
}

test('HAProxy takes the lines for several instances of its example', { skip: noHaproxy() }, async () => {
  assert.equal(await haproxyFaults(), '');
});

test('the lines for TLS and HTTP/2 of the example for nginx are right', { skip: noNginx() }, async () => {
  await using demo = await startDemo();
  await using proxy = await startTlsNginx(Number(new URL(demo.url).port));
  const session = connect(proxy.url, { rejectUnauthorized: false });
  const request = session.request({ ':path': '/todos/1' });
  const [headers] = await once(request, 'response');
  session.destroy();
  assert.equal(headers[':status'], 200);
});
