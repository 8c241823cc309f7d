import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header, type Reply } from '../http.ts';
import { assertProblem, it } from '../problem.ts';
import { expecting, makeTodo, send, type Target } from '../target.ts';

/** The paths of our contract, each with the `Allow` of its 405. */
export const ALLOWED: Readonly<Record<Target['profile'], Readonly<Record<string, string>>>> = {
  'shared-list': { '/me': 'GET, HEAD', '/todos': 'GET, HEAD, POST', '/todos/{id}': 'DELETE, GET, HEAD, PUT' },
  'error-demo': { '/crash': 'GET, HEAD', '/todos/{id}': 'GET, HEAD', '/todos/{id}/complete': 'POST' },
};

const allowed = ({ profile }: Target) =>
  Object.entries(ALLOWED[profile]).map(([path, allow]) => [path.replace('{id}', '-1'), allow] as const);

const methods = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PROPFIND', 'PUT', 'TRACE'];

/** Segments that do not spell an integer of 32 bits in decimal. */
const notAnId = [
  ...['abc', '1.0', '1,0', '1e2', '0x1', '1_000', '1a', '2147483648', '-2147483649', '99999999999999999999'],
  ...[
    ...['%201', '1%20', '1%09', '%C2%A01', '+', '-', '--5', '+-5', '5-', '%D9%A5', '%EF%BC%95', '1%2E0'],
    '%2535',
  ],
];

/** The answers to paths, on either profile. */
export function routes(target: Target): void {
  const { fails } = expecting(target);
  it('an id that is not a 32-bit integer matches no route: 404 without asking for a token, whatever the method [R2]', async () => {
    const tail = target.profile === 'error-demo' ? ['', '/complete'] : [''];
    for (const path of notAnId.flatMap((id) => tail.map((end) => `/todos/${id}${end}`))) {
      await fails(404, `GET ${path}`, {}, { headers: { 'www-authenticate': undefined } });
    }
    for (const method of methods) await assertUnmatched(target, `${method} /todos/abc`);
  });

  it('an empty segment is not skipped: 404 [R3]', async () => {
    for (const path of ['//todos', '//todos/1', '/todos//1', '/todos/1//', '/todos//', '//']) {
      await assertUnmatched(target, `GET ${path}`);
    }
  });

  it('a wrong method on a known path: 405 with a sorted Allow, without asking for a token [R4]', async () => {
    for (const [path, allow] of allowed(target)) {
      for (const method of methods.filter((one) => !allow.split(', ').includes(one) && one !== 'HEAD')) {
        await fails(405, `${method} ${path}`, {}, { headers: { allow, 'www-authenticate': undefined } });
      }
    }
  });

  it('a wrong method with a body is a 405 as well [R4]', async () => {
    for (const [path, allow] of allowed(target)) {
      await fails(405, `PATCH ${path}`, { body: 'not json', type: 'text/plain' }, { headers: { allow } });
    }
  });

  it('OPTIONS * is a 404 [R5]', async () => {
    await fails(404, 'OPTIONS *', {}, { headers: { allow: undefined } });
  });

  it('OPTIONS is a 405 like any other, also as a preflight request of a browser [R6]', async () => {
    const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'GET' };
    for (const [path, allow] of allowed(target)) {
      await fails(
        405,
        `OPTIONS ${path}`,
        { headers },
        { headers: { allow, 'access-control-allow-origin': undefined } },
      );
    }
  });

  it('HEAD answers as GET does, without the body [R7]', async () => {
    const unmatched = ['/nope', '/todos/abc'];
    const paths = target.profile === 'error-demo' ? ['/todos/1', '/todos/7', '/crash'] : ['/todos', '/me'];
    for (const path of [...paths, ...unmatched]) await assertHeadIsGet(target, path);
    const token = target.profile === 'shared-list' ? target.tokens.reader : 'none';
    for (const path of paths) await assertHeadIsGet(target, path, token);
  });

  it('any other path is a 404, whatever the method and whoever asks [R8]', async () => {
    const foreign =
      target.profile === 'error-demo' ? ['me', 'todos', 'todos/'] : ['crash', 'todos/1/complete'];
    const paths = [
      ...['', 'health', 'healthz', 'live', 'ready', 'metrics', 'favicon.ico', 'robots.txt', 'status'],
      ...['categories', 'categories/1', 'users', 'login', 'token', 'connect/token', 'swagger', 'admin'],
      ...['todos/1/title', 'todos/1/complete/now', 'todo', '%E2%98%83', '%25', 'a'.repeat(2000), ...foreign],
    ];
    for (const path of paths) {
      await assertUnmatched(target, `GET /${path}`);
      await assertUnmatched(target, `POST /${path}`);
    }
  });

  test('a path that matches no route becomes a problem with the title Not Found, with a token too [Errors 1; Errors, 404]', async () => {
    const token = target.profile === 'shared-list' ? target.tokens.editor : 'none';
    await fails(404, 'GET /nope', { token }, { title: 'Not Found' });
    await fails(404, 'DELETE /todos/abc', { token }, { title: 'Not Found' });
  });

  spellings(target);
  if (target.profile === 'error-demo') errorDemoRoutes(target);
}

