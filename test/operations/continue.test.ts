import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startList } from './list.ts';
import { Connection, converse, problemOf } from './raw.ts';

const list = await startList();
after(() => list[Symbol.asyncDispose]());

const BODY = '{"title":"Buy milk","categoryId":1}';

/** A head that announces `length` bytes and asks for a 100 before it sends them. */
function asking(line: string, headers: Readonly<Record<string, string>> = {}, length = BODY.length): string {
  const all = {
    Host: 'a',
    Expect: '100-continue',
    'Content-Type': 'application/json',
    'Content-Length': String(length),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const editor = { Authorization: `Bearer ${list.editor}` };
const reader = { Authorization: `Bearer ${list.reader}` };

const refused: readonly (readonly [status: number, name: string, head: string])[] = [
  [401, 'no token', asking('POST /todos')],
  [401, 'a bad token', asking('POST /todos', { Authorization: 'Bearer x' })],
  [403, 'a reader', asking('POST /todos', reader)],
  [404, 'an unknown path', asking('POST /nope', editor)],
  [405, 'a wrong method', asking('PATCH /todos', editor)],
  [413, 'a body of 65,537 bytes', asking('POST /todos', editor, 65_537)],
  [413, 'a body of 65,537 bytes where none is read', asking('DELETE /todos/1', editor, 65_537)],
  [415, 'another media type', asking('POST /todos', { ...editor, 'Content-Type': 'text/plain' })],
  [415, 'a compressed body', asking('POST /todos', { ...editor, 'Content-Encoding': 'gzip' })],
];

describe('Expect: 100-continue', { concurrency: true }, () => {
  for (const [status, name, head] of refused) {
    test(`${status} comes instead of the 100, and the connection closes · ${name}`, async () => {
      const answers = await converse(list.url, head);
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [status],
      );
      assert.equal(problemOf(answers[0]).status, status);
      assert.equal(answers[0]?.headers.get('connection'), 'close');
    });
  }

  test('a request whose headers are acceptable gets its 100, and its answer when the body is there', async () => {
    await using connection = await Connection.open(list.url);
    connection.socket.write(asking('POST /todos', editor));
    await connection.until('HTTP/1.1 100 Continue\r\n\r\n');
    connection.socket.write(`${BODY}GET /nope HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await connection.closed();
    assert.deepEqual(connection.statuses(), [100, 201, 404]);
  });

  test('a client that does not wait for its 100 is answered too', async () => {
    const answers = await converse(
      list.url,
      asking('POST /todos', { ...editor, Connection: 'close' }) + BODY,
    );
    assert.equal(answers.at(-1)?.status, 201);
  });

  test('what comes after the 100 is judged like any other body', async () => {
    const head = asking('POST /todos', { ...editor, Connection: 'close' }, 2);
    const answers = await converse(list.url, `${head}[]`);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [100, 400],
    );
  });

  test('chunks after a 100 may grow to 64 KiB and no further', async () => {
    const { 'Content-Length': _none, ...rest } = { ...editor, 'Content-Length': '' };
    const head = asking('POST /todos', rest).replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked');
    const answers = await converse(list.url, `${head}10001\r\n${'a'.repeat(65_537)}\r\n0\r\n\r\n`);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [100, 413],
    );
  });

  test('an expectation that nobody knows is a 417 and closes the connection', async () => {
    const [answer, ...more] = await converse(
      list.url,
      asking('POST /todos', { ...editor, Expect: '200-ok' }),
    );
    assert.equal(answer?.status, 417);
    assert.equal(problemOf(answer).title, 'Expectation Failed');
    assert.deepEqual(more, []);
  });

  test('HTTP/1.0 knows no 100: the expectation is ignored (RFC 9110 §10.1.1)', async () => {
    const answers = await converse(list.url, asking('POST /todos', editor).replace('1.1', '1.0') + BODY);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [201],
    );
  });

  test('without a body there is nothing to wait for', async () => {
    const head = `GET /todos HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\nAuthorization: Bearer ${list.reader}\r\n\r\n`;
    const answers = await converse(list.url, head);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200],
    );
  });
});
