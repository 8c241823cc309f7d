import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { beginDrain, type Demo, HURRIED, setClocks, startDemo } from '../support/demo.ts';
import { standStill } from '../support/process-figures.ts';
import { Connection } from '../support/raw.ts';

const GET = 'GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /todos/1/complete HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n';

const limits = { connectionsCheckingInterval: 50 };

/** Stands still until these must have called their silent connections slow, and lets them look again. */
async function standStillTooLong(...demos: readonly Demo[]): Promise<void> {
  const calledSlow = demos.map(async (demo) => {
    setClocks(demo, { headersTimeout: 1, requestTimeout: 1 });
    const [{ code }] = await once(demo.server, 'clientError');
    setClocks(demo);
    assert.equal(code, 'ERR_HTTP_REQUEST_TIMEOUT');
  });
  standStill(2 * limits.connectionsCheckingInterval);
  await Promise.all(calledSlow);
  await turn();
}

test('nobody is called slow for the time in which the process stood still', async () => {
  await using demo = await startDemo({ limits });
  await using body = await Connection.to(demo.server);
  body.socket.write(`${POST}{`);
  while (body.peer.bytesRead === 0) await turn();
  await using whole = await Connection.open(demo.url);
  await using half = await Connection.open(demo.url);
  await using silent = await Connection.to(demo.server);

  whole.socket.write(GET);
  half.socket.write(POST);
  body.socket.write('}');
  await standStillTooLong(demo);

  await Promise.all([whole.until('200 OK'), body.until(' OK'), silent.closed()]);
  half.socket.write('{}');
  await half.until('409 Conflict');
  assert.deepEqual(silent.statuses(), [408]);
});

test('a body that is on its way after a stall gets its time anew', async () => {
  await using demo = await startDemo({ limits });
  await using connection = await Connection.to(demo.server);
  connection.socket.write(`${POST}{`);
  await standStillTooLong(demo);
  connection.socket.write('}');
  await connection.until('"done":true}');
  assert.equal(connection.answers().length, 1);
});

test('at a stop, who asked while the process stood still is answered, however long it was idle', async () => {
  await using demo = await startDemo();
  await using connection = await Connection.open(demo.url);
  connection.socket.write(GET);
  await connection.until('"done":false}');
  const { drained } = await beginDrain(demo);
  connection.socket.write(GET);
  standStill(2_100);
  await connection.closed();
  await drained;
  assert.deepEqual(connection.ends(), ['200 keep-alive', '200 close']);
});

const HALF = POST.slice(0, 20);

/** What has come before a stall, what comes in it, and how many requests that is. */
const IN_A_STALL: readonly (readonly [before: string, meanwhile: string, requests: number])[] = [
  ['', `${POST}{}`, 1],
  [`${GET}${HALF}`, `${POST.slice(HALF.length)}{}`, 2],
  [`${POST}{`, '}', 1],
  // It takes turns.
  [HALF, `${POST.slice(HALF.length, -2)}X: ${'x'.repeat(14_000)}\r\n\r\n{}`, 1],
];

test('the connection of a request that came in a stall serves the next', async () => {
  await using parts = new AsyncDisposableStack();
  const demos: Demo[] = [];
  for (const _ of IN_A_STALL) {
    const demo = parts.use(await startDemo({ limits: HURRIED }));
    setClocks(demo);
    demos.push(demo);
  }
  const opened = await Promise.all(
    demos.map(async ({ server }, index) => {
      const [before, meanwhile, requests] = IN_A_STALL[index] ?? ['', '', 0];
      const connection = parts.use(await Connection.to(server));
      connection.socket.write(before);
      while (connection.peer.bytesRead !== before.length) await turn();
      return { connection, meanwhile, requests };
    }),
  );
  for (const { connection, meanwhile } of opened) connection.socket.write(meanwhile);
  await standStillTooLong(...demos);
  for (const { connection } of opened) await connection.until('"done":true}');
  await pause(2 * HURRIED.requestTimeout);
  for (const { connection, requests } of opened) {
    connection.socket.write(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    await connection.closed();
    assert.deepEqual(connection.statuses(), Array(requests + 1).fill(200));
  }
});
