import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { ClientConnection } from '../../src/wire/client-connection.ts';
import { LIMITS } from '../../src/wire/limits.ts';
import { beginDrain, HURRIED, setClocks, startDemo } from '../support/demo.ts';
import { assertRefused, Connection } from '../support/raw.ts';

/** Milliseconds. Longer than any test takes on a slow machine. */
const FOR_EVER = { silenceTimeout: 600_000, lingerTimeout: 600_000 };

/** Milliseconds. Reached only when something lasts for ever that must end. */
const HANGS_MS = 120_000;

const demo = await startDemo({ limits: FOR_EVER });
after(() => demo[Symbol.asyncDispose]());

const MIB = 2 ** 20;
const TOO_LARGE = `POST /todos/1/complete HTTP/1.1\r\nHost: a\r\nContent-Length: ${5 * MIB}\r\n\r\n`;

/** Last answers with more behind them. */
const LAST = [
  [413, 'too large a body', TOO_LARGE],
  [
    404,
    'an expectation that is refused',
    TOO_LARGE.replace('todos', 'nope').replace('Host', 'Expect: 100-continue\r\nHost'),
  ],
  [400, 'no HTTP', 'GARBAGE'],
  [400, 'a CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n'],
  [431, 'too large a head', 'GET / HTTP/1.1\r\nHost: a\r\nX: '],
  [200, 'the wish of the client', 'GET /todos/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
] as const;

/** A connection whose last answer is out, with its end of it. The client does not close its side by itself. */
async function lingering({ server }: { readonly server: Server }, begun: string = TOO_LARGE) {
  const connection = await Connection.to(server);
  connection.socket.allowHalfOpen = true;
  const ended = once(connection.socket, 'end');
  connection.socket.write(begun);
  if (begun.endsWith('X: ')) connection.socket.write('x'.repeat(40_000));
  await ended;
  return connection;
}

/** Waits until the service has given it up: a client whose side is open is not told. Fails when it never does. */
async function ended({ peer }: { readonly peer: Socket }): Promise<void> {
  if (!peer.destroyed) await once(peer, 'close', { signal: AbortSignal.timeout(HANGS_MS) });
}

describe('What comes behind a last answer', { concurrency: true }, () => {
  for (const [status, name, begun] of LAST) {
    test(`a client that writes all before it reads gets its ${status} · ${name} [B5]`, async () => {
      await using connection = await Connection.open(demo.url);
      const { socket } = connection;
      const failed = once(socket, 'error').then(([error]) => assert.fail(String(error)));
      socket.pause();
      socket.write(begun);
      // Longer than a second, and more than TCP takes by itself.
      for (let written = 0; written < 20; written += 1) {
        await pause(100);
        await Promise.race([failed, new Promise((taken) => socket.write(Buffer.alloc(MIB / 4, 'x'), taken))]);
      }
      socket.resume();
      await Promise.race([failed, connection.closed()]);
      assert.equal(connection.statuses().at(-1), status);
    });

    test(`the end of the connection comes with a ${status}, and the answer ends with it · ${name} [B5]`, async () => {
      const responses: ServerResponse[] = [];
      const keep = (_: unknown, response: ServerResponse) => responses.push(response);
      await using own = await startDemo({ limits: FOR_EVER });
      own.server.on('request', keep).on('checkContinue', keep);
      await using connection = await lingering(own, begun);
      for (const response of responses) assert.equal(response.closed, true);
      assert.equal(connection.statuses().at(-1), status);
      assert.equal(connection.peer.destroyed, false);
      connection.socket.end();
      await ended(connection);
    });
  }

  test('no more than 64 MiB are read [B5]', async () => {
    await using connection = await lingering(demo);
    const { peer, socket } = connection;
    // A client that is not read any more waits for ever.
    const closed = ended(connection);
    while (!peer.destroyed && peer.bytesRead < 80 * MIB) {
      await Promise.race([closed, new Promise((taken) => socket.write(Buffer.alloc(MIB), taken))]);
    }
    const { bytesRead } = peer;
    assert.ok(bytesRead >= 64 * MIB && bytesRead < 66 * MIB, `${bytesRead} bytes were read`);
  });

  test('of all connections that linger, one is read in a turn of the event loop [B5]', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => lingering(demo)));
    for (const { socket } of all) socket.write(Buffer.alloc(8 * MIB));
    const read = () => all.reduce((sum, { peer }) => sum + peer.bytesRead, 0);
    while (read() < 20 * MIB) await turn();
    for (let turns = 0; turns < 50; turns += 1) {
      const before = read();
      await turn();
      assert.ok(read() - before <= MIB / 4, `${read() - before} bytes were read in a turn`);
    }
    for (const connection of all) await connection[Symbol.asyncDispose]();
  });

  for (const [name, limits, drips] of [
    ['5 s without a byte', { silenceTimeout: 100 }, false],
    ['30 s, whatever comes', { lingerTimeout: 500 }, true],
  ] as const) {
    test(`it is over after ${name} [B5]`, async () => {
      await using own = await startDemo({
        limits: { ...FOR_EVER, answerTimeout: 400, ...limits },
      });
      await using connection = await lingering(own);
      using _drip = setInterval(() => drips && connection.socket.write('x'), 20);
      await ended(connection);
    });
  }

  test('the times of a head and a body do not count for what comes behind a last answer [B5]', async () => {
    await using own = await startDemo({ limits: { ...FOR_EVER, ...HURRIED } });
    setClocks(own);
    const all = await Promise.all(LAST.map(([, , begun]) => lingering(own, begun)));
    setClocks(own, HURRIED);
    for (let times = 0; times < 40; times += 1) {
      await pause(50);
      for (const { socket } of all) socket.write('x');
    }
    for (const [index, connection] of all.entries()) {
      assert.equal(connection.peer.destroyed, false, `behind a ${LAST[index]?.[0]}`);
      await connection[Symbol.asyncDispose]();
    }
  });

  test('what comes is read for 30 s, as long as 5 s never pass without a byte [B5]', async () => {
    await using connection = await lingering(demo);
    const { peer, socket } = connection;
    const watched = new ClientConnection(peer);
    let now = Math.ceil(performance.now());
    watched.cutOff(now, LIMITS);
    for (let seconds = 4.999; seconds < 30; seconds += 4.999) {
      const { bytesRead } = peer;
      socket.write('x');
      while (peer.bytesRead === bytesRead) await turn();
      now += 4_999;
      watched.cutOff(now, LIMITS);
      assert.equal(peer.destroyed, false);
    }
    watched.cutOff(now + 6, LIMITS);
    assert.equal(peer.destroyed, true);
  });

  test('a 408 is closed at once [Order 1]', async () => {
    await using own = await startDemo({
      limits: { ...FOR_EVER, headersTimeout: 100, requestTimeout: 100, connectionsCheckingInterval: 50 },
    });
    for (const begun of ['GET', TOO_LARGE.replace(String(5 * MIB), '2')]) {
      await using connection = await lingering(own, begun);
      assertRefused(connection.answers(), 408);
      await ended(connection);
    }
  });

  test('at a stop it ends with the idle connections [B5]', { timeout: HANGS_MS }, async () => {
    await using own = await startDemo({ limits: FOR_EVER });
    const all = [];
    for (const [, , begun] of LAST) all.push(await lingering(own, begun));
    const { drained } = await beginDrain(own);
    await Promise.all([drained, ...all.map(ended)]);
  });

  test('it gives its place to others: it ends when a connection is refused for want of a place [B5]', {
    timeout: HANGS_MS,
  }, async () => {
    await using own = await startDemo({ limits: { maxConnections: 2, ...FOR_EVER } });
    await using first = await lingering(own);
    await using second = await lingering(own);
    await using refused = await Connection.open(own.url);
    await Promise.all([ended(first), ended(second), refused.closed()]);
    assert.equal((await fetch(`${own.url}/todos/1`)).status, 200);
  });
});
