import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { test } from 'node:test';
import { startDemo } from './demo.ts';
import { haproxyFaults, noHaproxy, noNginx, startHaproxy, startNginx, startTlsNginx } from './proxies.ts';

for (const [name, start, skip] of [
  ['HAProxy', startHaproxy, noHaproxy()],
  ['nginx', startNginx, noNginx()],
] as const) {
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
