import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { test } from '../check.ts';
import { header, type Reply } from '../http.ts';
import { assertProblem } from '../problem.ts';
import { makeTodo, type SharedList, send, type Target } from '../target.ts';

/** Path → the `Allow` of its 405. */
const known: Readonly<Record<Target['profile'], Readonly<Record<string, string>>>> = {
  'shared-list': { '/me': 'GET, HEAD', '/todos': 'GET, HEAD, POST', '/todos/-1': 'DELETE, GET, HEAD, PUT' },
  'error-demo': { '/todos/1': 'GET, HEAD', '/todos/1/complete': 'POST', '/crash': 'GET, HEAD' },
};

const methods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PROPFIND', 'PUT', 'TRACE'];

/** Segments that are no decimal integer of 32 bits. */
const notAnId = [
  ...['abc', '1.0', '1,0', '1e2', '0x1', '1_000', '1a', '2147483648', '-2147483649', '99999999999999999999'],
  ...[
    '%201',
    '1%20',
    '1%09',
    '%C2%A01',
    '+',
    '-',
    '--5',
    '+-5',
    '5-',
    '%D9%A5',
    '%EF%BC%95',
    '1%2E0',
    '%2535',
  ],
];

/** What a path is answered with, on either profile. */
export function routes(target: Target): void {
  describe('Routes', () => {
    test('R2 · an id that is not a 32-bit integer matches no route: 404 without asking for a token, whatever the method', async () => {
      const tail = target.profile === 'error-demo' ? ['', '/complete'] : [''];
      for (const path of notAnId.flatMap((id) => tail.map((end) => `/todos/${id}${end}`))) {
        assertProblem(await send(target, `GET ${path}`), 404, { headers: { 'www-authenticate': undefined } });
      }
      for (const method of methods) await assertUnmatched(target, `${method} /todos/abc`);
    });

    test('R3 · an empty segment is not skipped: 404', async () => {
      for (const path of ['//todos', '//todos/1', '/todos//1', '/todos/1//', '/todos//', '//']) {
        await assertUnmatched(target, `GET ${path}`);
      }
    });

    test('R4 · a wrong method on a known path: 405 with a sorted Allow, without asking for a token', async () => {
      for (const [path, allow] of Object.entries(known[target.profile])) {
        for (const method of methods.filter((one) => !allow.split(', ').includes(one) && one !== 'HEAD')) {
          const reply = await send(target, `${method} ${path}`);
          assertProblem(reply, 405, { headers: { allow, 'www-authenticate': undefined } });
        }
      }
    });

    test('R4 · a wrong method with a body is a 405 as well', async () => {
      for (const [path, allow] of Object.entries(known[target.profile])) {
        const reply = await send(target, `PATCH ${path}`, { body: 'not json', type: 'text/plain' });
        assertProblem(reply, 405, { headers: { allow } });
      }
    });

    test('R5 · OPTIONS * is a 404', async () => {
      assertProblem(await send(target, 'OPTIONS *'), 404, { headers: { allow: undefined } });
    });

    test('R6 · OPTIONS is a 405 like any other, also as a preflight request of a browser', async () => {
      const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'GET' };
      for (const [path, allow] of Object.entries(known[target.profile])) {
        const reply = await send(target, `OPTIONS ${path}`, { headers });
        assertProblem(reply, 405, { headers: { allow, 'access-control-allow-origin': undefined } });
      }
    });

    test('R7 · HEAD answers as GET does, without the body', async () => {
      const unmatched = ['/nope', '/todos/abc'];
      const paths = target.profile === 'error-demo' ? ['/todos/1', '/todos/7', '/crash'] : ['/todos', '/me'];
      for (const path of [...paths, ...unmatched]) await assertHeadIsGet(target, path);
      const token = target.profile === 'shared-list' ? target.tokens.reader : 'none';
      for (const path of paths) await assertHeadIsGet(target, path, token);
    });

    test('R8 · any other path is a 404, whatever the method and whoever asks', async () => {
      const names = [
        '',
        'health',
        'healthz',
        'live',
        'ready',
        'metrics',
        'favicon.ico',
        'robots.txt',
        'status',
      ];
      const more = [
        'categories',
        'categories/1',
        'users',
        'login',
        'token',
        'connect/token',
        'swagger',
        'admin',
      ];
      const foreign =
        target.profile === 'error-demo' ? ['me', 'todos', 'todos/'] : ['crash', 'todos/1/complete'];
      const odd = ['todos/1/title', 'todos/1/complete/now', 'todo', '%E2%98%83', '%25', 'a'.repeat(2000)];
      for (const path of [...names, ...more, ...foreign, ...odd]) {
        await assertUnmatched(target, `GET /${path}`);
        await assertUnmatched(target, `POST /${path}`);
      }
    });

    test('Errors 1 · a path that matches no route becomes a problem with the title Not Found, with a token too', async () => {
      const token = target.profile === 'shared-list' ? target.tokens.editor : 'none';
      assertProblem(await send(target, 'GET /nope', { token }), 404, { title: 'Not Found' });
      assertProblem(await send(target, 'DELETE /todos/abc', { token }), 404, { title: 'Not Found' });
    });

    if (target.profile === 'shared-list') sharedListRoutes(target);
    else errorDemoRoutes(target);
  });
}

