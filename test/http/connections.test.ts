import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { describe, test } from 'node:test';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { Authentication } from '../../src/auth/admit.ts';
import { faultAnswers } from '../../src/http/fault-answers.ts';
import { withBody } from '../../src/http/json-body.ts';
import { ClientConnection } from '../../src/wire/client-connection.ts';
import { createHttpServer, type Receive } from '../../src/wire/http-server.ts';
import { LIMITS, type Limits } from '../../src/wire/limits.ts';
import { beginDrain, get, HURRIED, PUBLIC_LIMITS, setClocks, startDemo } from '../support/demo.ts';
import { listen } from '../support/folder.ts';
import { settled, startGated, WAIT, WAIT_WITH_BODY } from '../support/gated.ts';
import { collectGarbage } from '../support/process-figures.ts';
import { Connection } from '../support/raw.ts';

const POST = 'POST /todos HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
const LAST = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const SHORTEST = 'GET / HTTP/1.1\r\n\r\n';

const EDITOR: Authentication = {
  code: 'accepted',
  identity: { name: null, roles: ['editor'], caller: null },
};

/** A demo with a route for editors, and a connection on which the verdict about a token is awaited; nobody is slow as yet. */
async function startVerifying(limits: Partial<Limits> = {}) {
  const verdict = Promise.withResolvers<Authentication>();
  const asked = Promise.withResolvers<void>();
  const authenticate = () => {
    asked.resolve();
    return verdict.promise;
  };
  const route = { method: 'POST', path: '/todos', access: 'CanWriteTodos' } as const;
  const write = withBody(
    route,
    (value) => ({ value }),
    () => ({ status: 204 }),
  );
  const parts = new AsyncDisposableStack();
  const demo = parts.use(await startDemo({ limits, authenticate, routes: [write] }));
  setClocks(demo);
  return {
    demo,
    connection: parts.use(await Connection.to(demo.server)),
    verdict,
    asked: asked.promise,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Writes until TCP holds the writer back, and says how many bytes that took. */
async function writeUntilHeld({ socket }: Connection, bytes: string): Promise<number> {
  const chunk = Buffer.from(bytes.repeat(Math.ceil(65_536 / bytes.length)));
  let written = 0;
  let idle = 0;
  while (idle < 50) {
    if (socket.writableLength < chunk.length) {
      socket.write(chunk);
      written += chunk.length;
      idle = 0;
    } else idle += 1;
    await pause(2);
  }
  return written;
}

/** A connection over which 16 MiB of an answer are on their way. */
async function answering16MiB() {
  const server = createServer();
  const port = await listen(server);
  const accepted = once(server, 'connection');
  const client = connect(port, '127.0.0.1').on('error', () => {});
  const [peer]: Socket[] = await accepted;
  server.close();
  assert.ok(peer);
  const answering = new ClientConnection(peer.on('data', () => {}).on('end', () => {}));
  Readable.from(Array(256).fill(Buffer.alloc(65_536))).pipe(peer);
  return {
    client,
    peer,
    answering,
    [Symbol.dispose]() {
      client.destroy();
      peer.destroy();
    },
  };
}

describe('The budget of a connection', { concurrency: true }, () => {
  for (const [what, request] of [
    ['requests', WAIT],
    ['requests whose bodies are read', WAIT_WITH_BODY],
  ] as const) {
    test(`of 200 pipelined ${what} one is under way, and all are answered in the end [D10]`, async () => {
      await using gated = await startGated();
      const { connection } = gated;
      connection.socket.write(request.repeat(200));
      assert.equal(await settled(gated.underWay), 1);
      gated.open();
      while (connection.received().split('HTTP/1.1 200').length <= 200) await once(connection.socket, 'data');
      assert.equal(connection.answers().length, 200);
      assert.equal(gated.underWay(), 200);
    });
  }

  test('behind a request nothing is parsed, and a packet in each of two buffers is read [D10]', async () => {
    await using gated = await startGated();
    const { connection } = gated;
    await gated.ask(WAIT);
    const written = await writeUntilHeld(connection, SHORTEST.repeat(10_000));
    const { bytesRead } = connection.peer;
    assert.equal(gated.parsed(), 1);
    assert.ok(bytesRead <= 200 * 1024 && bytesRead < written, `${bytesRead} of ${written} bytes were read`);
  });

  test('a malformed body of a request that waits is its one 400, behind the answers before it [D10]', async () => {
    await using demo = await startDemo();
    await using connection = await Connection.open(demo.url);
    const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
    connection.socket.write(`${get.repeat(16)}GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n`);
    await connection.closed();
    assert.deepEqual(connection.statuses(), [...Array(16).fill(404), 400]);
  });

  test('a client that reads no answer is held back by TCP, and goes on where it was [D10]', async () => {
    const body = 'x'.repeat(2_000);
    await using demo = await startDemo({ routes: [get('/', () => ({ status: 200, body }))] });
    await using connection = await Connection.open(demo.url);
    connection.socket.pause();
    const request = `GET /?${body} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const written = await writeUntilHeld(connection, request);
    connection.socket.resume();
    connection.socket.write(LAST);
    await connection.closed();
    assert.equal(connection.answers().length, written / request.length + 1);
  });

  for (const bytes of [600, 3_900]) {
    test(`requests of ${bytes} bytes behind a long answer that nobody takes wait, and are answered in the end`, async () => {
      const body = Buffer.alloc(16 * 2 ** 20, 'x');
      const long = get('/long', () => ({ status: 200, body }));
      const soon = get('/soon', () => pause(20, { status: 204 }));
      await using demo = await startDemo({ routes: [long, soon] });
      await using connection = await Connection.open(demo.url);
      connection.socket.write(WAIT.replace('wait', 'long'));
      await connection.until('200 OK');
      connection.socket.pause();
      const head = 'GET /soon HTTP/1.1\r\nHost: a\r\n';
      const more = `${head}X: ${'x'.repeat(bytes)}\r\n\r\n`.repeat(10);
      connection.socket.write(`${more}${head}Connection: close\r\n\r\n`);
      await pause(50);
      connection.socket.resume();
      await connection.closed();
      assert.deepEqual(connection.statuses(), [200, ...Array(11).fill(204)]);
    });
  }

  test('a head cut in two behind an answer that takes its time gets its own time when it is parsed', async () => {
    await using gated = await startGated({ limits: HURRIED });
    const { demo, connection } = gated;
    const post = 'POST /todos/1/complete HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n';
    await gated.ask(`${WAIT}${post.slice(0, 20)}`);
    setClocks(demo, HURRIED);
    await pause(1_000);
    assert.equal(connection.received(), '');
    gated.open();
    connection.socket.write(`${post.slice(20)}{}`);
    await connection.until('"done":true');
    assert.deepEqual(connection.statuses(), [200, 200]);
  });

  test('a client is not slow while its token is verified, however long that takes', async () => {
    await using verifying = await startVerifying(HURRIED);
    const { demo, connection, verdict, asked } = verifying;
    connection.socket.write(`${POST}Content-Length: 2\r\n\r\n`);
    await asked;
    setClocks(demo, HURRIED);
    await pause(1_000);
    assert.equal(connection.received(), '');
    verdict.resolve(EDITOR);
    connection.socket.write('{}');
    await connection.until('HTTP/1.1 204');
    assert.equal(connection.answers().length, 1);
  });

  test('a body has its time from when it was wanted, although Node.js calls it slow', async () => {
    await using verifying = await startVerifying();
    const { demo, connection, verdict, asked } = verifying;
    connection.socket.write(`${POST}Content-Length: 2\r\n\r\n{`);
    await asked;
    verdict.resolve(EDITOR);
    await turn();
    const slow = Object.assign(new Error('slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    demo.server.emit('clientError', slow, connection.peer);
    await turn();
    connection.socket.write('}');
    await connection.until('HTTP/1.1 204');
    assert.equal(connection.answers().length, 1);
  });

  test('a body that does not come within its time from when it was wanted is a 408, behind another too', async () => {
    await using verifying = await startVerifying(HURRIED);
    const { demo, connection, verdict, asked } = verifying;
    const begun = `${POST}Content-Length: 2\r\n\r\n{`;
    connection.socket.write(begun);
    await asked;
    verdict.resolve(EDITOR);
    await turn();
    const slow = Object.assign(new Error('slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    demo.server.emit('clientError', slow, connection.peer);
    await turn();
    connection.socket.write(`}${begun}`);
    await connection.closed();
    assert.deepEqual(connection.statuses(), [204, 408]);
  });

  test('a body that is malformed, after Node.js called it slow, is a 400 behind which the client may go on [B5]', async () => {
    await using verifying = await startVerifying({
      ...HURRIED,
      silenceTimeout: 600_000,
      lingerTimeout: 600_000,
    });
    const { demo, connection, verdict, asked } = verifying;
    connection.socket.allowHalfOpen = true;
    connection.socket.write(`${POST}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`);
    await asked;
    verdict.resolve(EDITOR);
    await turn();
    const slow = Object.assign(new Error('slow'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    demo.server.emit('clientError', slow, connection.peer);
    await turn();
    connection.socket.write('zz\r\n');
    await connection.until('400 Bad Request');
    await pause(2 * HURRIED.requestTimeout);
    assert.equal(connection.peer.destroyed, false);
    connection.socket.end();
    await connection.closed();
    assert.deepEqual(connection.statuses(), [400]);
  });

  test('nothing is left of a connection that is cut off while its body is not wanted, although Node.js called it slow', async () => {
    await using verifying = await startVerifying(HURRIED);
    const { demo, verdict, asked } = verifying;
    await verifying.connection[Symbol.asyncDispose]();
    // Here nobody has the server's end of it.
    await using connection = await Connection.open(demo.url);
    const calledSlow = once(demo.server, 'clientError').then(([, socket]) => new WeakRef(socket));
    connection.socket.write(`${POST}Content-Length: 2\r\n\r\n{`);
    await asked;
    setClocks(demo, HURRIED);
    const socket = await calledSlow;
    demo.server.closeAllConnections();
    verdict.resolve(EDITOR);
    for (let looks = 0; socket.deref() !== undefined && looks < 100; looks += 1) {
      await pause(50);
      collectGarbage();
    }
    assert.equal(socket.deref(), undefined);
  });

  for (const [name, body, statuses] of [
    ['a complete body', '{}', [204]],
    ['half a body', '{', []],
  ] as const) {
    test(`a client that closes its side while its token is verified has sent its request, or not · ${name} [D10]`, async () => {
      await using verifying = await startVerifying();
      const { connection, verdict, asked } = verifying;
      connection.socket.end(`${POST}Content-Length: 2\r\n\r\n${body}`);
      await asked;
      while (!connection.peer.readableEnded) await turn();
      verdict.resolve(EDITOR);
      await connection.closed();
      assert.deepEqual(connection.statuses(), statuses);
    });
  }

  test('a body is not read on while the token is verified, and thrown away when it is refused [D10]', async () => {
    await using verifying = await startVerifying();
    const { connection, verdict } = verifying;
    connection.socket.write('POST /todos HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    const written = await writeUntilHeld(connection, '1\r\nx\r\n');
    const { bytesRead } = connection.peer;
    assert.ok(bytesRead < 256 * 1024 && bytesRead < written, `${bytesRead} of ${written} bytes were read`);
    verdict.resolve({ code: 'test', answer: { status: 401 } });
    await connection.until('HTTP/1.1 401');
    await connection.closed();
  });

  test('a malformed body that waits for a 100 and for the verdict on its token is one 400, and no crash', async () => {
    await using verifying = await startVerifying();
    const { demo, connection, verdict, asked } = verifying;
    connection.socket.write(`${POST}Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`);
    await asked;
    await turn();
    verdict.resolve(EDITOR);
    await connection.closed();
    assert.deepEqual(
      connection.statuses().filter((status) => status >= 200),
      [400],
    );
    assert.deepEqual(
      demo.log.map(({ event }) => event),
      ['request-refused'],
    );
  });

  test('a body is read on when the verification of its token fails, and the connection serves the next', async () => {
    await using verifying = await startVerifying();
    const { connection, verdict, asked } = verifying;
    connection.socket.write('POST /todos HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{');
    await asked;
    verdict.reject(new Error('broken'));
    connection.socket.write('}GET /nope HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await connection.closed();
    assert.deepEqual(connection.statuses(), [500, 404]);
  });

  for (const [name, stops] of [
    ['at a stop', true],
    ['with Connection: close', false],
  ] as const) {
    test(`what comes behind a last request is read away, so that its answer arrives · ${name} [D10]`, async () => {
      await using gated = await startGated();
      const { demo, connection } = gated;
      const failed = once(connection.socket, 'error').then(([error]) => assert.fail(String(error)));
      const request = stops ? WAIT : WAIT.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n');
      await gated.ask(request);
      connection.socket.write(WAIT.repeat(10_000));
      while (connection.peer.bytesRead === request.length) await turn();
      const { drained } = stops ? await beginDrain(demo) : {};
      gated.open();
      await Promise.race([connection.closed(), failed]);
      await drained;
      while (!connection.peer.destroyed) await turn();
      assert.deepEqual(connection.ends(), ['200 close']);
      assert.equal(gated.parsed(), 1);
      assert.equal(connection.peer.bytesRead, request.length + 10_000 * WAIT.length);
    });
  }

  for (const [name, packets] of [
    ['one packet', 1],
    ['50 packets', 50],
  ] as const) {
    test(`every connection has its turn: of one at most 4 KiB are parsed at a time · ${name}`, async () => {
      await using gated = await startGated();
      const { connection } = gated;
      connection.socket.setNoDelay().write(WAIT);
      await settled(gated.underWay);
      const packet = `GET /${'x'.repeat(1_000)} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(50 / packets);
      let bytes = WAIT.length;
      for (let written = 0; written < packets; written += 1) {
        connection.socket.write(packet);
        bytes += packet.length;
        while (connection.peer.bytesRead !== bytes) await turn();
      }
      const perTurn: number[] = [];
      let before = gated.parsed();
      gated.open();
      while (gated.parsed() < 51) {
        await turn();
        perTurn.push(gated.parsed() - before);
        before = gated.parsed();
      }
      // A turn that ends in the middle of ours is followed by another.
      assert.ok(Math.max(...perTurn) <= 2 * 4, `${perTurn.filter((some) => some > 0)} requests a turn`);
    });
  }

  test('every connection has its turn: of one body at most 4 KiB are parsed at a time', async () => {
    await using demo = await startDemo();
    let parsed = 0;
    demo.server.prependListener('request', (request: IncomingMessage) => {
      request.on('data', ({ length }: Buffer) => {
        parsed += length;
      });
    });
    await using connection = await Connection.open(demo.url);
    const body = 'x'.repeat(60_000);
    connection.socket.write(
      `POST /todos/1/complete HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n${body}`,
    );
    const perTurn: number[] = [];
    for (let before = 0; before < body.length; before = parsed) {
      await turn();
      perTurn.push(parsed - before);
    }
    await connection.until('"done":true}');
    const turns = perTurn.filter((some) => some > 0).length;
    assert.ok(turns > (0.8 * body.length) / 4_096, `${perTurn} bytes a turn`);
  });

  test('a client that goes on reading is not cut off, however long its answer takes [D10]', async () => {
    using setup = await answering16MiB();
    const { client, peer, answering } = setup;
    let now = performance.now();
    let before = 0;
    let read = 0;
    for await (const { length } of client) {
      read += length;
      // The kernel takes the next when half of what it holds is read.
      const taken = peer.bytesWritten - peer.writableLength;
      if (taken === before) continue;
      before = taken;
      now += 59_999;
      answering.cutOff(now, LIMITS);
    }
    assert.equal(read, 256 * 65_536);
  });

  test('a client that reads nothing is cut off after 60 s, although more of its answer is made [D10]', async () => {
    using setup = await answering16MiB();
    const { peer, answering } = setup;
    await settled(() => peer.bytesWritten - peer.writableLength);
    // Of a fraction the difference could be rounded to less than 60 s.
    const now = Math.ceil(performance.now());
    for (const milliseconds of [0, 59_999]) {
      answering.cutOff(now + milliseconds, LIMITS);
      assert.equal(peer.destroyed, false);
      peer.write('more');
    }
    answering.cutOff(now + 60_000, LIMITS);
    assert.ok(peer.destroyed);
  });

  test('of a long answer that nobody takes, 1 MiB at a time waits for the kernel [D10]', async () => {
    const body = Buffer.alloc(16 * 2 ** 20, 'x');
    await using demo = await startDemo({ routes: [get('/large', () => ({ status: 200, body }))] });
    await using connection = await Connection.to(demo.server);
    connection.socket.write('GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await connection.until('200 OK');
    connection.socket.pause();
    let waiting = 0;
    await settled(() => {
      waiting = Math.max(waiting, connection.peer.writableLength);
      return connection.peer.bytesWritten;
    });
    assert.ok(waiting > 64 * 1024 && waiting <= 1025 * 1024, `${waiting} bytes wait`);
    connection.socket.resume();
    await connection.closed();
    assert.equal(connection.answers()[0]?.body.length, body.length);
  });

  test('a HEAD of a long answer gets its head alone, and the connection serves the next request', async () => {
    const body = Buffer.alloc(4 * 2 ** 20, 'x');
    await using demo = await startDemo({ routes: [get('/large', () => ({ status: 200, body }))] });
    await using connection = await Connection.open(demo.url);
    connection.socket.write(`HEAD /large HTTP/1.1\r\nHost: a\r\n\r\n${LAST}`);
    await connection.closed();
    assert.match(connection.received(), /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)+\r\nHTTP\/1\.1 404 /);
    assert.match(connection.received(), /^content-length: 4194304\r$/m);
  });

  for (const [name, last] of [
    ['a problem of request validation', 'GET / HTTP/1.1\r\n\r\n'],
    ['the same with a body', 'POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}'],
    ['an unknown expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n'],
    ['the wish of the client', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  ] as const) {
    test(`nothing is done behind an answer that closes the connection · ${name}`, async () => {
      let done = 0;
      const count = get('/count', () => {
        done += 1;
        return { status: 204 };
      });
      await using gated = await startGated({ routes: [count] });
      const { connection } = gated;
      const more = WAIT.replace('wait', 'count');
      connection.socket.write(`${WAIT}${last}${more.repeat(1_000)}`);
      await settled(() => connection.peer.bytesRead);
      connection.socket.write(more);
      await settled(() => connection.peer.bytesRead);
      gated.open();
      await connection.closed();
      assert.equal(connection.answers().length, 2);
      assert.match(connection.ends()[1] ?? '', / close$/);
      assert.equal(done, 0);
      assert.ok(gated.parsed() < 64, `${gated.parsed()} parsed`);
    });
  }

  test('a long answer is sent to its end, although a CONNECT follows the request', async () => {
    const body = Buffer.alloc(4 * 2 ** 20, 'x');
    await using demo = await startDemo({ routes: [get('/large', () => ({ status: 200, body }))] });
    await using connection = await Connection.open(demo.url);
    connection.socket.write(
      'GET /large HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n',
    );
    await connection.closed();
    assert.deepEqual(connection.statuses(), [200, 400]);
  });

  // Empty lines take their turns: the request behind them begins some turns after the packet was read.
  for (const [name, first, rest] of [
    ['bytes that are not parsed yet', `${'\r\n'.repeat(30_000)}${LAST}`, ''],
    ['the beginning of a request line', LAST.slice(0, 2), LAST.slice(2)],
    ['the beginning of a head', LAST.slice(0, 20), LAST.slice(20)],
  ] as const) {
    test(`a connection is not idle: ${name}`, async () => {
      const answer = (_: IncomingMessage, response: ServerResponse) => response.end();
      const { server, connections } = createHttpServer(answer, PUBLIC_LIMITS, faultAnswers(), () => {});
      await listen(server);
      await using connection = await Connection.to(server);
      connection.socket.write(first);
      while (connection.peer.bytesRead === 0) await turn();
      for (const open of connections.values()) open.closeIdle(Number.POSITIVE_INFINITY);
      connection.socket.write(rest);
      await connection.closed();
      server.close();
      assert.equal(connection.answers().length, 1);
    });
  }

  test('a connection is not idle: a request line has begun behind a head whose end came apart', async () => {
    const answer = (_: IncomingMessage, response: ServerResponse) => response.end();
    const { server, connections } = createHttpServer(answer, PUBLIC_LIMITS, faultAnswers(), () => {});
    await listen(server);
    await using connection = await Connection.to(server);
    connection.socket.write(WAIT.slice(0, -1));
    while (connection.peer.bytesRead < WAIT.length - 1) await turn();
    connection.socket.write(`\n${LAST.slice(0, 2)}`);
    await connection.until('200 OK');
    for (const open of connections.values()) open.closeIdle(Number.POSITIVE_INFINITY);
    connection.socket.write(LAST.slice(2));
    await connection.closed();
    server.close();
    assert.equal(connection.answers().length, 2);
  });

  for (const empty of ['', '\r', '\r\n', '\r\n\r\n\r']) {
    test(`a connection is idle, though ${JSON.stringify(empty)} came behind its answer`, async () => {
      const answer = (_: IncomingMessage, response: ServerResponse) => response.end();
      const { server, connections } = createHttpServer(answer, PUBLIC_LIMITS, faultAnswers(), () => {});
      await listen(server);
      await using connection = await Connection.to(server);
      connection.socket.write(WAIT);
      await connection.until('200 OK');
      const { bytesRead } = connection.peer;
      connection.socket.write(empty);
      while (connection.peer.bytesRead < bytesRead + empty.length) await turn();
      for (const open of connections.values()) open.closeIdle(Number.POSITIVE_INFINITY);
      await connection.closed();
      server.close();
    });
  }

  test('bytes behind a last answer do not wait for their turn [B5]', async () => {
    const answer: Receive = (_, response, connection) => connection.endLast(response, undefined);
    const { server, connections } = createHttpServer(answer, PUBLIC_LIMITS, faultAnswers(), () => {});
    await listen(server);
    await using connection = await Connection.to(server);
    connection.socket.allowHalfOpen = true;
    connection.socket.write(LAST.repeat(2));
    await connection.until('200 OK');
    const [latest] = connections.values();
    assert.equal(latest?.stoodStillSince(performance.now()), false);
    connection.socket.end();
    await connection.closed();
    server.close();
  });

  for (const [name, more] of [
    ['alone', ''],
    ['behind it another request', WAIT],
    ['behind it a CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n'],
  ] as const) {
    test(`a client is noticed that resets its connection while its answer is made · ${name}`, async () => {
      await using gated = await startGated();
      const closed = Promise.withResolvers<boolean>();
      gated.demo.server.on('request', (_, response) => {
        response.once('close', () => closed.resolve(response.writableFinished));
      });
      await gated.ask(WAIT + more);
      gated.connection.socket.resetAndDestroy();
      assert.equal(await closed.promise, false);
      gated.open();
      assert.equal(await settled(gated.underWay), 1);
    });
  }

  test('nothing behind a CONNECT is parsed, and other connections are served', async () => {
    await using gated = await startGated();
    const { connection } = gated;
    connection.socket.write(`CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n${WAIT.repeat(500)}`);
    await using other = await Connection.open(gated.demo.url);
    other.socket.write('GET /todos/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await Promise.all([connection.closed(), other.closed()]);
    assert.deepEqual(
      [connection, other].map((each) => each.statuses()),
      [[400], [200]],
    );
    assert.equal(gated.underWay(), 0);
  });
});
