import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { header, json } from '../../packages/conformance/src/http.ts';
import type { Request } from '../../packages/conformance/src/target.ts';
import { beginDrain, startDemo } from '../support/demo.ts';
import { startList } from '../support/list.ts';
import { collectGarbage } from '../support/process-figures.ts';
import { assertRefused, Connection, converse, statusesOf } from '../support/raw.ts';

const list = await startList();
after(() => list[Symbol.asyncDispose]());

const BODY = '{"title":"Buy milk","categoryId":1}';
const LAST = 'GET /nope HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

type Headers = Readonly<Record<string, string>>;

/** A head that would be fine for an editor, with other header lines; empty ones are left out. */
function head(line: string, headers: Headers = {}): string {
  const all = {
    Host: 'a',
    Authorization: `Bearer ${list.editor}`,
    'Content-Type': 'application/json',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => (value === '' ? '' : `${name}: ${value}\r\n`));
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

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

const REFUSED: readonly (readonly [status: number, name: string, line: string, headers?: Headers])[] = [
  [401, 'no token', 'POST /todos', { Authorization: '' }],
  [401, 'a bad token', 'POST /todos', { Authorization: 'Bearer x' }],
  [403, 'a reader', 'POST /todos', { Authorization: `Bearer ${list.reader}` }],
  [404, 'an unknown path', 'POST /nope'],
  [405, 'a wrong method', 'PATCH /todos'],
  [415, 'another media type', 'POST /todos', { 'Content-Type': 'text/plain' }],
  [415, 'a compressed body', 'POST /todos', { 'Content-Encoding': 'gzip' }],
];

describe('Bodies before answers', { concurrency: true }, () => {
  for (const [status, name, line, headers] of REFUSED) {
    test(`a ${status} waits for the end of the body, and the connection serves the next · ${name}`, async () => {
      await using connection = await Connection.open(list.url);
      const start = head(line, { ...headers, 'Content-Length': String(BODY.length) });
      connection.socket.write(`${start}${BODY.slice(0, 10)}`);
      await fetch(`${list.url}/nope`);
      assert.equal(connection.received(), '');
      connection.socket.write(`${BODY.slice(10)}${LAST}`);
      await connection.closed();
      assert.deepEqual(connection.statuses(), [status, 404]);
    });

    test(`a ${status} does not wait for more than 64 KiB, and the connection closes · ${name}`, async () => {
      const start = head(line, { ...headers, 'Content-Length': '10000000' });
      const answers = await converse(list.url, start, 'a'.repeat(70_000));
      assertRefused(answers, status);
    });
  }

  for (const draining of [false, true]) {
    test(`a body that grows too large and malformed at once is one 400 · ${draining ? 'draining' : 'as ever'}`, async () => {
      await using demo = await startDemo();
      await using connection = await Connection.open(demo.url);
      const chunked = 'GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n';
      connection.socket.write(`GET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n${chunked}${'a'.repeat(65_000)}`);
      await connection.until('"done":false}');
      const { drained } = draining ? await beginDrain(demo) : {};
      connection.socket.write(`${'a'.repeat(536)}\r\n1\r\na\r\nx\r\n`);
      await connection.closed();
      await drained;
      assert.deepEqual(connection.statuses(), [200, 400]);
      assert.deepEqual(
        demo.log.map(({ event }) => event),
        ['request-refused'],
      );
    });
  }

  test('a client that sends no more of too large a body is not waited for [B5]', async () => {
    const answers = await converse(list.url, `${head('POST /todos', { 'Content-Length': '70000' })}{`);
    assert.deepEqual(statusesOf(answers), [413]);
  });

  test('a HEAD that announces too large a body gets the head of the 413 and no body', async () => {
    await using connection = await Connection.open(list.url);
    connection.socket.write(head('HEAD /todos', { 'Content-Length': '70000' }));
    await connection.closed();
    assert.match(connection.received(), /^HTTP\/1\.1 413 /);
    assert.match(connection.received(), /\r\n\r\n$/);
  });
});

/** A head that asks for a 100 before it sends so many bytes. */
function asking(line: string, headers: Headers = {}, length = BODY.length): string {
  return head(line, { Expect: '100-continue', 'Content-Length': String(length), ...headers });
}

const SAID: readonly (readonly [status: number, request: Request, detail: string])[] = [
  [415, { type: null }, 'The request has no Content-Type: send application/json.'],
  [415, { type: 'text/plain' }, 'The Content-Type must be application/json or application/<something>+json.'],
  [415, { type: 'application/json; charset=latin1' }, 'The charset of the Content-Type must be UTF-8.'],
  [
    415,
    { headers: { 'Content-Encoding': 'gzip' } },
    'The body must not be encoded: send it without Content-Encoding.',
  ],
  [400, { body: Buffer.from('"\xff"', 'latin1') }, 'The body is not valid UTF-8.'],
  [
    400,
    { body: '\uFEFF{\n}{' },
    'The body is not acceptable JSON. Line 2, column 2: Nothing may follow the value.',
  ],
  [400, { body: '\n\t[]' }, 'The body is not acceptable JSON. Line 2, column 2: An object is expected.'],
  [400, { body: '' }, 'The body is not acceptable JSON. Line 1, column 1: The body is empty.'],
];

describe('Bodies that are refused', { concurrency: true }, () => {
  for (const [status, request, detail] of SAID) {
    test(`a ${status} says: ${detail} [B2; B3; B4]`, async () => {
      const reply = await list.send('POST /todos', { body: BODY, ...request });
      assert.equal(reply.status, status);
      assert.equal(Object(json(reply)).detail, detail);
      const isCoding = detail.includes('encoded');
      assert.equal(header(reply, 'accept-encoding'), isCoding ? 'identity' : undefined);
      assert.equal(header(reply, 'accept'), status === 415 && !isCoding ? 'application/json' : undefined);
    });
  }

  for (const headers of [{ 'Content-Length': '65536' }, { 'Transfer-Encoding': 'chunked' }]) {
    test(`a body of 64 KiB is read [B5] · ${Object.keys(headers)}`, async () => {
      const bytes = BODY.padStart(65_536);
      const framed = 'Transfer-Encoding' in headers ? `10000\r\n${bytes}\r\n0\r\n\r\n` : bytes;
      const answers = await converse(
        list.url,
        head('POST /todos', { ...headers, Connection: 'close' }),
        framed,
      );
      assert.deepEqual(statusesOf(answers), [201]);
    });
  }

  test('a body of the wrong members has a title of its own, and sentences by member [B12]', async () => {
    const reply = await list.send('POST /todos', { json: { title: '', categoryId: 1 } });
    assert.equal(reply.status, 400);
    const { title, errors } = Object(json(reply));
    assert.equal(title, 'One or more validation errors occurred.');
    assert.deepEqual(Object.keys(errors), ['title']);
  });

  test('the coding identity is none: such a body is read [B2]', async () => {
    const headers = { 'Content-Encoding': 'Identity' };
    assert.equal((await list.send('POST /todos', { body: BODY, headers })).status, 201);
  });
});

describe('Expect: 100-continue', { concurrency: true }, () => {
  for (const [status, name, start] of [
    ...REFUSED.map(([status, name, line, headers]) => [status, name, asking(line, headers)] as const),
    [413, 'a body of 65,537 bytes', asking('POST /todos', {}, 65_537)],
    [413, 'a body of 65,537 bytes where none is read', asking('DELETE /todos/1', {}, 65_537)],
  ] as const) {
    test(`${status} comes instead of the 100, and the connection closes · ${name}`, async () => {
      assertRefused(await converse(list.url, start), status);
    });
  }

  test('a request whose headers are acceptable gets its 100, and its answer when the body is there', async () => {
    await using connection = await Connection.open(list.url);
    connection.socket.write(asking('POST /todos'));
    await connection.until('HTTP/1.1 100 Continue\r\n\r\n');
    connection.socket.write(`${BODY}${LAST}`);
    await connection.closed();
    assert.deepEqual(connection.statuses(), [100, 201, 404]);
  });

  test('a client that does not wait for its 100 is answered too', async () => {
    const answers = await converse(list.url, asking('POST /todos', { Connection: 'close' }) + BODY);
    assert.equal(answers.at(-1)?.status, 201);
  });

  for (const [name, bytes, statuses] of [
    [
      'what comes after the 100 is judged like any other body',
      `${asking('POST /todos', { Connection: 'close' }, 2)}[]`,
      [100, 400],
    ],
    [
      'chunks after a 100 may grow to 64 KiB and no further',
      asking('POST /todos', { 'Content-Length': '', 'Transfer-Encoding': 'chunked' }) +
        `10001\r\n${'a'.repeat(65_537)}\r\n0\r\n\r\n`,
      [100, 413],
    ],
    [
      'HTTP/1.0 knows no 100: the expectation is ignored (RFC 9110 §10.1.1)',
      asking('POST /todos').replace('1.1', '1.0') + BODY,
      [201],
    ],
    [
      'without a body there is nothing to wait for',
      asking('GET /todos', { Connection: 'close', 'Content-Length': '' }),
      [200],
    ],
  ] as const) {
    test(name, async () => {
      assert.deepEqual(statusesOf(await converse(list.url, bytes)), statuses);
    });
  }

  test('an expectation that nobody knows is a 417 and closes the connection', async () => {
    assertRefused(await converse(list.url, asking('POST /todos', { Expect: '200-ok' })), 417);
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

  test('nothing is kept of a body that was read and answered, while its connection is idle', async () => {
    await using parts = new AsyncDisposableStack();
    const body = JSON.stringify({ title: 'a'.repeat(65_000), categoryId: 1 });
    const request = `${head('POST /todos', { 'Content-Length': String(body.length) })}${body}`;
    const before = await memoryInUse();
    for (let count = 1; count <= 200; count += 1) {
      const connection = parts.use(await Connection.open(list.url));
      connection.socket.write(request);
      await connection.until('HTTP/1.1 400');
    }
    const kept = (await memoryInUse()) - before;
    assert.ok(kept < 6 * 2 ** 20, `${kept} bytes are kept`);
  });
});