/** Paths that name a todo in other spellings. */
function spellings(target: Target): void {
  const { fails, succeeds } = expecting(target);
  const identity = target.profile === 'shared-list' ? { token: target.tokens.reader } : {};
  const existing = async () => (target.profile === 'shared-list' ? (await makeTodo(target)).id : 1);

  it('the path is percent-decoded once [R1]', async () => {
    const id = await existing();
    const escaped = [...String(id)].map((digit) => `%3${digit}`).join('');
    for (const path of [`/todos/${escaped}`, `/%74odos/${id}`, `/%54odos/${escaped}`]) {
      await succeeds(200, `GET ${path}`, identity, path);
    }
    await fails(404, `GET /todos/${escaped.replaceAll('%', '%25')}`, identity);
  });

  it('an absolute target is routed by its path [R1]', async () => {
    const id = await existing();
    const { origin: own, pathname } = target.baseUrl;
    const prefix = pathname.replace(/\/$/, '');
    for (const origin of [own, 'http://elsewhere.example:81', 'HTTPS://elsewhere.example']) {
      await succeeds(200, `GET ${origin}${prefix}/todos/${id}?x=1`, identity, origin);
      await fails(404, `GET ${origin}${prefix}/nope`);
    }
    await fails(404, `GET ${own}?path=/todos`);
  });

  it('the query is ignored [R1]', async () => {
    const id = await existing();
    for (const query of ['?', '?id=9', '?a=1&a=2', '?%zz', '?__proto__=1', '?/../..']) {
      await succeeds(200, `GET /todos/${id}${query}`, identity, query);
    }
  });

  it('an id may have a sign and leading zeros [R2]', async () => {
    const id = await existing();
    for (const segment of [`0${id}`, `+${id}`, `%2B${id}`, `+00${id}`, `${'0'.repeat(300)}${id}`]) {
      await succeeds(200, `GET /todos/${segment}`, identity, segment);
    }
  });

  it('an integer that is no todo matches the route [R2]', async () => {
    const methods = target.profile === 'shared-list' ? ['GET', 'DELETE'] : [];
    for (const id of ['0', '-0', '+0', '-5', '-2147483648', '2147483647', '002147483647']) {
      for (const method of methods) await succeeds(401, `${method} /todos/${id}`, {}, `${method} ${id}`);
      await fails(404, `GET /todos/${id}`, identity);
    }
  });

  it('a trailing slash and the case of letters make no difference [R3]', async () => {
    const id = await existing();
    const more = target.profile === 'shared-list' ? ['/todos/', '/Todos', '/Me', '/ME/'] : [];
    for (const path of [`/todos/${id}/`, `/TODOS/${id}`, `/ToDoS/${id}/`, ...more]) {
      await succeeds(200, `GET ${path}`, identity, path);
    }
    const allow = target.profile === 'shared-list' ? 'DELETE, GET, HEAD, PUT' : 'GET, HEAD';
    await fails(405, `PATCH /TODOS/${id}/`, {}, { headers: { allow } });
  });
}

function errorDemoRoutes(target: Target): void {
  const { fails, succeeds } = expecting(target);

  it('HEAD where there is no GET is a 405 with Allow and no body [R7]', async () => {
    const reply = await succeeds(405, 'HEAD /todos/1/complete');
    assert.equal(header(reply, 'allow'), 'POST');
    assert.equal(header(reply, 'content-type'), 'application/problem+json');
  });

  it('the paths that are no todo are found in any spelling too [R2; R3]', async () => {
    for (const path of [
      '/todos/2/complete/',
      '/TODOS/2/Complete',
      '/todos/-1/complete',
      '/todos/+00/complete',
    ]) {
      await fails(404, `POST ${path}`, {}, { headers: { allow: undefined } });
    }
    await fails(500, 'GET /CRASH/');
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

/** The headers that depend neither on the moment nor on the framing, RFC 9110 §9.3.2. */
function stable(reply: Reply): readonly (readonly [string, string])[] {
  return reply.headers.filter(([name]) => !['date', 'content-length', 'transfer-encoding'].includes(name));
}
