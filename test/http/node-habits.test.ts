import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { listen } from '../support/folder.ts';
import { Connection } from '../support/raw.ts';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const LAST = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Milliseconds. Reached only when Node.js does nothing of what is waited for. */
const HANGS_MS = 120_000;

/**
 * A server of Node.js, without any code of the service, and a connection to it.
 *
 * @param connected is called as `ClientConnection` is made: when the server tells of a connection.
 */
async function startBare(answer: RequestListener, connected: (socket: Socket) => void = () => {}) {
  const server = createServer({ keepAliveTimeout: 0 }, answer).on('connection', connected);
  await listen(server);
  const connection = await Connection.to(server);
  return {
    connection,
    async [Symbol.asyncDispose]() {
      server.close();
      connection.peer.destroy();
      await connection[Symbol.asyncDispose]();
    },
  };
}

// Node.js documents none of them, and `src/wire/client-connection.ts` stands on each (decision 15). What is red here has
// changed in Node.js.
describe('Habits of node:http on which ClientConnection relies', { timeout: HANGS_MS }, () => {
  test("a new connection's last listeners for data and end are the parser's, and who takes their place decides what is parsed", async () => {
    let requests = 0;
    let kept = '';
    const taken: ((bytes?: Buffer) => void)[] = [];
    await using bare = await startBare(
      (_request, response) => {
        requests += 1;
        response.end();
      },
      (socket) => {
        for (const event of ['data', 'end']) {
          const listener = socket.listeners(event).at(-1);
          assert.ok(listener, `the server does not listen for ${event}`);
          taken.push(listener.bind(socket));
          socket.off(event, listener as () => void);
        }
        socket.on('data', (bytes: Buffer) => {
          kept += bytes.toString('latin1');
        });
      },
    );
    const { socket, peer } = bare.connection;
    const [parse, parseEnd] = taken;
    socket.end(GET + GET);
    await once(peer, 'end');
    assert.equal(kept, GET + GET);
    assert.equal(requests, 0);
    parse?.(Buffer.from(kept.slice(0, GET.length)));
    assert.equal(requests, 1);
    assert.equal(peer.writableEnded, false);
    parseEnd?.();
    assert.equal(peer.writableEnded, true);
  });

  test('an answer has its socket until all of it is out, and none any more when it closes', async () => {
    let socketAtClose: Socket | null | undefined;
    const answers: ServerResponse[] = [];
    await using bare = await startBare((_request, response) => {
      answers.push(response);
      response.once('close', () => {
        socketAtClose = response.socket;
      });
      response.end(Buffer.alloc(16 * 2 ** 20, 'x'));
    });
    const { connection } = bare;
    connection.socket.write(GET);
    await connection.until('200 OK');
    connection.socket.pause();
    const [response] = answers;
    assert.ok(response);
    assert.ok(connection.peer.writableLength > 0);
    assert.equal(response.socket, connection.peer);
    connection.socket.resume();
    if (!response.closed) await once(response, 'close');
    assert.equal(socketAtClose, null);
    assert.equal(connection.peer.writableLength, 0);
    assert.equal(connection.peer.destroyed, false);
  });

  test("a last answer that is out calls its socket's destroySoon once, and ends the connection by nothing else", async () => {
    let calls = 0;
    await using bare = await startBare((_request, response) => {
      const { socket } = response;
      assert.ok(socket);
      socket.destroySoon = () => {
        calls += 1;
        socket.end();
      };
      response.end('x');
    });
    const { connection } = bare;
    connection.socket.allowHalfOpen = true;
    connection.socket.write(LAST);
    await once(connection.socket, 'end');
    assert.equal(connection.answers()[0]?.body.toString(), 'x');
    assert.equal(calls, 1);
    assert.equal(connection.peer.destroyed, false);
  });
});
