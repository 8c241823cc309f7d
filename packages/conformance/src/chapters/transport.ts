import assert from 'node:assert/strict';
import { exchange, type Reply } from '../http.ts';
import { assertProblem, it } from '../problem.ts';
import { expecting, remember, type Target, write } from '../target.ts';

/** Answers before routing, byte for byte (contract Order 1). */
export function transport(target: Target): void {
  /** A path that answers `GET`, and not `PROPFIND`. */
  const known = target.profile === 'shared-list' ? '/todos' : '/todos/1';
  const { fails } = expecting(target);
  const host = hostLine(target);
  const assertRefused = (bytes: string | Buffer, status?: number) => refused(target, bytes, status);

  /** Sends the requests at once on one connection and gives the answers in the order received. */
  async function pipeline(pieces: readonly Buffer[], methods: readonly string[]): Promise<Reply[]> {
    const replies = await exchange(target.baseUrl, Buffer.concat(pieces), methods);
    for (const [i, reply] of replies.entries())
      remember(target, { method: methods[i] ?? 'GET', path: '', reply });
    return replies;
  }

  it('a head that is not HTTP is a 400 problem and closes the connection [Order 1]', async () => {
    const lines = [
      ...['hello', 'GET', 'GET /todos', `GET ${known} HTTP/9.9`, `GET ${known} HTTP/2.0`],
      'GET /a b HTTP/1.1',
    ];
    for (const line of lines) await assertRefused(`${line}\r\n${host}\r\n`);
    const headers = ['No colon', 'Bad name: x', ': x', 'X: a\u0000b', 'X : y', ' folded: x'];
    for (const header of headers) await assertRefused(`GET ${known} HTTP/1.1\r\n${host}${header}\r\n\r\n`);
    await assertRefused(
      Buffer.from([0x16, 0x03, 0x01, 0x00, 0xa5, 0x01, 0x00, 0x00, 0xa1, 0x03, 0x03, 0x0d, 0x0a]),
    );
  });

  it('HTTP/1.1 needs exactly one Host of valid grammar [Order 1]', async () => {
    const wrong = [
      '',
      host + host,
      `${host}Host: other.example\r\n`,
      `${host}HOST: ${target.baseUrl.host}\r\n`,
    ];
    const values = [
      ...['', 'a b', 'a/b', 'a@b', 'user@host', 'http://a'],
      ...['a:b', 'a:80:80', '[::1', 'a?b', 'a#b', 'ä'],
    ];
    for (const lines of [...wrong, ...values.map((value) => `Host: ${value}\r\n`)]) {
      await assertRefused(`GET ${known} HTTP/1.1\r\n${lines}\r\n`);
    }
  });

  it('any Host of valid grammar is fine [Order 1]', async () => {
    for (const value of [
      ...['a', 'a.example', 'a.example:', 'a.example:65535'],
      ...['127.0.0.1:80', '[::1]:80', 'a_b', '%41'],
    ]) {
      await fails(404, 'GET /nope', { headers: { Host: value } });
    }
  });

  it('HTTP/1.0 may have no Host, and not two [Order 1]', async () => {
    const [reply] = await exchange(target.baseUrl, `GET /nope HTTP/1.0\r\n\r\n`);
    assert.ok(reply);
    assertProblem(reply, 404);
    const [named] = await exchange(target.baseUrl, `GET /nope HTTP/1.0\r\n${host}\r\n`);
    assert.ok(named);
    assertProblem(named, 404);
    await assertRefused(`GET /nope HTTP/1.0\r\n${host}${host}\r\n`);
  });

  it('a repeated Authorization, Content-Type or Content-Length is a 400 [Order 1]', async () => {
    const repeated = {
      Authorization: 'Bearer a.b.c',
      'Content-Type': 'application/json',
      'Content-Length': '2',
    };
    for (const [name, value] of Object.entries(repeated)) {
      const length = name === 'Content-Length' ? '' : 'Content-Length: 2\r\n';
      for (const second of [name, name.toLowerCase(), name.toUpperCase()]) {
        const lines = `${host}${name}: ${value}\r\n${second}: ${value}\r\n${length}`;
        await assertRefused(`POST ${known} HTTP/1.1\r\n${lines}\r\n{}`);
      }
    }
  });

  it('escapes in the path that are no UTF-8, or hold NUL, CR or LF, are a 400 [Order 1]', async () => {
    for (const path of [
      ...['%FF', '%C3', '%C0%AF', '%ED%A0%80', '%00', '%0A', '%0d', 'todos/1%00', '%', '%4', '%zz'],
      '%u0041',
    ]) {
      await assertRefused(`GET /${path} HTTP/1.1\r\n${host}\r\n`);
    }
  });

  it('a head that is too large is a 431 [Order 1]', async () => {
    for (const line of [`X-Large: ${'a'.repeat(100_000)}`, 'X-Many: a\r\n'.repeat(10_000).trimEnd()]) {
      await assertRefused(`GET ${known} HTTP/1.1\r\n${host}${line}\r\n\r\n`, 431);
    }
    await assertRefused(`GET /${'a'.repeat(100_000)} HTTP/1.1\r\n${host}\r\n`, 431);
  });

  it('pipelined requests are answered in their order [Order 1; One request gets one answer]', async () => {
    const keep = { headers: { Connection: 'keep-alive' } };
    const lines = ['GET /nope', 'HEAD /nope', 'PATCH /todos/abc', `PROPFIND ${known}`, 'OPTIONS *'];
    const pieces = lines.map((line) => write(target, line, keep));
    const replies = await pipeline(
      [...pieces, write(target, 'GET /last')],
      [...lines, 'GET /last'].map(methodOf),
    );
    assert.deepEqual(
      replies.map(({ status }) => status),
      [404, 404, 404, 405, 404, 404],
    );
  });

  it('a bad request after good ones is refused after their answers [Order 1; One request gets one answer]', async () => {
    const keep = { headers: { Connection: 'keep-alive' } };
    const bad = Buffer.from('not http\r\n\r\n');
    const replies = await pipeline(
      [write(target, 'GET /nope', keep), write(target, `PATCH ${known}`, keep), bad],
      [],
    );
    assert.deepEqual(
      replies.map(({ status }) => status),
      [404, 405, 400],
    );
  });

  it('what follows a refused request on the connection is not looked at [Order 1]', async () => {
    const two = `GET ${known} HTTP/1.1\r\n${host}${host}\r\n${write(target, 'GET /nope')}`;
    await assertRefused(two);
  });

  it('CONNECT gets a problem and a closed connection, not silence [Order 1]', async () => {
    await assertRefused(`CONNECT elsewhere.example:443 HTTP/1.1\r\n${host}\r\n`);
  });

  it('a traceparent counts in a refusal before routing, where it could be read [P5]', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, Host: ['a', 'b'] };
    const problem = await fails(400, 'GET /nope', { headers }, { detail: 'any' });
    assert.match(problem.traceId, new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  });
  framing(target, known);
}

