import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { header } from '../../packages/conformance/src/http.ts';
import { json } from '../../src/http/answer.ts';
import type { Call } from '../../src/http/call.ts';
import { faultAnswers } from '../../src/http/fault-answers.ts';
import { withBody } from '../../src/http/json-body.ts';
import type { Route } from '../../src/http/route.ts';
import { readConfig } from '../../src/server/config.ts';
import { LIMITS } from '../../src/wire/limits.ts';
import { openListener } from '../../src/wire/listener.ts';
import { get, HURRIED, PUBLIC_LIMITS, setClocks, startDemo } from '../support/demo.ts';
import { startList } from '../support/list.ts';
import { assertRefused, Connection } from '../support/raw.ts';

const POST = 'POST /todos/1/complete HTTP/1.1\r\nHost: a\r\n';

describe('Slow clients', { concurrency: true }, () => {
  for (const [name, bytes] of [
    ['a socket that says nothing', ''],
    ['half a request line', 'GET /tod'],
    ['a head without its end', 'GET /todos/1 HTTP/1.1\r\nHost: a\r\nX: '],
    ['a body that does not come', `${POST}Content-Length: 2\r\n\r\n`],
    ['half a body', `${POST}Content-Length: 2\r\n\r\n{`],
    ['half a chunk', `${POST}Transfer-Encoding: chunked\r\n\r\n5\r\n{`],
    ['a body that was asked for with a 100', `${POST}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`],
    ['a second request without its end', 'GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\nGET /todos/1 HTTP/1.1\r\n'],
  ] as const) {
    test(`what is too slow is a 408 and closes the connection: ${name} [Order 1]`, async () => {
      await using demo = await startDemo({ limits: HURRIED });
      await using connection = await Connection.open(demo.url);
      connection.socket.write(bytes);
      await connection.closed();
      assertRefused(
        connection.answers().filter(({ status }) => status >= 400),
        408,
      );
    });
  }

  test('of a client that was too slow with its body nothing more is read', async () => {
    await using demo = await startDemo({ limits: HURRIED });
    setClocks(demo);
    await using connection = await Connection.to(demo.server);
    const begun = `${POST}Content-Length: 2\r\n\r\n{`;
    connection.socket.write(begun);
    while (connection.peer.bytesRead === 0) await turn();
    setClocks(demo, HURRIED);
    await connection.until('408 Request Timeout');
    await turn();
    connection.socket.write('}');
    await connection.closed();
    assert.equal(connection.peer.bytesRead, begun.length);
  });

  for (const [status, head] of [
    [401, 'DELETE /mine HTTP/1.1\r\n'],
    [404, 'POST /nope HTTP/1.1\r\n'],
    [405, 'POST /todos/1 HTTP/1.1\r\n'],
    [415, 'POST /todos HTTP/1.1\r\n'],
  ] as const) {
    test(`a body that is thrown away gets no time beyond that of its request: ${status}`, async () => {
      const calls: Call[] = [];
      const traces = {
        begin(call: Call) {
          calls.push(call);
          return undefined;
        },
      };
      const mine: Route = {
        method: 'DELETE',
        path: '/mine',
        access: 'authenticated',
        handle: () => json({}, 'no-store'),
      };
      const add: Route = withBody(
        { method: 'POST', path: '/todos', access: 'open' },
        (value) => ({ value }),
        () => json({}, 'no-store'),
      );
      const authenticate = () => ({ code: 'missing', answer: { status: 401 } });
      await using demo = await startDemo({ routes: [mine, add], authenticate, traces });
      await using connection = await Connection.open(demo.url);
      const from = performance.now();
      connection.socket.write(`${head}Host: a\r\nContent-Length: 2\r\n\r\n{`);
      while (calls[0]?.request.readableFlowing !== true) await turn();
      await turn();
      assert.equal(calls[0].connection.stoodStillSince(from), false);
      connection.socket.write('}');
      await connection.until(`HTTP/1.1 ${status} `);
    });
  }

  test('a head that comes a byte at a time is cut off too', async () => {
    await using demo = await startDemo({ limits: HURRIED });
    await using connection = await Connection.open(demo.url);
    const drip = setInterval(() => connection.socket.write('X'), 20);
    connection.socket.write('GET /todos/1 HTTP/1.1\r\nHost: a\r\nX: ');
    await connection.closed();
    clearInterval(drip);
    assert.deepEqual(connection.statuses(), [408]);
  });

  test('an idle connection closes without a word', async () => {
    await using demo = await startDemo({ limits: { keepAliveTimeout: 100 } });
    await using connection = await Connection.open(demo.url);
    connection.socket.write('GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await connection.closed();
    assert.deepEqual(connection.statuses(), [200]);
  });

  for (const [value, seconds] of [
    ['', 75],
    ['5', 5],
    ['600', 600],
    ['3600', 3600],
  ] as const) {
    test(`TODO_KEEP_ALIVE_SECONDS="${value}" keeps an idle connection ${seconds} s, of the admin port 75 s [D22]`, async () => {
      const env = { TODO_KEEP_ALIVE_SECONDS: value, TODO_ADMIN_PORT: '0' };
      await using list = await startList({ env });
      for (const [url, kept] of [
        [list.url, seconds],
        [list.adminUrl, 75],
      ] as const) {
        await using connection = await Connection.open(url);
        connection.socket.write('GET /nope HTTP/1.1\r\nHost: a\r\n\r\n');
        await connection.until('"traceId"');
        const [reply] = connection.answers();
        assert.ok(reply);
        assert.equal(header(reply, 'keep-alive'), `timeout=${kept}`);
      }
    });
  }

  for (const value of ['4', '0', '3601', '-5', '75s', '7.5', '1e3', '99999999999999999999']) {
    test(`TODO_KEEP_ALIVE_SECONDS="${value}" is a fault of the configuration [D22]`, async () => {
      const read = readConfig({ profile: 'error-demo' }, { TODO_KEEP_ALIVE_SECONDS: value });
      const wanted = 'TODO_KEEP_ALIVE_SECONDS must be a whole number of seconds from 5 to 3600';
      await assert.rejects(read, { faults: [`${wanted}, received "${value}"`] });
    });
  }

  test('a client that leaves its side open after a 400 to what is not HTTP is cut off', async () => {
    await using demo = await startDemo();
    const accepted = once(demo.server, 'connection');
    const client = connect({ port: Number(new URL(demo.url).port), host: '127.0.0.1', allowHalfOpen: true });
    const [socket]: Socket[] = await accepted;
    assert.ok(socket);
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(100_000) });
    client
      .on('error', () => {})
      .resume()
      .write('x\r\n\r\n');
    await closed;
    client.destroy();
  });

  test('a client that does not read its answer is cut off [D10]', async () => {
    await using demo = await startDemo({
      limits: { answerTimeout: 200 },
      routes: [get('/large', () => ({ status: 200, body: Buffer.alloc(64 * 1024 * 1024) }))],
    });
    await using connection = await Connection.to(demo.server);
    connection.socket.pause();
    connection.socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(connection.peer, 'close');
    assert.equal(connection.socket.destroyed, false);
  });

  test('the limits of production: slow heads 6 s, slow bodies 11 s, answers 60 s, keep-alive 75 s, 1,000 sockets', async () => {
    const { config } = await readConfig({ profile: 'error-demo' }, {});
    const listener = openListener({
      name: 'public',
      answers: faultAnswers(),
      logEvent() {},
      limits: PUBLIC_LIMITS,
    });
    const address = { host: '127.0.0.1', port: 0, setting: 'none' };
    const { server } = await listener.listen(() => {}, address);
    await listener.drain(0);
    assert.ok(server.headersTimeout + 500 <= 6_000);
    assert.ok(server.requestTimeout + 500 <= 11_000);
    assert.equal(LIMITS.answerTimeout, 60_000);
    assert.equal(config?.keepAliveSeconds, 75);
    assert.equal(config?.maxConnections, 1_000);
  });
});