function sharedListRoutes(target: SharedList): void {
  const { reader } = target.tokens;

  test('R1 · the path is percent-decoded once', async () => {
    const { id } = await makeTodo(target);
    const escaped = [...String(id)].map((digit) => `%3${digit}`).join('');
    for (const path of [`/todos/${escaped}`, `/%74odos/${id}`, `/%54odos/${escaped}`]) {
      assert.equal((await send(target, `GET ${path}`, { token: reader })).status, 200, path);
    }
    const twice = escaped.replaceAll('%', '%25');
    assertProblem(await send(target, `GET /todos/${twice}`, { token: reader }), 404);
  });

  test('R1 · an absolute target is routed by its path', async () => {
    const { id } = await makeTodo(target);
    const prefix = target.baseUrl.pathname.replace(/\/$/, '');
    for (const origin of [
      target.baseUrl.origin,
      'http://elsewhere.example:81',
      'HTTPS://elsewhere.example',
    ]) {
      const reply = await send(target, `GET ${origin}${prefix}/todos/${id}?x=1`, { token: reader });
      assert.equal(reply.status, 200, origin);
      assertProblem(await send(target, `GET ${origin}${prefix}/nope`), 404);
    }
    assertProblem(await send(target, `GET ${target.baseUrl.origin}?path=/todos`), 404);
  });

  test('R1 · the query is ignored', async () => {
    const { id } = await makeTodo(target);
    for (const query of ['?', '?id=9', '?a=1&a=2', '?%zz', '?__proto__=1', '?/../..']) {
      assert.equal((await send(target, `GET /todos/${id}${query}`, { token: reader })).status, 200, query);
    }
  });

  test('R2 · an id may have a sign and leading zeros', async () => {
    const { id } = await makeTodo(target);
    for (const segment of [`0${id}`, `+${id}`, `%2B${id}`, `+00${id}`, `${'0'.repeat(300)}${id}`]) {
      assert.equal((await send(target, `GET /todos/${segment}`, { token: reader })).status, 200, segment);
    }
  });

  test('R2 · an integer that is no todo matches the route: 401 without a token, 404 with one', async () => {
    for (const id of ['0', '-0', '+0', '-5', '-2147483648', '2147483647', '002147483647']) {
      for (const method of ['GET', 'DELETE']) {
        assert.equal((await send(target, `${method} /todos/${id}`)).status, 401, `${method} ${id}`);
      }
      assertProblem(await send(target, `GET /todos/${id}`, { token: reader }), 404);
    }
  });

  test('R3 · a trailing slash and the case of letters make no difference', async () => {
    const { id } = await makeTodo(target);
    for (const path of [
      `/todos/${id}/`,
      `/TODOS/${id}`,
      `/ToDoS/${id}/`,
      '/todos/',
      '/Todos',
      '/Me',
      '/ME/',
    ]) {
      assert.equal((await send(target, `GET ${path}`, { token: reader })).status, 200, path);
    }
    const allow = 'DELETE, GET, HEAD, PUT';
    assertProblem(await send(target, `PATCH /TODOS/${id}/`), 405, { headers: { allow } });
  });
}

function errorDemoRoutes(target: Target): void {
  test('R7 · HEAD where there is no GET is a 405 with Allow and no body', async () => {
    const reply = await send(target, 'HEAD /todos/1/complete');
    assert.equal(reply.status, 405);
    assert.equal(header(reply, 'allow'), 'POST');
    assert.equal(header(reply, 'content-type'), 'application/problem+json');
  });

  test('R1 · the path is percent-decoded once, also in an absolute target', async () => {
    for (const path of ['/todos/%31', '/%54odos/1', `${target.baseUrl.origin}/todos/1`]) {
      assert.equal((await send(target, `GET ${path}?x=%zz`)).status, 200, path);
    }
  });

  test('R2 · an id may have a sign and leading zeros', async () => {
    for (const id of ['1', '01', '+1', '%2B1', '+001']) {
      assert.equal((await send(target, `GET /todos/${id}`)).status, 200, id);
    }
    for (const id of ['-1', '0', '-0', '2', '2147483647', '-2147483648']) {
      assertProblem(await send(target, `GET /todos/${id}`), 404);
      assertProblem(await send(target, `POST /todos/${id}/complete`), 404);
    }
  });

  test('R3 · a trailing slash and the case of letters make no difference', async () => {
    for (const path of ['/todos/1/', '/TODOS/1', '/Todos/01/']) {
      assert.equal((await send(target, `GET ${path}`)).status, 200, path);
    }
    for (const path of ['/todos/2/complete/', '/TODOS/2/Complete']) {
      assertProblem(await send(target, `POST ${path}`), 404, { headers: { allow: undefined } });
    }
    assertProblem(await send(target, 'GET /CRASH/'), 500);
  });
}

async function assertUnmatched(target: Target, line: string): Promise<void> {
  const reply = await send(target, line);
  if (line.startsWith('HEAD ')) assert.equal(reply.status, 404, line);
  else assertProblem(reply, 404, { headers: { 'www-authenticate': undefined, allow: undefined } });
}

async function assertHeadIsGet(target: Target, path: string, token?: string): Promise<void> {
  const request = token === undefined ? {} : { token };
  const head = await send(target, `HEAD ${path}`, request);
  const get = await send(target, `GET ${path}`, request);
  assert.equal(head.status, get.status, path);
  assert.deepEqual(stable(head), stable(get), path);
  assert.equal(head.body.length, 0);
}

/** The headers that do not tell of the moment or the framing, RFC 9110 §9.3.2. */
function stable(reply: Reply): readonly (readonly [string, string])[] {
  return reply.headers.filter(([name]) => !['date', 'content-length', 'transfer-encoding'].includes(name));
}
