import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { startList } from './list.ts';

const APP = 'https://app.example';
const list = await startList({ env: { TODO_CORS_ORIGINS: `${APP}, http://localhost:3000` } });
after(() => list[Symbol.asyncDispose]());

const PREFLIGHT = {
  'access-control-request-method': 'PUT',
  'access-control-request-headers': 'authorization',
};

function options(path: string, headers: Record<string, string>): Promise<Response> {
  return fetch(list.url + path, { method: 'OPTIONS', headers });
}

describe('CORS', { concurrency: true }, () => {
  for (const origin of [APP, 'http://localhost:3000']) {
    test(`a preflight from ${origin} is answered without a token`, async () => {
      const { status, headers } = await options('/todos/1', { origin, ...PREFLIGHT });
      assert.equal(status, 204);
      assert.equal(headers.get('access-control-allow-origin'), origin);
      assert.equal(headers.get('access-control-allow-methods'), 'DELETE, GET, HEAD, PUT');
      assert.match(
        headers.get('access-control-allow-headers') ?? '',
        /^Authorization, Content-Type, Idempotency-Key, If-Match/,
      );
      assert.equal(headers.get('access-control-max-age'), '7200');
      assert.equal(headers.get('access-control-allow-credentials'), null);
      assert.equal(headers.get('vary'), 'Origin');
    });
  }

  for (const [name, headers] of [
    ['another origin', { origin: 'https://evil.example', ...PREFLIGHT }],
    ['an origin that begins alike', { origin: `${APP}.evil.example`, ...PREFLIGHT }],
    ['an origin in other case', { origin: 'https://APP.example', ...PREFLIGHT }],
    ['the origin null', { origin: 'null', ...PREFLIGHT }],
    ['no origin', PREFLIGHT],
  ] as const) {
    test(`a preflight from ${name} is the 405 of the contract`, async () => {
      const reply = await options('/todos/1', headers);
      assert.equal(reply.status, 405);
      assert.equal(reply.headers.get('allow'), 'DELETE, GET, HEAD, PUT');
      assert.equal(reply.headers.get('access-control-allow-origin'), null);
    });
  }

  test('OPTIONS that is no preflight is a 405, which the application may read', async () => {
    const reply = await options('/todos', { origin: APP });
    assert.equal(reply.status, 405);
    assert.equal(reply.headers.get('access-control-allow-origin'), APP);
  });

  for (const path of ['/nope', '/todos/abc']) {
    test(`a preflight for ${path} is a 404`, async () => {
      assert.equal((await options(path, { origin: APP, ...PREFLIGHT })).status, 404);
    });
  }

  test('an application reads its answers and the headers that matter', async () => {
    const headers = {
      origin: APP,
      authorization: `Bearer ${list.editor}`,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ title: 'Buy milk', categoryId: 1 });
    const reply = await fetch(`${list.url}/todos`, { method: 'POST', headers, body });
    assert.equal(reply.status, 201);
    assert.equal(reply.headers.get('access-control-allow-origin'), APP);
    assert.equal(
      reply.headers.get('access-control-expose-headers'),
      'Location, ETag, WWW-Authenticate, Retry-After',
    );
    assert.equal(reply.headers.get('vary'), 'Origin');
  });

  for (const [status, path] of [
    [401, '/todos'],
    [404, '/nope'],
  ] as const) {
    test(`an application reads its ${status} too`, async () => {
      const reply = await fetch(list.url + path, { headers: { origin: APP } });
      assert.equal(reply.status, status);
      assert.equal(reply.headers.get('access-control-allow-origin'), APP);
      assert.equal(reply.headers.get('vary'), 'Accept, Origin');
    });
  }

  test('another origin is answered as ever, and its browser keeps the answer from it', async () => {
    const reply = await fetch(`${list.url}/nope`, { headers: { origin: 'https://evil.example' } });
    assert.equal(reply.status, 404);
    assert.equal(reply.headers.get('access-control-allow-origin'), null);
    assert.equal(reply.headers.get('access-control-expose-headers'), null);
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