/** Bodies whose end cannot be known, on any path (contract Order 1). */
function framing(target: Target, path: string): void {
  const host = hostLine(target);
  const heads = ['GET', 'POST', 'PUT', 'DELETE'].map((method) => `${method} ${path} HTTP/1.1\r\n${host}`);

  /** All at the same time: each connection stays open for a moment so that the answer arrives. */
  const assertAllRefused = (bodies: readonly string[]) =>
    Promise.all(heads.flatMap((head) => bodies.map((body) => refused(target, head + body))));

  it('bad framing of a body is one 400, also where no body is read [Order 1]', async () => {
    const chunked = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const malformed = ['zz\r\n{}', '2\r\n{}x', '-2\r\n{}', '0x2\r\n{}'];
    await assertAllRefused(malformed.map((chunks) => `${chunked}${chunks}\r\n0\r\n\r\n`));
  });

  it('a length and an encoding that contradict each other are a 400 [Order 1]', async () => {
    const lengths = [
      'Content-Length: 5\r\nTransfer-Encoding: chunked',
      'Content-Length: x',
      'Content-Length: -1',
    ];
    const encodings = ['Transfer-Encoding: gzip', 'Transfer-Encoding: chunked, gzip', 'Content-Length: 1, 2'];
    await assertAllRefused([...lengths, ...encodings].map((lines) => `${lines}\r\n\r\n0\r\n\r\n`));
  });
}

/** Sends bytes that must be refused with one problem, after which the service closes the connection by itself. */
async function refused(target: Target, bytes: string | Buffer, status = 400): Promise<void> {
  const about = JSON.stringify(bytes.toString('latin1').slice(0, 120));
  const replies = await exchange(target.baseUrl, bytes);
  assert.equal(replies.length, 1, `${replies.length} answers to ${about}`);
  for (const reply of replies) {
    remember(target, { method: 'GET', path: '', reply });
    assert.equal(reply.status, status, about);
    assertProblem(reply, status, { detail: 'optional', headers: { connection: 'close' } });
  }
}

function hostLine(target: Target): string {
  return `Host: ${target.baseUrl.host}\r\n`;
}

function methodOf(line: string): string {
  return line.slice(0, line.indexOf(' '));
}
