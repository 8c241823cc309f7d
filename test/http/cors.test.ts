import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { header, type Reply } from '../../packages/conformance/src/http.ts';
import { assertProblem } from '../../packages/conformance/src/problem.ts';
import { send } from '../../packages/conformance/src/target.ts';
import { openCors } from '../../src/http/cors.ts';
import { readConfig } from '../../src/server/config.ts';
import type { ConfigFaults } from '../../src/settings/read.ts';
import { HURRIED, startDemo } from '../support/demo.ts';
import { startList } from '../support/list.ts';
import { converse } from '../support/raw.ts';

const APP = 'https://app.example';
const list = await startList({ env: { TODO_CORS_ORIGINS: `${APP}, http://localhost:3000` } });
after(() => list[Symbol.asyncDispose]());

const PREFLIGHT = {
  'Access-Control-Request-Method': 'PUT',
  'Access-Control-Request-Headers': 'authorization',
};
const NOT_ALLOWED = { 'access-control-allow-origin': undefined, 'access-control-expose-headers': undefined };

/** What is refused before a route is looked for, although its head could be parsed, with these lines in its head. */
const REFUSED: readonly (readonly [name: string, status: number, bytes: (lines: string) => string])[] = [
  ['escapes that are not UTF-8', 400, (lines) => `GET /todos/%E4 HTTP/1.1\r\nHost: a\r\n${lines}\r\n`],
  ['an escaped NUL', 400, (lines) => `DELETE /todos/%00 HTTP/1.1\r\nHost: a\r\n${lines}\r\n`],
  ['a fragment', 400, (lines) => `GET /todos#a HTTP/1.1\r\nHost: a\r\n${lines}\r\n`],
  ['no Host', 400, (lines) => `GET /todos HTTP/1.1\r\n${lines}\r\n`],
  [
    'a repeated header',
    400,
    (lines) => `GET /todos HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\n${lines}Authorization: b\r\n\r\n`,
  ],
  [
    'a coding of HTTP/1.1 in HTTP/1.0',
    400,
    (lines) => `POST /todos HTTP/1.0\r\n${lines}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  [
    'a malformed body',
    400,
    (lines) => `POST /nope HTTP/1.1\r\nHost: a\r\n${lines}Transfer-Encoding: chunked\r\n\r\nx\r\n`,
  ],
  ['an expectation', 417, (lines) => `GET /todos HTTP/1.1\r\nHost: a\r\nExpect: x\r\n${lines}\r\n`],
];

/** Without a token. */
function ask(line: string, headers: Readonly<Record<string, string>>): Promise<Reply> {
  return send(list.target, line, { headers });
}

function assertHeaders(reply: Reply, expected: Readonly<Record<string, string | undefined>>): void {
  for (const [name, value] of Object.entries(expected)) assert.equal(header(reply, name), value, name);
}

describe('CORS', { concurrency: true }, () => {
  for (const [origin, path, method] of [
    [APP, '/todos/1', 'PUT'],
    ['http://localhost:3000', '/todos/1', 'PUT'],
    [APP, '/todos', 'PATCH'],
    [APP, '/nope', 'GET'],
    [APP, '/todos/abc', 'GET'],
  ] as const) {
    test(`a preflight from ${origin} for ${method} ${path} is a 204 without a token [R6]`, async () => {
      const preflight = { ...PREFLIGHT, 'Access-Control-Request-Method': method };
      const reply = await ask(`OPTIONS ${path}`, { Origin: origin, ...preflight });
      assert.equal(reply.status, 204);
      assertHeaders(reply, {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'DELETE, GET, HEAD, POST, PUT',
        'access-control-allow-headers':
          '*, Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key',
        'access-control-max-age': '7200',
        'access-control-allow-credentials': undefined,
        allow: undefined,
        vary: 'Origin',
      });
    });
  }

  for (const [name, headers] of [
    ['another origin', { Origin: 'https://evil.example' }],
    ['an origin that begins alike', { Origin: `${APP}.evil.example` }],
    ['an origin in other case', { Origin: 'https://APP.example' }],
    ['the origin null', { Origin: 'null' }],
    ['no origin', {}],
  ] as const) {
    test(`a preflight from ${name} is the 405 of the contract`, async () => {
      const reply = await ask('OPTIONS /todos/1', { ...headers, ...PREFLIGHT });
      assert.equal(reply.status, 405);
      assertHeaders(reply, { allow: 'DELETE, GET, HEAD, PUT', ...NOT_ALLOWED });
    });
  }

  for (const [status, line, headers] of [
    [405, 'OPTIONS /todos', {}],
    [404, 'OPTIONS /nope', {}],
    [404, 'OPTIONS *', PREFLIGHT],
    [401, 'GET /todos', {}],
    [404, 'GET /nope', {}],
  ] as const) {
    test(`an application reads the ${status} of ${line}`, async () => {
      const reply = await ask(line, { Origin: APP, ...headers });
      assert.equal(reply.status, status);
      assertHeaders(reply, { 'access-control-allow-origin': APP, vary: 'Accept, Origin' });
    });
  }

  test('a GET with the headers of a preflight is a GET', async () => {
    const reply = await list.send('GET /todos', { headers: { Origin: APP, ...PREFLIGHT } });
    assert.equal(reply.status, 200);
    assertHeaders(reply, { 'access-control-allow-origin': APP, 'access-control-allow-methods': undefined });
  });

  test('an application reads its answers and the headers that matter', async () => {
    const json = { title: 'Buy milk', categoryId: 1 };
    const reply = await list.send('POST /todos', { headers: { Origin: APP }, json });
    assert.equal(reply.status, 201);
    assertHeaders(reply, {
      'access-control-allow-origin': APP,
      'access-control-expose-headers': '*',
      vary: 'Origin',
    });
  });

  test('another origin is answered as ever, and its browser keeps the answer from it', async () => {
    const reply = await ask('GET /nope', { Origin: 'https://evil.example' });
    assert.equal(reply.status, 404);
    assertHeaders(reply, NOT_ALLOWED);
  });

  test('an application is told nothing new where no origin is allowed', async () => {
    await using closed = await startList();
    const reply = await send(closed.target, 'GET /nope', { headers: { Origin: APP } });
    assertHeaders(reply, { vary: 'Accept', ...NOT_ALLOWED });
  });

  for (const [name, status, bytes] of REFUSED) {
    test(`an application reads what is refused before a route is looked for: ${name} [R6]`, async () => {
      const [reply, ...more] = await converse(list.url, bytes(`Origin: ${APP}\r\n`));
      assert.deepEqual(more, []);
      assert.ok(reply);
      assertProblem(reply, status, { detail: 'optional', headers: { connection: 'close' } });
      assertHeaders(reply, {
        'access-control-allow-origin': APP,
        'access-control-expose-headers': '*',
        vary: 'Accept, Origin',
      });
    });
  }

  for (const [name, origin] of [
    ['another origin', 'Origin: https://evil.example\r\n'],
    ['the origin null', 'Origin: null\r\n'],
    ['two origins', `Origin: ${APP}\r\nOrigin: ${APP}\r\n`],
    ['two origins, one of which is allowed', `Origin: ${APP}\r\nOrigin: https://evil.example\r\n`],
    ['an allowed origin and a comma', `Origin: ${APP},\r\n`],
    ['no origin', ''],
  ] as const) {
    test(`a refusal tells nothing to ${name}, and caches that it depends on the origin [R6]`, async () => {
      for (const [, status, bytes] of REFUSED) {
        const [reply] = await converse(list.url, bytes(origin));
        assert.ok(reply);
        assert.equal(reply.status, status);
        assertHeaders(reply, { vary: 'Accept, Origin', ...NOT_ALLOWED });
      }
    });
  }

  for (const [name, status, bytes] of [
    ['101 header lines', 431, `GET / HTTP/1.1\r\nHost: a\r\nOrigin: ${APP}\r\n${'a:\r\n'.repeat(99)}\r\n`],
    ['a large head', 431, `GET / HTTP/1.1\r\nHost: a\r\nOrigin: ${APP}\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
    [
      '101 trailers',
      431,
      `POST / HTTP/1.1\r\nHost: a\r\nOrigin: ${APP}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${'a:\r\n'.repeat(101)}\r\n`,
    ],
    ['RTSP', 400, `GET /todos/1 RTSP/1.0\r\nHost: a\r\nOrigin: ${APP}\r\n\r\n`],
    ['no HTTP', 400, `GET\r\nOrigin: ${APP}\r\n\r\n`],
  ] as const) {
    test(`a ${status} has no header for an application: ${name} [R6]`, async () => {
      const [reply] = await converse(list.url, bytes);
      assert.ok(reply);
      assert.equal(reply.status, status);
      assertHeaders(reply, { vary: 'Accept', ...NOT_ALLOWED });
    });
  }

  test('an application reads the 408 of a body that is too slow [R6]', async () => {
    await using demo = await startDemo({ limits: HURRIED, cors: openCors([APP], () => {}) });
    const head = `POST /todos/1/complete HTTP/1.1\r\nHost: a\r\nOrigin: ${APP}\r\nContent-Length: 2\r\n\r\n{`;
    const [reply] = await converse(demo.url, head);
    assert.ok(reply);
    assertProblem(reply, 408);
    assertHeaders(reply, { 'access-control-allow-origin': APP, vary: 'Accept, Origin' });
  });

  for (const path of ['/todos/%E4', '/todos/%00', '/%0a', '/todos/%?a=%E4']) {
    test(`a preflight of ${path} is a 204, so that a page with a token reads the 400 of the request [R6]`, async () => {
      const reply = await ask(`OPTIONS ${path}`, { Origin: APP, ...PREFLIGHT });
      assert.equal(reply.status, 204);
      assertHeaders(reply, { 'access-control-allow-origin': APP, vary: 'Origin' });
      const evil = await ask(`OPTIONS ${path}`, { Origin: 'https://evil.example', ...PREFLIGHT });
      assertProblem(evil, 400, { detail: 'any' });
      assertProblem(await ask(`OPTIONS ${path}`, { Origin: APP }), 400, { detail: 'any' });
      const repeated = { Origin: APP, ...PREFLIGHT, Host: ['a', 'b'] };
      assertProblem(await send(list.target, `OPTIONS ${path}`, { headers: repeated }), 400, {
        detail: /Host/,
      });
    });
  }

  for (const value of [
    '*',
    'null',
    'app.example',
    `${APP}/`,
    'https://APP.example',
    'https://app.example:443',
    'https://{app}.example',
    'https://$app.example',
    'https://*.app.example',
  ]) {
    test(`the origin ${value} is a fault of the configuration`, async () => {
      const read = readConfig({ profile: 'error-demo' }, { TODO_CORS_ORIGINS: value });
      const wanted = 'TODO_CORS_ORIGINS must list origins like "https://app.example", comma-separated';
      await assert.rejects(read, { name: 'ConfigFaults', faults: [`${wanted}, received "${value}"`] });
    });
  }

  test('the fault of an origin in a list shows that origin alone, and of a list with an @ nothing', async () => {
    const wanted = 'TODO_CORS_ORIGINS must list origins like "https://app.example", comma-separated';
    for (const [other, received] of [
      ['app.example', '"app.example"'],
      ['https://ada:s3cr3t,s3cr3t@app.example', '"https://…"'],
    ] as const) {
      const read = readConfig({ profile: 'error-demo' }, { TODO_CORS_ORIGINS: `${APP},${other}` });
      await assert.rejects(read, ({ faults }: ConfigFaults) => {
        assert.deepEqual([...new Set(faults)], [`${wanted}, received ${received}`]);
        return true;
      });
    }
  });
});

test('a refused preflight has a line with its origin, cut at 100 characters [R6]', async () => {
  await using closed = await startList();
  const refuse = (Origin: string) =>
    send(closed.target, 'OPTIONS /todos', { headers: { Origin, ...PREFLIGHT } });
  const long = `https://${'a'.repeat(100)}.example`;
  for (const origin of [long, 'https://b.example', 'https://b.example']) await refuse(origin);
  assert.deepEqual(
    closed.lines(/^preflight-refused$/).map(({ origin }) => origin),
    [long.slice(0, 100), 'https://b.example'],
  );
});
