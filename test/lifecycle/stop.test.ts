import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { signer } from '../../packages/conformance/src/sign.ts';
import { testAuth } from '../support/list.ts';
import { Connection } from '../support/raw.ts';
import { type Running, startService } from '../support/start.ts';
import { stopWhileBusy } from './busy-stop.ts';

const HALF = 'POST /todos/1/complete HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{';

function events({ stdout }: Running): unknown[] {
  const lines = stdout().trim().split('\n');
  return lines.map((line) => JSON.parse(line).event);
}

/** A service with a request under way, so that it cannot end yet. */
async function heldUp(env: Readonly<Record<string, string>> = {}) {
  const service = await startService({ profile: 'error-demo', env });
  const connection = await Connection.open(service.baseUrl);
  connection.socket.write(HALF);
  assert.equal((await fetch(`${service.baseUrl}/todos/1`)).status, 200);
  return { service, connection };
}

async function logged(service: Running, event: string): Promise<void> {
  while (!service.stdout().includes(`"${event}"`)) {
    // Throws when the process has ended.
    process.kill(service.pid, 0);
    await pause(10);
  }
}

describe('Stopping', { concurrency: 2 }, () => {
  test('no request is lost when 40 busy clients see the service stop', async () => {
    const { answered, lost, closes, exitCode } = await stopWhileBusy();
    assert.deepEqual({ lost, closes, exitCode }, { lost: 0, closes: 40, exitCode: 0 });
    assert.ok(answered >= 140, `only ${answered} requests were under way`);
  });

  for (const [name, signal, times] of [
    ['SIGTERM', 'SIGTERM', 1],
    ['SIGHUP', 'SIGHUP', 1],
    ['SIGINT, twice at once as one,', 'SIGINT', 2],
  ] as const) {
    test(`${name} waits for the request under way and exits 0 [D15]`, async () => {
      const { service, connection } = await heldUp();
      for (let sent = 1; sent < times; sent += 1) process.kill(service.pid, signal);
      const code = service.stop(signal);
      await logged(service, 'stopping');
      connection.socket.write('}');
      assert.equal(await code, 0);
      assert.match(connection.received(), /^HTTP\/1\.1 200 OK\r\n/);
      assert.deepEqual(events(service), ['started', 'stopping', 'todo-completed', 'stopped']);
    });
  }

  test('a second signal a second later ends it at once', async () => {
    const { service } = await heldUp({ TODO_SHUTDOWN_SECONDS: '600' });
    process.kill(service.pid, 'SIGTERM');
    await logged(service, 'stopping');
    await pause(1_100);
    assert.equal(await service.stop('SIGTERM'), 143);
    assert.deepEqual(events(service), ['started', 'stopping', 'stopped-at-once']);
  });

  test('what has not closed after 5 s is left behind, with exit code 1', async () => {
    const hang = `import { parentPort } from 'node:worker_threads';
      if (parentPort) parentPort.close = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`;
    const NODE_OPTIONS = `--import=data:text/javascript;base64,${Buffer.from(hang).toString('base64')}`;
    const env = { NODE_OPTIONS, TODO_SHUTDOWN_SECONDS: '0' };
    const auth = testAuth();
    await using service = await startService({ auth, environment: 'production', env });
    const authorization = `Bearer ${signer(auth)({ role: 'editor' })}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const body = '{"title":"Milk","categoryId":1}';
    // The thread that writes begins with a write at the latest.
    const created = await fetch(`${service.baseUrl}/todos`, { method: 'POST', headers, body });
    assert.equal(created.status, 201);
    assert.equal(await service.stop(), 1);
    assert.deepEqual(events(service).slice(-2), ['stopping', 'stop-failed']);
    assert.match(service.stdout(), /"level":"error".*"event":"stop-failed","milliseconds":5000/);
  });

  test('after TODO_SHUTDOWN_SECONDS what is under way is cut off, and the exit code is 0', async () => {
    const { service, connection } = await heldUp({ TODO_SHUTDOWN_SECONDS: '1' });
    assert.equal(await service.stop('SIGTERM'), 0);
    await connection.closed();
    assert.equal(connection.received(), '');
  });

  for (const [origin, crash] of [
    ['uncaughtException', "throw new RangeError('a bug')"],
    ['unhandledRejection', "Promise.reject(new RangeError('a bug'))"],
  ] as const) {
    test(`an ${origin} is logged with its stack, drains the same way and exits 1`, async () => {
      const script = encodeURIComponent(`process.once('SIGUSR2', () => { ${crash}; })`);
      const NODE_OPTIONS = `--import=data:text/javascript,${script.replaceAll("'", '%27')}`;
      const { service, connection } = await heldUp({ NODE_OPTIONS });
      const code = service.stop('SIGUSR2');
      await logged(service, 'stopping');
      connection.socket.write('}');
      await connection.closed();
      assert.match(connection.received(), /^HTTP\/1\.1 200 OK\r\n/);
      assert.equal(await code, 1);
      assert.deepEqual(events(service), ['started', 'uncaught', 'stopping', 'todo-completed', 'stopped']);
      const line = JSON.parse(service.stdout().split('\n')[1] ?? '');
      assert.equal(line.reason, origin);
      assert.match(line.err.stack, /RangeError: a bug\n +at /);
    });
  }
});
