import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startService } from '../start.ts';
import { Connection } from './raw.ts';

const POST = 'POST /todos/1/complete HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n';

/** Makes the program stand still for 11 s, longer than it gives a request, when it gets `SIGUSR2`. */
const STILL = `process.once('SIGUSR2', () => {
  const until = Date.now() + 11_000;
  process.stdout.write('{"event":"still"}\\n');
  while (Date.now() < until);
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
  whole.socket.write('GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n');
  half.socket.write(POST);
  body.socket.write('}');

  await Promise.all([whole.until('200 OK'), body.until(' OK'), silent.closed()]);
  half.socket.write('{}');
  await half.until('409 Conflict');
  assert.match(silent.received(), /^HTTP\/1\.1 408 /);
});
