import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { startService } from '../start.ts';
import { startDemo } from './demo.ts';
import { Connection } from './raw.ts';

const GET = 'GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /todos/1/complete HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n';

/** Makes the program stand still for 11 s, longer than it gives a request, when it gets `SIGUSR2`. */
const STILL = `process.once('SIGUSR2', () => {
  process.stdout.write('{"event":"still"}\\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 11_000);
})`;

test('nobody is called slow for the time in which the process stood still', async () => {
  await using service = await startService({
    profile: 'error-demo',
    env: { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(STILL).toString('base64')}` },
  });
  await using whole = await Connection.open(service.baseUrl);
  await using half = await Connection.open(service.baseUrl);
  await using body = await Connection.open(service.baseUrl);
  await using silent = await Connection.open(service.baseUrl);
  body.socket.write(`${POST}{`);
  assert.equal((await fetch(`${service.baseUrl}/todos/1`)).status, 200);

  process.kill(service.pid, 'SIGUSR2');
  while (!service.stdout().includes('still')) await pause(10);
  whole.socket.write(GET);
  half.socket.write(POST);
  body.socket.write('}');

  await Promise.all([whole.until('200 OK'), body.until(' OK'), silent.closed()]);
  half.socket.write('{}');
  await half.until('409 Conflict');
  assert.match(silent.received(), /^HTTP\/1\.1 408 /);
});

/** Stands still until `server` must have called its silent connections slow, and lets it look again. */
async function standStill(server: Server): Promise<void> {
  const calledSlow = once(server, 'clientError');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);
  const [{ code }] = await calledSlow;
  assert.equal(code, 'ERR_HTTP_REQUEST_TIMEOUT');
  await turn();
}

test('a body that is on its way after a stall gets its time anew', async () => {
  const limits = { headersTimeout: 500, requestTimeout: 60_000, connectionsCheckingInterval: 50 };
  await using demo = await startDemo({ limits });
  const accepted = once(demo.server, 'connection');
  await using connection = await Connection.open(demo.url);
  await accepted;
  connection.socket.write(`${POST}{`);
  await standStill(demo.server);
  connection.socket.write('}');
  await connection.until('"done":true}');
  assert.equal(connection.answers().length, 1);
});

const HALF = POST.slice(0, 20);

for (const [name, before, meanwhile, requests] of [
  ['the first', '', `${POST}{}`, 1],
  ['half of one behind another', `${GET}${HALF}`, `${POST.slice(HALF.length)}{}`, 2],
  ['the end of a body', `${POST}{`, '}', 1],
  ['a head that takes turns', HALF, `${POST.slice(HALF.length, -2)}X: ${'x'.repeat(14_000)}\r\n\r\n{}`, 1],
] as const) {
  test(`the connection of a request that came in a stall serves the next · ${name}`, async () => {
    const limits = { headersTimeout: 500, requestTimeout: 600, connectionsCheckingInterval: 50 };
    await using demo = await startDemo({ limits });
    const accepted = once(demo.server, 'connection');
    await using connection = await Connection.open(demo.url);
    const [socket]: Socket[] = await accepted;
    connection.socket.write(before);
    while (socket?.bytesRead !== before.length) await turn();
    connection.socket.write(meanwhile);
    await standStill(demo.server);
    await connection.until('"done":true}');
    await pause(2 * limits.requestTimeout);
    connection.socket.write(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    await connection.closed();
    assert.deepEqual(connection.statuses(), Array(requests + 1).fill(200));
  });
}
