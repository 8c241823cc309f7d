import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { Agent, createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../../packages/conformance/src/sign.ts';
import { page } from '../commands/recipes.ts';
import { get, startDemo } from '../support/demo.ts';
import { freePort, listen, temporaryFolder } from '../support/folder.ts';
import { testAuth } from '../support/list.ts';
import {
  type Behind,
  noHaproxy,
  noNginx,
  proxies,
  startHaproxyOfTwo,
  startNginxOfTwo,
  startNginxWithPage,
  startTlsNginx,
} from '../support/proxies.ts';
import { askBy, statusesOf } from '../support/raw.ts';
import { startRestartable } from '../support/restart-behind.ts';

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

  test(`${name} repeats reads, and creates with a key, whose connection ended without an answer; no other change`, {
    skip,
  }, async () => {
    const heard: (string | undefined)[] = [];
    await using server = createServer(({ method, url, socket }, response) => {
      if (url !== '/') heard.push(method);
      if (url !== '/' && heard.length < 3) socket.resetAndDestroy();
      else response.writeHead(204).end();
    });
    await using proxy = await start(await listen(server));
    const { hostname, port } = new URL(proxy.url);
    const ask = async (method: string, path: string, headers: OutgoingHttpHeaders = {}) => {
      const body = method === 'POST' ? 'a'.repeat(3_000) : undefined;
      heard.length = 0;
      const { status } = await askBy(new Agent(), { hostname, port, method, path, headers }, body);
      return [status, heard.length];
    };
    assert.deepEqual(await ask('GET', '/todos'), [204, 3]);
    assert.deepEqual(await ask('HEAD', '/todos'), [204, 3]);
    assert.deepEqual(await ask('OPTIONS', '/todos'), [204, 3]);
    assert.deepEqual(await ask('POST', '/todos', { 'idempotency-key': '1' }), [204, 3]);
    assert.deepEqual(await ask('PUT', '/todos/1', { 'idempotency-key': '1' }), [502, 1]);
    assert.deepEqual(await ask('DELETE', '/todos/1'), [502, 1]);
    assert.deepEqual(await ask('POST', '/todos'), [502, 1]);
  });

  test(`${name} holds a read whose kept connection ended without an answer until somebody listens again`, {
    skip,
  }, async () => {
    let ended = false;
    await using server = createServer(({ url, socket }, response) => {
      if (url === '/todos' && !ended) {
        ended = true;
        server.close();
        socket.resetAndDestroy();
      } else response.writeHead(204).end();
    });
    const port = await freePort();
    await once(server.listen(port, '127.0.0.1'), 'listening');
    await using proxy = await start(port);
    const own = { hostname: '127.0.0.1', port: new URL(proxy.url).port };
    const agent = new Agent({ keepAlive: true });
    await askBy(agent, { ...own, path: '/' });
    const asked = askBy(agent, { ...own, path: '/todos' });
    await once(server, 'close');
    // Longer than the tries take when nothing waits between them.
    await pause(1_000);
    server.listen(port, '127.0.0.1');
    assert.equal((await asked).status, 204);
  });
}

/** What the page for operators says of headers. */
const [, named = ''] =
  /^- \*\*Headers:\*\* (.*?) are passed on\.$/m.exec(await page('behind-a-proxy.md')) ?? [];

const ALL_PROXIES = [
  ...proxies,
  ['nginx with several instances', (port: number) => startNginxOfTwo(behind(port), behind(port)), noNginx()],
] as const;

for (const [name, start, skip] of ALL_PROXIES) {
  test(`${name} passes the headers on that the page names`, { skip }, async () => {
    const passed: IncomingHttpHeaders[] = [];
    await using server = createServer(({ headers }, response) => {
      passed.push(headers);
      response.writeHead(204).end();
    });
    await using proxy = await start(await listen(server));
    const headers = {
      authorization: 'Bearer a.b.c',
      'if-match': '"1", "2"',
      'if-none-match': '*',
      'idempotency-key': '"1"',
      host: 'todos.example',
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    };
    const { hostname, port } = new URL(proxy.url);
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
      await askBy(new Agent(), { hostname, port, method, path: '/todos/1', headers });
    assert.equal(passed.length, 4);
    for (const one of passed) assert.partialDeepStrictEqual(one, headers);
    assert.deepEqual(
      [...named.matchAll(/`(.+?)`/g)].map(([, header = '']) => header.toLowerCase()),
      Object.keys(headers),
    );
  });
}

test('HAProxy with several instances asks another one when one does not listen', {
  skip: noHaproxy(),
}, async () => {
  await using demo = await startDemo({ routes: [get('/ready', () => ({ status: 204 }))] });
  const port = Number(new URL(demo.url).port);
  // The checks of the one that is not there are answered.
  const nobody = { port: await freePort(), adminPort: port };
  await using proxy = await startHaproxyOfTwo({ port, adminPort: port }, nobody);
  const answers = await Promise.all([1, 2, 3, 4].map(() => fetch(`${proxy.url}/todos/1`)));
  assert.deepEqual(statusesOf(answers), [200, 200, 200, 200]);
});

