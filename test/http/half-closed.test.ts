import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { beginDrain, get, startDemo } from '../support/demo.ts';
import { settled, startGated, WAIT } from '../support/gated.ts';
import { Connection } from '../support/raw.ts';

const POST = 'POST /count HTTP/1.1\r\nHost: a\r\n';

/** Complete requests, for an endpoint that counts. */
const REQUESTS = [
  ['no body', `${POST}\r\n`],
  ['a Content-Length', `${POST}Content-Length: 4\r\n\r\n{\r\n}`],
  ['chunks and trailers', `${POST}Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0\r\nX: y\r\n\r\n`],
  ['HTTP/1.0', 'POST /count HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}'],
  ['the last of its connection', `${POST}Connection: close\r\n\r\n`],
] as const;

/** A service with an endpoint that counts. */
async function startCounting() {
  let done = 0;
  const count = () => {
    done += 1;
    return { status: 204 };
  };
  const route = { method: 'POST', path: '/count', access: 'open', handle: count } as const;
  const gated = await startGated({ routes: [route] });
  return { ...gated, done: () => done };
}

/** Waits until the service knows that the client has closed its side. */
async function noticed({ peer }: { readonly peer: Socket }): Promise<void> {
  while (!peer.readableEnded) await turn();
}

/** Milliseconds. Reached only when something lasts for ever that must end. */
const HANGS_MS = 120_000;

describe('A client that closes its side', { concurrency: true, timeout: HANGS_MS }, () => {
  for (const [name, request] of REQUESTS) {
    test(`gets its answer when the request is complete, and the connection ends · ${name} [D10]`, async () => {
      await using counting = await startCounting();
      const { connection } = counting;
      connection.socket.end(request);
      await connection.closed();
      assert.deepEqual([connection.statuses(), counting.done()], [[204], 1]);
    });

    test(`has nothing done and gets nothing, wherever the request is cut off · ${name} [D10]`, async () => {
      await using counting = await startCounting();
      const { demo } = counting;
      for (let length = 0; length < request.length; length += 1) {
        await using connection = await Connection.open(demo.url);
        connection.socket.end(request.slice(0, length));
        await connection.closed();
        assert.equal(connection.received(), '', JSON.stringify(request.slice(0, length)));
      }
      assert.equal(counting.done(), 0);
    });
  }

  for (const [name, behind, statuses, done] of [
    ['nothing', '', [200], 0],
    ['a request', `${POST}Content-Length: 2\r\n\r\n{}`, [200, 204], 1],
    ['half a head', 'POST /cou', [200], 0],
    ['half a body', `${POST}Content-Length: 2\r\n\r\n{`, [200], 0],
    ['half a chunk', `${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{`, [200], 0],
    ['no HTTP', 'GARBAGE\r\n\r\n', [200, 400], 0],
  ] as const) {
    test(`waits for its answer · behind the request ${name} [D10]`, async () => {
      await using counting = await startCounting();
      const { connection } = counting;
      await counting.ask(WAIT + behind);
      connection.socket.end();
      await noticed(connection);
      assert.equal(connection.received(), '');
      counting.open();
      await connection.closed();
      assert.deepEqual([connection.statuses(), counting.done()], [statuses, done]);
    });
  }

  for (const [name, first, second, statuses] of [
    ['both are answered at once', '/nope', '/nope', [404, 404]],
    ['the first waits', '/wait', '/nope', [200, 404]],
    ['both wait', '/wait', '/wait', [200, 200]],
  ] as const) {
    test(`gets two answers to two requests in the packet that ends it · ${name} [D10]`, async () => {
      await using gated = await startGated();
      const { connection } = gated;
      connection.socket.end(WAIT.replace('/wait', first) + WAIT.replace('/wait', second));
      await settled(gated.parsed);
      gated.open();
      await connection.closed();
      assert.deepEqual(connection.statuses(), statuses);
    });
  }

  test('gets all of a long answer, though it takes its time [D10]', async () => {
    const body = Buffer.alloc(16 * 2 ** 20, 'x');
    await using demo = await startDemo({ routes: [get('/large', () => ({ status: 200, body }))] });
    await using connection = await Connection.to(demo.server);
    connection.socket.pause();
    connection.socket.end(WAIT.replace('/wait', '/large'));
    await noticed(connection);
    await settled(() => connection.peer.bytesWritten);
    connection.socket.resume();
    await connection.closed();
    assert.equal(connection.answers()[0]?.body.length, body.length);
  });

  test('is waited for by a stop [D10]', async () => {
    await using gated = await startGated();
    const { connection } = gated;
    await gated.ask(WAIT);
    connection.socket.end();
    await noticed(connection);
    const { drained } = await beginDrain(gated.demo);
    gated.open();
    await Promise.all([connection.closed(), drained]);
    assert.deepEqual(connection.ends(), ['200 close']);
  });

  test('is noticed when it then resets its connection [D10]', async () => {
    await using gated = await startGated();
    const { connection } = gated;
    await gated.ask(WAIT);
    connection.socket.end();
    await noticed(connection);
    connection.socket.resetAndDestroy();
    while (!connection.peer.destroyed) await turn();
    gated.open();
    assert.equal(connection.peer.bytesWritten, 0);
  });

  test('gets nothing but its answer, though the service looks whether it is there [D10]', async ({
    mock,
  }) => {
    await using gated = await startGated();
    const { connection } = gated;
    await gated.ask(WAIT);
    connection.socket.end();
    await noticed(connection);
    const looked = mock.method(connection.peer, 'write');
    while (looked.mock.callCount() === 0) await turn();
    gated.open();
    await connection.closed();
    assert.match(connection.received(), /^HTTP\/1\.1 200 /);
  });

  test('gives its place to others when a connection is refused for want of one [D10]', async () => {
    await using gated = await startGated({ limits: { maxConnections: 1 } });
    const { connection, demo } = gated;
    await gated.ask(WAIT);
    connection.socket.end();
    await noticed(connection);
    await using refused = await Connection.open(demo.url);
    await Promise.all([connection.closed(), refused.closed()]);
    assert.deepEqual([connection.received(), refused.received()], ['', '']);
    assert.equal((await fetch(`${demo.url}/todos/1`)).status, 200);
  });
});
