import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startDemo } from './demo.ts';
import { startList } from './list.ts';
import { Connection, converse } from './raw.ts';

const list = await startList();
after(() => list[Symbol.asyncDispose]());

const BODY = '{"title":"Buy milk","categoryId":1}';

/** Everything but the line and the body of a request that would be fine for an editor. */
function head(line: string, token: string | undefined, extra = '', type = 'application/json'): string {
  const authorization = token === undefined ? '' : `Authorization: Bearer ${token}\r\n`;
  return `${line} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\n${authorization}${extra}`;
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Bytes of buffers that are still in use. The others are freed beside the collection: the next one sees it. */
async function memoryInUse(): Promise<number> {
  let before = Number.POSITIVE_INFINITY;
  for (;;) {
    collectGarbage();
    await turn();
    const { arrayBuffers: now } = process.memoryUsage();
    if (now >= before) return now;
    before = now;
  }
}

const refusals: readonly (readonly [status: number, name: string, head: string])[] = [
  [401, 'no token', head('POST /todos', undefined)],
  [403, 'a reader', head('POST /todos', list.reader)],
  [404, 'an unknown path', head('POST /nope', list.editor)],
  [405, 'a wrong method', head('PATCH /todos', list.editor)],
  [415, 'another media type', head('POST /todos', list.editor, '', 'text/plain')],
  [415, 'a compressed body', head('POST /todos', list.editor, 'Content-Encoding: gzip\r\n')],
];

describe('Bodies before answers', { concurrency: true }, () => {
  for (const [status, name, start] of refusals) {
    test(`a ${status} waits for the end of the body, and the connection serves the next · ${name}`, async () => {
      await using connection = await Connection.open(list.url);
      connection.socket.write(`${start}Content-Length: ${BODY.length}\r\n\r\n${BODY.slice(0, 10)}`);
      await fetch(`${list.url}/nope`);
      assert.equal(connection.received(), '');
      connection.socket.write(`${BODY.slice(10)}GET /nope HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      await connection.closed();
      assert.deepEqual(
        connection.answers().map((answer) => answer.status),
        [status, 404],
      );
    });

    test(`Order 1, One request gets one answer · a malformed body is one 400, whatever else would be a ${status}: ${name}`, async () => {
      const answers = await converse(
        list.url,
        `${start}Transfer-Encoding: chunked\r\n\r\n2\r\n{}x\r\n0\r\n\r\n`,
      );
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [400],
      );
    });

    test(`a ${status} does not wait for more than 64 KiB, and the connection closes · ${name}`, async () => {
      const answers = await converse(
        list.url,
        `${start}Content-Length: 10000000\r\n\r\n`,
        'a'.repeat(70_000),
      );
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [status],
      );
      assert.equal(answers[0]?.headers.get('connection'), 'close');
    });
  }

  test('a body of exactly 64 KiB is read, one byte more is a 413 that arrives although the client goes on', async () => {
    const start = head('POST /todos', list.editor, 'Connection: close\r\n');
    const bodies = [65_536, 65_537].map((size) => BODY.padEnd(size));
    const statuses = [];
    for (const body of bodies) {
      const [answer] = await converse(list.url, `${start}Content-Length: ${body.length}\r\n\r\n`, body);
      statuses.push(answer?.status);
    }
    assert.deepEqual(statuses, [201, 413]);
  });

  for (const draining of [false, true]) {
    test(`a body that grows too large and malformed at once is one 400 · ${draining ? 'draining' : 'as ever'}`, async () => {
      await using demo = await startDemo();
      await using connection = await Connection.open(demo.url);
      const chunked = 'GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n';
      connection.socket.write(`GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n${chunked}${'a'.repeat(65_000)}`);
      await connection.until('"done":false}');
      const drained = draining ? demo.listeners.drain(60_000) : undefined;
      connection.socket.write(`${'a'.repeat(536)}\r\n1\r\na\r\nx\r\n`);
      await connection.closed();
      await drained;
      assert.deepEqual(connection.statuses(), [200, 400]);
      assert.deepEqual(demo.log, []);
    });
  }

  test('B5 · of too large a body not much more than 1 MiB is read', async () => {
    await using demo = await startDemo();
    const accepted = once(demo.server, 'connection');
    await using connection = await Connection.open(demo.url);
    const [socket]: Socket[] = await accepted;
    const size = 64 * 2 ** 20;
    connection.socket.write(`GET /todos/1 HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`);
    connection.socket.write(Buffer.alloc(size));
    await connection.closed();
    assert.match(connection.received(), /^HTTP\/1\.1 413 /);
    assert.ok(Number(socket?.bytesRead) < 8 * 2 ** 20, `${socket?.bytesRead} bytes were read`);
  });

  test('B5 · too large a body that begins to come behind its 413 is read to its end and no longer', async () => {
    await using demo = await startDemo();
    const accepted = once(demo.server, 'connection');
    await using connection = await Connection.open(demo.url);
    const [socket]: Socket[] = await accepted;
    const asked = once(demo.server, 'request');
    const start = 'GET /todos/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n';
    connection.socket.write(start);
    const [, response]: ServerResponse[] = await asked;
    await connection.until('HTTP/1.1 413 ');
    connection.socket.write(Buffer.alloc(70_000));
    while (!socket?.destroyed && socket?.bytesRead !== start.length + 70_000) await turn();
    await turn();
    assert.equal(response?.writableEnded, true);
    await connection.closed();
    assert.equal(socket?.bytesRead, start.length + 70_000);
  });

  test('B5 · a client that sends no more of too large a body is not waited for', async () => {
    const answers = await converse(
      list.url,
      `${head('POST /todos', list.editor)}Content-Length: 70000\r\n\r\n{`,
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [413],
    );
  });

  test('a HEAD that announces too large a body gets the head of the 413 and no body', async () => {
    const start = head('HEAD /todos', list.reader);
    await using connection = await Connection.open(list.url);
    connection.socket.write(`${start}Content-Length: 70000\r\n\r\n`);
    await connection.closed();
    assert.match(connection.received(), /^HTTP\/1\.1 413 /);
    assert.match(connection.received(), /\r\n\r\n$/);
  });
});

describe('The memory of bodies', () => {
  for (const [name, line] of [
    ['is refused', 'POST /nope'],
    ['is ignored', 'GET /todos/1'],
  ] as const) {
    test(`nothing is kept of a body that ${name}, while it is on its way`, async () => {
      await using demo = await startDemo();
      const sockets: Socket[] = [];
      demo.server.on('connection', (socket: Socket) => sockets.push(socket));
      await using parts = new AsyncDisposableStack();
      const bytes = `${line} HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n${'a'.repeat(65_000)}`;
      const before = await memoryInUse();
      for (let count = 1; count <= 200; count += 1) {
        const { socket } = parts.use(await Connection.open(demo.url));
        socket.write(bytes);
      }
      while (sockets.length < 200 || sockets.some(({ bytesRead }) => bytesRead < bytes.length)) await turn();
      const kept = (await memoryInUse()) - before;
      assert.ok(kept < 6 * 2 ** 20, `${kept} bytes are kept`);
    });
  }
});