for (const [method, path, headers, lost, refused] of [
  ['GET', '/todos', {}, [204, 2], [204, 1]],
  ['HEAD', '/todos', {}, [204, 2], [204, 1]],
  ['OPTIONS', '/todos', {}, [204, 2], [204, 1]],
  ['POST', '/todos', { 'idempotency-key': '1' }, [204, 2], [204, 1]],
  ['POST', '/todos', {}, [502, 1], [204, 1]],
  ['PUT', '/todos/1', {}, [502, 1], [502, 0]],
  ['PUT', '/todos/1', { 'idempotency-key': '1' }, [502, 1], [502, 0]],
  ['DELETE', '/todos/1', { 'if-match': '*' }, [502, 1], [502, 0]],
] as const) {
  const named = [method, ...Object.keys(headers)].join(' with ');
  test(`behind nginx, ${named} reaches ${lost[1]} of two instances when the first answer is lost, ${refused[1]} when the first does not listen`, {
    skip: noNginx(),
  }, async () => {
    let heard = 0;
    let loses = false;
    await using server = createServer(({ socket }, response) => {
      heard += 1;
      if (loses && heard === 1) socket.resetAndDestroy();
      else response.writeHead(204).end();
    });
    const port = await listen(server);
    const ask = async (one: number) => {
      heard = 0;
      await using proxy = await startNginxOfTwo(behind(one), behind(port));
      const { hostname, port: own } = new URL(proxy.url);
      const body = /P(OS|U)T/.test(method) ? 'a'.repeat(3_000) : undefined;
      const { status } = await askBy(new Agent(), { hostname, port: own, method, path, headers }, body);
      return [status, heard];
    };
    assert.deepEqual(await ask(await freePort()), refused);
    loses = true;
    assert.deepEqual(await ask(port), lost);
  });
}

test('the lines for TLS and HTTP/2 of the example for nginx are right', { skip: noNginx() }, async () => {
  await using demo = await startDemo();
  await using proxy = await startTlsNginx(Number(new URL(demo.url).port));
  const session = connect(proxy.url, { rejectUnauthorized: false });
  const request = session.request({ ':path': '/todos/1' });
  const [headers] = await once(request, 'response');
  session.destroy();
  assert.equal(headers[':status'], 200);
});

for (const example of ['nginx.conf', 'nginx-several.conf']) {
  test(`${example} serves a page at / and the service below /api, whose tags and Location fit, after a kill too`, {
    skip: noNginx(),
  }, async () => {
    await using data = await temporaryFolder();
    await using folder = await temporaryFolder();
    await folder.write('index.html', '<p>todos</p>');
    // Files are read by another user.
    await chmod(folder.path, 0o755);
    await chmod(join(folder.path, 'index.html'), 0o644);
    const auth = testAuth();
    await using service = await startRestartable({ auth, dataDir: data.path });
    await using proxy = await startNginxWithPage(example, folder.path)(service.port);
    assert.equal(await (await fetch(`${proxy.url}/some/route`)).text(), '<p>todos</p>');
    const headers = {
      authorization: `Bearer ${signer(auth)({ role: 'editor' })}`,
      'content-type': 'application/json',
      'accept-encoding': 'gzip',
    };
    const ask = async (method: string, path: string, more: object = {}, body?: object) => {
      const line = { method, headers: { ...headers, ...more }, body: JSON.stringify(body) ?? null };
      return fetch(`${proxy.url}/api${path}`, line);
    };
    const made = await ask(
      'POST',
      '/todos',
      { 'idempotency-key': '1' },
      { title: 'Buy milk', categoryId: 1 },
    );
    assert.deepEqual([made.status, made.headers.get('location')], [201, '/api/todos/1']);
    const tag = (await ask('GET', '/todos/1')).headers.get('etag') ?? '';
    const edit = { title: 'x'.repeat(100), categoryId: 1 };
    assert.equal((await ask('PUT', '/todos/1', { 'if-match': tag }, edit)).status, 204);
    // As a kill: the proxy finds nobody listening.
    const restarted = service.restart('SIGKILL');
    if (example === 'nginx-several.conf') await restarted;
    const again = await ask(
      'POST',
      '/todos',
      { 'idempotency-key': '2' },
      { title: 'Buy milk', categoryId: 1 },
    );
    await restarted;
    assert.deepEqual([again.status, again.headers.get('location')], [201, '/api/todos/2']);
    assert.equal((await ask('GET', '/todos')).status, 200);
  });
}

/** An instance without an admin port, which only checks need. */
function behind(port: number): Behind {
  return { port, adminPort: 0 };
}
