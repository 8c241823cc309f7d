import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../../packages/conformance/src/sign.ts';
import { PostgresServer } from '../storage/postgres-server.ts';
import { freePort, listen, temporaryFolder } from '../support/folder.ts';
import { Holder, noParent } from '../support/given.ts';
import { testAuth } from '../support/list.ts';
import {
  type Behind,
  noHaproxy,
  noNginx,
  proxies,
  startHaproxyOfHeld,
  startNginxOfHeld,
  startNginxOfTwo,
} from '../support/proxies.ts';
import { clientsBehind, restartBehind, startRestartable } from '../support/restart-behind.ts';
import { authVariables, type ServeOptions, startService } from '../support/start.ts';

const NOTHING = { failures: {}, notOnce: 0 };

for (const [name, start, skip] of proxies) {
  test(`clients of ${name}, whose creates have keys, do not notice that the only instance is restarted`, {
    skip,
  }, async () => {
    assert.deepEqual(await restartBehind(start, 2), NOTHING);
  });
}

for (const [name, start, skip] of [
  ['HAProxy', startHaproxyOfHeld, noHaproxy() || noParent()],
  ['nginx', startNginxOfHeld, noNginx() || noParent()],
] as const) {
  test(`clients of ${name} do not notice that an instance is restarted or killed whose socket is held`, {
    skip,
  }, async () => {
    await using folder = await temporaryFolder();
    const auth = testAuth();
    const variables = await authVariables(auth, folder.path);
    using parent = await Holder.open(['serve', '--data-dir', folder.path]);
    const started = async () => {
      const pid = await parent.start(variables);
      await parent.logged('started');
      return pid;
    };
    let pid = await started();
    await using proxy = await start(Number(new URL(parent.url).port));
    const seen = await clientsBehind(proxy, auth, async (goOn) => {
      for (const signal of ['SIGTERM', 'SIGTERM', 'SIGKILL']) {
        await goOn();
        process.kill(pid, signal);
        await parent.ended();
        pid = await started();
      }
    });
    process.kill(pid, 'SIGTERM');
    await parent.ended();
    assert.deepEqual(seen, NOTHING);
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
  assert.deepEqual(seen, NOTHING);
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
