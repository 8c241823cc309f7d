import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { assertErrorHeaders } from '../../packages/conformance/src/problem.ts';
import { startDemo } from '../support/demo.ts';
import { assertRefused, Connection, converse, statusesOf } from '../support/raw.ts';

const demo = await startDemo();
after(() => demo[Symbol.asyncDispose]());

const GET = 'GET /todos/1 HTTP/1.1\r\nHost: a\r\n';
const POST = 'POST /todos/1/complete HTTP/1.1\r\nHost: a\r\n';
const NOPE = 'POST /nope HTTP/1.1\r\nHost: a\r\n';
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n`;
const LAST = `${GET}Connection: close\r\n\r\n`;

const refused: readonly (readonly [name: string, bytes: string])[] = [
  ['two different lengths', `${POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
  ['an empty length', `${POST}Content-Length: \r\n\r\n`],
  ['a signed length', `${POST}Content-Length: +2\r\n\r\n{}`],
  ['a hexadecimal length', `${POST}Content-Length: 0x2\r\n\r\n{}`],
  ['a length beyond all numbers', `${POST}Content-Length: 99999999999999999999999\r\n\r\n{}`],
  ['a space before the colon of a length', `${POST}Content-Length : 2\r\n\r\n{}`],
  ['a space before the colon of an encoding', `${POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`],
  ['the encoding identity', `${POST}Transfer-Encoding: identity\r\n\r\n`],
  ['an encoding that looks like chunked', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['a vertical tab before chunked', `${POST}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
  ['chunked twice', `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
  ['chunked on two lines', `${CHUNKED}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['chunked not last', `${POST}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`],
  ['another coding below chunked', `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['an encoding in HTTP/1.0', CHUNKED.replace('HTTP/1.1', 'HTTP/1.0').concat('\r\n0\r\n\r\n')],
  ['bare LF everywhere', 'GET /todos/1 HTTP/1.1\nHost: a\n\n'],
  ['one bare LF', 'GET /todos/1 HTTP/1.1\r\nHost: a\nX: b\r\n\r\n'],
  ['one bare CR', 'GET /todos/1 HTTP/1.1\r\nHost: a\rX: b\r\n\r\n'],
  ['a folded Host', 'GET /todos/1 HTTP/1.1\r\nHost: a\r\n b\r\n\r\n'],
  ['a folded header', `${GET}X: a\r\n\tb\r\n\r\n`],
  ['a header line that starts with a space', 'GET /todos/1 HTTP/1.1\r\n Host: a\r\n\r\n'],
  ['a chunk size beyond all numbers', `${CHUNKED}\r\nFFFFFFFFFFFFFFFFF\r\n{}\r\n0\r\n\r\n`],
  ['chunks with bare LF', `${CHUNKED}\r\n2\n{}\n0\n\n`],
  ['a chunk extension with a bare LF', `${CHUNKED}\r\n2;a\n{}\r\n0\r\n\r\n`],
  ['a chunk extension of 17,000 bytes', `${CHUNKED}\r\n2;${'a'.repeat(17_000)}\r\n{}\r\n0\r\n\r\n`],
  ['a trailer that is no header', `${CHUNKED}\r\n2\r\n{}\r\n0\r\nbad\r\n\r\n`],
  ['a length in a trailer', `${CHUNKED}\r\n2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n`],
  ['an absolute target with a user', 'GET http://user@a/todos/1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an absolute target beside a bad Host', 'GET http://a/todos/1 HTTP/1.1\r\nHost: a b\r\n\r\n'],
  ['CONNECT with a path', 'CONNECT /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a method in lower case', 'get /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['GET of RTSP/1.0', 'GET /todos/1 RTSP/1.0\r\nHost: a\r\n\r\n'],
  ['GET of RTSP/1.1', 'GET /todos/1 RTSP/1.1\r\nHost: a\r\n\r\n'],
  ['GET of RTSP behind several spaces', 'GET  /todos/1  RTSP/1.1\r\nHost: a\r\n\r\n'],
  ['GET of RTSP behind empty lines', '\r\n\r\n\r\nGET /todos/1 RTSP/1.1\r\nHost: a\r\n\r\n'],
  ['POST of RTSP', `${POST.replace('HTTP', 'RTSP')}Content-Length: 2\r\n\r\n{}`],
  ['OPTIONS of RTSP', 'OPTIONS * RTSP/1.0\r\nHost: a\r\n\r\n'],
  ['an expectation of RTSP', 'GET /todos/1 RTSP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n'],
  ['DESCRIBE of RTSP', 'DESCRIBE /todos/1 RTSP/1.0\r\nHost: a\r\n\r\n'],
  ['DESCRIBE of HTTP', 'DESCRIBE /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['SOURCE of ICE', 'SOURCE /todos/1 ICE/1.0\r\nHost: a\r\n\r\n'],
  ['SOURCE of HTTP', 'SOURCE /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an escape that is not UTF-8', 'GET /todos/%FF HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
];

/** Writes each piece when the one before it has been read, and gives the answers that came until the service closed it. */
async function converseInTurns(...pieces: readonly string[]) {
  await using connection = await Connection.to(demo.server);
  for (const piece of pieces) {
    const read = new Promise((resolve) => connection.peer.once('data', resolve));
    connection.socket.write(piece);
    await Promise.race([read, connection.closed()]);
  }
  await connection.closed();
  return connection.answers();
}

describe('Request validation', { concurrency: 16 }, () => {
  for (const [name, bytes] of refused) {
    test(`one 400, and nothing behind it is looked at · ${name}`, async () => {
      assertRefused(await converse(demo.url, Buffer.from(bytes + LAST, 'latin1')), 400);
    });
  }

  for (const [name, bytes] of [
    ['101 header lines', `${GET}${'a:\r\n'.repeat(100)}\r\n`],
    ['a second Host behind 3,000 other lines', `${GET}${'a:\r\n'.repeat(3_000)}Host: b\r\n\r\n`],
    ['101 trailer lines', `${CHUNKED}\r\n0\r\n${'a:\r\n'.repeat(101)}\r\n`],
    [
      '101 trailer lines, where no route has the path',
      `${NOPE}Transfer-Encoding: chunked\r\n\r\n0\r\n${'a:\r\n'.repeat(101)}\r\n`,
    ],
  ] as const) {
    test(`one 431, and nothing behind it is looked at · ${name} [Order 1]`, async () => {
      assertRefused(await converse(demo.url, bytes + LAST), 431);
    });
  }

  for (const [name, bytes] of [
    ['to a request', 'GET /todos/1 HTTP/1.1\r\n\r\n'],
    ['on the bare socket', 'no HTTP'],
  ] as const) {
    test(`a refusal ${name} has the headers of every error [P7; D8]`, async () => {
      for (const reply of await converse(demo.url, bytes)) assertErrorHeaders(reply);
    });
  }

  for (const before of [
    '',
    GET.concat('\r\n'),
    // Longer than the request behind it: the slice of its rest ends where the body does.
    `${NOPE}Content-Length: 60\r\n\r\n{"a":"\r\n${'x'.repeat(50)}"}`,
    `${NOPE}Transfer-Encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n0\r\nX: y\r\n\r\n`,
  ]) {
    test(`a line of RTSP is refused wherever packets cut it · behind ${JSON.stringify(before)}`, async () => {
      const bytes = `${before}GET /todos/1 RTSP/1.0\r\nHost: a\r\n\r\n`;
      const cuts = Array.from({ length: bytes.length - 1 }, (_, at) => at + 1);
      const conversations = cuts.map((at) => converseInTurns(bytes.slice(0, at), bytes.slice(at)));
      const statuses = (await Promise.all(conversations)).map((answers) => answers.at(-1)?.status);
      assert.deepEqual(
        statuses,
        cuts.map(() => 400),
      );
      const apart = cuts.map((at) =>
        converseInTurns(bytes.slice(0, at), bytes.slice(at, at + 1), bytes.slice(at + 1)),
      );
      for (const answers of await Promise.all(apart)) assert.equal(answers.at(-1)?.status, 400);
      const inBytes = await converseInTurns(...bytes);
      assert.equal(inBytes.at(-1)?.status, 400);
      assert.equal(inBytes.length, before === '' ? 1 : 2);
    });
  }

  test('a line of HTTP is taken wherever packets cut it', async () => {
    const cuts = Array.from({ length: LAST.length - 1 }, (_, at) => at + 1);
    const conversations = cuts.map((at) => converseInTurns(LAST.slice(0, at), LAST.slice(at)));
    for (const answers of await Promise.all(conversations)) assert.deepEqual(statusesOf(answers), [200]);
  });

  test('what is not HTTP is said to be the fault', async () => {
    const answers = await converse(demo.url, `${GET}a b: c\r\n\r\n`);
    assert.equal(assertRefused(answers, 400).detail, 'The request is not valid HTTP/1.1.');
  });

  for (const [what, begin] of Object.entries({
    'a method of nobody': 'BREW ',
    'a method of WebDAV': 'VERSION-CONTROL ',
    'a method in lower case': 'put ',
    'a method that goes on': 'GETX ',
    TLS: '\u0016\u0003\u0001\u0000\u00a5\u0001\u0000\u0000\u00a1\u0003\u0003',
    'the PROXY protocol, as text': 'PROXY TCP4 192.0.2.1 192.0.2.2 40000 80\r\nGET ',
    'the PROXY protocol, as bytes': '\r\n\r\n\u0000\r\nQUIT\n\u0021\u0011\u0000\u000c\u0000',
  })) {
    test(`what Node.js does not know as a method is said to be the fault · ${what} [Order 1]`, async () => {
      const bytes = Buffer.from(`${begin}/todos/1 HTTP/1.1\r\nHost: a\r\n\r\n`, 'latin1');
      const detail =
        'The request must begin with a method that this service knows, such as GET, in capitals; not with TLS or the ' +
        'PROXY protocol.';
      assert.equal(assertRefused(await converse(demo.url, bytes), 400).detail, detail);
    });
  }

  for (const field of ['Authorization', 'authorization', 'Content-Type']) {
    test(`the header that must not be repeated is named · ${field}`, async () => {
      const answers = await converse(demo.url, `${GET}${field}: a\r\nX: b\r\n${field}: c\r\n\r\n`);
      const detail = `The header ${field.toLowerCase()} must not be repeated.`;
      assert.equal(assertRefused(answers, 400).detail, detail);
    });
  }

  const accepted: readonly (readonly [name: string, bytes: string, status: number])[] = [
    ['chunks with extensions', `${CHUNKED}\r\n2;a=b;c="d"\r\n{}\r\n0;x\r\n\r\n`, 200],
    ['chunks and trailers', `${CHUNKED}\r\n2\r\n{}\r\n0\r\nX-Sum: 1\r\n\r\n`, 409],
    ['the encoding in capitals', `${POST}Transfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n`, 409],
    ['empty lines before the request', '\r\n\r\nGET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n', 200],
    ['a bare LF before the request', '\nGET /todos/1 HTTP/1.1\r\nHost: a\r\n\r\n', 200],
    ['RTSP in a header', `${GET}X: GET / RTSP/1.0\r\n\r\n`, 200],
    ['RTSP in a path', 'GET /RTSP/1.0 HTTP/1.1\r\nHost: a\r\n\r\n', 404],
    ['RTSP in a body', `${NOPE}Content-Length: 25\r\n\r\n\r\n\r\nGET / RTSP/1.0\r\n\r\n\r\n{`, 404],
    ['100 header lines', `${GET}${'a:\r\n'.repeat(99)}\r\n`, 200],
    ['100 trailer lines', `${CHUNKED}\r\n0\r\n${'a:\r\n'.repeat(100)}\r\n`, 409],
  ];

  for (const [name, bytes, status] of accepted) {
    test(`answered, and so is the pipelined request behind it · ${name}`, async () => {
      const answers = await converse(demo.url, bytes + LAST);
      assert.deepEqual(statusesOf(answers), [status, 200]);
    });
  }

  test('a client that resets its connection after CONNECT costs nothing', async () => {
    const connection = await Connection.open(demo.url);
    connection.socket.write('CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n');
    await connection.until('400 Bad Request');
    connection.socket.resetAndDestroy();
    await connection.closed();
    assert.equal((await fetch(`${demo.url}/todos/1`)).status, 200);
  });

  test('half a request and gone leaves no answer behind and disturbs nobody', async () => {
    for (const half of [
      'GET /tod',
      `${GET}X: `,
      `${POST}Content-Length: 10\r\n\r\n{}`,
      `${CHUNKED}\r\n5\r\n{`,
    ]) {
      const connection = await Connection.open(demo.url);
      connection.socket.end(half);
      await connection.closed();
      assert.equal(connection.received(), '');
    }
    assert.equal((await fetch(`${demo.url}/todos/1`)).status, 200);
  });
});
