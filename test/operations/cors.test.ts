import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { header, type Reply } from '../../conformance/src/http.ts';
import { send } from '../../conformance/src/target.ts';
import { readConfig } from '../../src/config.ts';
import { startList } from './list.ts';

const APP = 'https://app.example';
const list = await startList({ env: { TODO_CORS_ORIGINS: `${APP}, http://localhost:3000` } });
after(() => list[Symbol.asyncDispose]());

const PREFLIGHT = {
  'Access-Control-Request-Method': 'PUT',
  'Access-Control-Request-Headers': 'authorization',
};
const NOT_ALLOWED = { 'access-control-allow-origin': undefined, 'access-control-expose-headers': undefined };

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
    test(`R6 · a preflight from ${origin} for ${method} ${path} is a 204 without a token`, async () => {
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

  for (const value of [
    '*',
    'null',
    'app.example',
    `${APP}/`,
    'https://APP.example',
    'https://app.example:443',
  ]) {
    test(`the origin ${value} is a fault of the configuration`, async () => {
      const read = readConfig({ profile: 'error-demo' }, { TODO_CORS_ORIGINS: value });
      const wanted = 'TODO_CORS_ORIGINS must list origins like "https://app.example", comma-separated';
      await assert.rejects(read, { name: 'ConfigFaults', faults: [`${wanted}, received "${value}"`] });
    });
  }
});

test('refused preflights are one line of the log a minute: the first origin, and how many others', async ({
  mock,
}) => {
  await using closed = await startList();
  const refuse = (Origin: string) =>
    send(closed.target, 'OPTIONS /todos', { headers: { Origin, ...PREFLIGHT } });
  const told = () => closed.lines(/^preflight-refused$/).map(({ origin, others }) => [origin, others]);
  mock.timers.enable({ apis: ['setTimeout'] });
  const long = `https://${'a'.repeat(100)}.example`;
  for (const origin of [long, 'https://b.example', 'https://c.example', 'https://d.example'])
    await refuse(origin);
  const lines: unknown[] = [[long.slice(0, 100), 0]];
  assert.deepEqual(told(), lines);
  mock.timers.tick(60_000);
  lines.push(['https://b.example', 2]);
  assert.deepEqual(told(), lines);
  mock.timers.tick(60_000);
  await refuse('https://e.example');
  lines.push(['https://e.example', 0]);
  assert.deepEqual(told(), lines);
  mock.timers.reset();
});
