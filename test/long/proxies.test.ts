import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/folder.ts';
import { testAuth } from '../support/list.ts';
import { type Behind, noNginx, proxies, startNginxOfTwo } from '../support/proxies.ts';
import { clientsBehind, restartBehind, startRestartable } from '../support/restart-behind.ts';

const NOTHING = { failures: {}, notOnce: 0 };

for (const [name, start, skip] of proxies) {
  test(`clients of ${name}, whose creates have keys, do not notice that the only instance is restarted`, {
    skip,
  }, async () => {
    assert.deepEqual(await restartBehind(start, 2), NOTHING);
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
