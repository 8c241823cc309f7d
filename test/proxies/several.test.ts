import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { Agent, createServer as createHttpServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../../packages/conformance/src/sign.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { get, startDemo } from '../support/demo.ts';
import { freePort, listen, temporaryFolder } from '../support/folder.ts';
import { testAuth } from '../support/list.ts';
import {
  type Behind,
  noHaproxy,
  noNginx,
  startHaproxyOfTwo,
  startNginxOfTwo,
  startNginxWithLimit,
  startNginxWithPage,
  startTlsNginx,
} from '../support/proxies.ts';
import { askBy, statusesOf } from '../support/raw.ts';
import { clientsBehind, startRestartable } from '../support/restart-behind.ts';
import { type ServeOptions, startService } from '../support/start.ts';

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
    await using server = createHttpServer(({ socket }, response) => {
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
  const session = connectHttp2(proxy.url, { rejectUnauthorized: false });
  const request = session.request({ ':path': '/todos/1' });
  const [headers] = await once(request, 'response');
  session.destroy();
  assert.equal(headers[':status'], 200);
});

for (const example of ['nginx.conf', 'nginx-several.conf']) {
  test(`${example} takes more connections than the 1,024 descriptors with which it is started`, {
    skip: noNginx(),
  }, async () => {
    await using demo = await startDemo();
    const start = startNginxWithLimit(example, 1_024);
    await using proxy = await start(Number(new URL(demo.url).port));
    const { hostname, port } = new URL(proxy.url);
    const waiting = Array.from({ length: 1_100 }, () => connect(Number(port), hostname));
    try {
      await Promise.all(waiting.map((socket) => once(socket, 'connect')));
      // Without an answer nginx says nothing.
      const signal = AbortSignal.timeout(60_000);
      assert.equal((await fetch(`${proxy.url}/todos/1`, { signal })).status, 200);
    } finally {
      for (const socket of waiting) socket.destroy();
    }
  });

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

test('clients of nginx with several instances do not notice that one has become a black hole', {
  skip: noNginx(),
}, async () => {
  const auth = testAuth();
  await using one = await startRestartable({ auth });
  await using hole = await blackHole();
  await using proxy = await startNginxOfTwo(one, hole);
  const seen = await clientsBehind(proxy, auth, async (goOn) => {
    await goOn();
    // It is tried again each second.
    await pause(3_000);
  });
  assert.deepEqual(seen, { failures: {}, notOnce: 0, twice: 0 });
});

describe('An instance behind nginx dies between commit and answer:', { skip: noNginx() }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const [method, path, headers, status, titles] of [
    ['PUT', '/todos/1', { 'if-match': '*' }, 502, ['after']],
    ['DELETE', '/todos/1', { 'if-match': '*' }, 502, []],
    ['POST', '/todos', {}, 502, ['before', 'after']],
    ['POST', '/todos', { 'idempotency-key': '2' }, 201, ['before', 'after']],
  ] as const) {
    const named = [method, ...Object.keys(headers)].join(' with ');
    test(`${named} is a ${status}, and is made once`, async () => {
      const auth = testAuth();
      const env = { TODO_DATABASE: await server.makeDatabase() };
      const lethal = { armed: false };
      await using one = await startMortal({ auth, env }, lethal);
      await using two = await startMortal({ auth, env }, lethal);
      await using proxy = await startNginxOfTwo(one, two);
      const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;
      const json = { authorization, 'content-type': 'application/json' };
      const ask = (method: string, path: string, more: object, title?: string) => {
        const body = title === undefined ? null : JSON.stringify({ title, categoryId: 1 });
        return fetch(proxy.url + path, { method, headers: { ...json, ...more }, body });
      };
      assert.equal((await ask('POST', '/todos', { 'idempotency-key': '1' }, 'before')).status, 201);
      lethal.armed = true;
      const answer = await ask(method, path, headers, method === 'DELETE' ? undefined : 'after');
      assert.deepEqual([answer.status, lethal.armed], [status, false]);
      const todos = (await (await ask('GET', '/todos', {})).json()) as { readonly title: string }[];
      assert.deepEqual(
        todos.map(({ title }) => title),
        titles,
      );
    });
  }
});

/** An instance that is killed in place of its next answer once `lethal` is armed, which disarms it. */
async function startMortal(
  options: ServeOptions,
  lethal: { armed: boolean },
): Promise<Behind & AsyncDisposable> {
  const service = await startService(options);
  const { hostname, port } = new URL(service.baseUrl);
  const relay = createServer((from) => {
    const to = connect(Number(port), hostname);
    from.on('error', () => {}).pipe(to.on('error', () => {}));
    to.once('close', () => from.destroy());
    from.once('close', () => to.destroy());
    to.on('data', (answer) => {
      if (!lethal.armed) return from.write(answer);
      lethal.armed = false;
      relay.close();
      return void service.stop('SIGKILL').then(() => from.destroy());
    });
  });
  return {
    port: await listen(relay),
    adminPort: 0,
    async [Symbol.asyncDispose]() {
      relay.close();
      await service[Symbol.asyncDispose]();
    },
  };
}

/** Listens and takes no connection: the kernel drops what begins one, once its queue is full. */
async function blackHole(): Promise<Behind & AsyncDisposable> {
  const port = await freePort();
  const program = `require('node:net').createServer().listen({ port: ${port}, host: '127.0.0.1', backlog: 1 }, () => console.log())`;
  const child = spawn(process.execPath, ['--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGSTOP');
  const queued = [1, 2, 3, 4].map(() => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(queued.slice(0, 2).map((socket) => once(socket, 'connect')));
  return {
    port,
    adminPort: port,
    async [Symbol.asyncDispose]() {
      for (const socket of queued) socket.destroy();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

/** An instance without an admin port, which only checks need. */
function behind(port: number): Behind {
  return { port, adminPort: 0 };
}
