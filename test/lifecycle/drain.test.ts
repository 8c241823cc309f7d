import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Ended } from '../../src/telemetry/ended.ts';
import { beginDrain, type Demo, get, startDemo } from '../support/demo.ts';
import { assertRefused, Connection } from '../support/raw.ts';

const GET = 'GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n';
const POST = 'POST /todos/1/complete HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n';

/** More than the buffers of both ends of a connection hold. */
const LONG = Buffer.alloc(32 * 2 ** 20, ' ');

/** A connection that has had an answer. */
async function openIdle({ url }: Demo): Promise<Connection> {
  const connection = await Connection.open(url);
  connection.socket.write(GET);
  await connection.until('\r\n\r\n{');
  return connection;
}

describe('Draining', { concurrency: true }, () => {
  test('a request under way is answered, and told that its connection closes', async () => {
    await using demo = await startDemo();
    await using connection = await Connection.open(demo.url);
    connection.socket.write(`${GET}${POST}{`);
    await connection.until('200 OK');
    const { drained } = await beginDrain(demo);
    connection.socket.write('}');
    await connection.closed();
    await drained;
    assert.deepEqual(connection.ends(), ['200 keep-alive', '200 close']);
  });

  test('no connection ends before the listener does: its client would open one that the end of the listener resets', async () => {
    const routes = [
      get('/stop', () => {
        demo.listener.drain(60_000);
        return { status: 204 };
      }),
    ];
    await using demo = await startDemo({ routes });
    await using connection = await Connection.open(demo.url);
    connection.socket.write(GET.replace('/todos/1', '/stop'));
    await connection.until('204 No Content');
    await beginDrain(demo);
    connection.socket.write(GET);
    await connection.closed();
    assert.deepEqual(connection.ends(), ['204 keep-alive', '200 close']);
  });

  test('a client that resets its connection while the listener closes is recorded as one that left', async () => {
    const statuses: unknown[] = [];
    let underWay = 0;
    const metrics = {
      begun() {
        underWay += 1;
      },
      onStep() {},
      ended({ status }: Ended) {
        underWay -= 1;
        statuses.push(status);
      },
    };
    const routes = [get('/never', () => new Promise(() => {}))];
    await using demo = await startDemo({ routes, metrics });
    await using connection = await openIdle(demo);
    demo.server.once('request', () => connection.socket.resetAndDestroy());
    connection.socket.write(GET.replace('/todos/1', '/never'));
    // The listener closes when they are accepted.
    const port = Number(new URL(demo.url).port);
    const others = Array.from({ length: 20 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    const drained = demo.listener.drain(60_000);
    await connection.closed();
    for (const other of others) other.destroy();
    await drained;
    assert.deepEqual({ underWay, statuses }, { underWay: 0, statuses: [200, undefined] });
  });

  test('a client that closes its side while the listener closes is answered behind it [D10]', async () => {
    await using demo = await startDemo();
    await using connection = await openIdle(demo);
    connection.socket.end(GET);
    const drained = demo.listener.drain(60_000);
    await connection.closed();
    await drained;
    assert.deepEqual(connection.ends(), ['200 keep-alive', '200 close']);
  });

  test('what is asked while the listener closes is answered behind it: its client might come again, and be reset', async () => {
    await using demo = await startDemo();
    await using connection = await openIdle(demo);
    connection.socket.write(GET);
    const drained = demo.listener.drain(60_000);
    await connection.closed();
    await drained;
    assert.deepEqual(connection.ends(), ['200 keep-alive', '200 close']);
  });

  test('no connection ends before the listener does', async () => {
    await using demo = await startDemo();
    await using closing = new AsyncDisposableStack();
    const connecting = Array.from({ length: 20 }, () => Connection.open(demo.url));
    // The kernel completes them at once, and the event loop accepts one a turn.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const drained = demo.listener.drain(60_000);
    while (!demo.listener.draining) await setImmediate();
    assert.equal(demo.server.listening, false);
    for (const connected of connecting) closing.use(await connected);
    await drained;
  });

  for (const [path, status] of [
    ['/todos/1', 200],
    ['/nope', 404],
  ] as const) {
    test(`an idle connection may still ask, once: a ${status} closes it, and nothing behind it is done [D10; P6]`, async () => {
      await using demo = await startDemo();
      await using connection = await openIdle(demo);
      const { drained } = await beginDrain(demo);
      connection.socket.write(GET.replace('/todos/1', path).repeat(20));
      await connection.closed();
      await drained;
      assert.deepEqual(connection.ends(), ['200 keep-alive', `${status} close`]);
    });
  }

  test('an answer that cannot be written ends its connection alone', async () => {
    await using demo = await startDemo({
      routes: [get('/broken', () => ({ status: 200, headers: { 'x-broken': '\n' } }))],
    });
    await using connection = await openIdle(demo);
    const { drained } = await beginDrain(demo);
    connection.socket.write(GET.replace('/todos/1', '/broken'));
    await connection.closed();
    await drained;
    assert.equal(connection.answers().length, 1);
    assert.deepEqual(
      demo.log.map(({ event }) => event),
      ['answer-not-written'],
    );
  });

  test('who connected before is answered, accepted yet or not', async () => {
    await using demo = await startDemo();
    const asking = Array.from({ length: 20 }, async () => {
      const connection = await Connection.open(demo.url);
      connection.socket.write(GET);
      return connection;
    });
    // The kernel completes them at once, and the event loop accepts one a turn.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    const { drained } = await beginDrain(demo);
    for (const asked of asking) {
      await using connection = await asked;
      await connection.closed();
      assert.deepEqual(connection.ends(), ['200 close']);
    }
    await drained;
  });

  test('nobody gets in any more', async () => {
    await using demo = await startDemo();
    await using _idle = await Connection.open(demo.url);
    const { drained } = await beginDrain(demo);
    await assert.rejects(Connection.open(demo.url), { code: 'ECONNREFUSED' });
    await drained;
  });

  test('connections that say nothing do not hold it up', async () => {
    await using demo = await startDemo();
    await using silent = await Connection.open(demo.url);
    await using idle = await openIdle(demo);
    await demo.listener.drain(60_000);
    await Promise.all([silent.closed(), idle.closed()]);
    assert.equal(silent.received(), '');
  });

  test('a client that is slow to read gets its answer to the end', async () => {
    await using demo = await startDemo({ routes: [get('/long', () => ({ status: 200, body: LONG }))] });
    await using silent = await Connection.open(demo.url);
    await using slow = await Connection.open(demo.url);
    slow.socket.write(GET.replace('/todos/1', '/long'));
    await slow.until('200 OK');
    slow.socket.pause();
    const { drained } = await beginDrain(demo);
    await silent.closed();
    slow.socket.resume();
    await slow.closed();
    await drained;
    assert.equal(slow.answers()[0]?.body.length, LONG.length);
  });

  test('slow requests are cut off as before', async () => {
    const limits = { headersTimeout: 500, requestTimeout: 3_000, connectionsCheckingInterval: 100 };
    await using demo = await startDemo({ limits });
    await using connection = await Connection.open(demo.url);
    connection.socket.write(`${POST}{`);
    const { drained } = await beginDrain(demo);
    await connection.closed();
    await drained;
    assertRefused(connection.answers(), 408);
  });
});
