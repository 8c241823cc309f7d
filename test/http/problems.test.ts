import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { header, json, type Reply } from '../../packages/conformance/src/http.ts';
import { assertErrorHeaders, assertProblem, assertTextLine } from '../../packages/conformance/src/problem.ts';
import { send, type Target } from '../../packages/conformance/src/target.ts';
import { openRoute, type Route } from '../../src/http/route.ts';
import { get, startDemo, targetOf } from '../support/demo.ts';
import { Connection } from '../support/raw.ts';

const TEAPOT = { status: 418, headers: { 'content-type': 'text/plain' }, body: 'short and stout' };

/** Node.js throws for it. */
const UNWRITABLE = { status: 200, headers: { 'x-a': '\n' } };

let broken = false;
const service = await startDemo({
  routes: [
    ...[204, 404, 409, 413, 422, 499, 503].map((status) => get(`/empty/${status}`, () => ({ status }))),
    get('/own', () => TEAPOT),
    get('/own/type', () => ({ status: 404, headers: { 'content-type': 'text/markdown' } })),
    get('/own/length', () => ({ status: 404, headers: { 'content-length': '0' } })),
    get('/unwritable', () => UNWRITABLE),
    get('/unwritable/later', async () => UNWRITABLE),
    get('/throws/later', async () => {
      throw new TypeError('a bug');
    }),
    get('/throws/no-error', async () => {
      throw { statusCode: 200, message: 'surprise' };
    }),
    openRoute('/asks/id', ({ id }) => ({ status: id })),
    openRoute('/asks/caller', ({ identity }) => ({ status: 200, body: identity.name ?? '' })),
  ],
  traces: {
    begin: () => {
      if (broken) throw new Error('a bug in what records');
      return undefined;
    },
  },
});
after(() => service[Symbol.asyncDispose]());

const target: Target = { ...targetOf(service.url), profile: 'error-demo' };
const ask = (path: string, accept = '*/*'): Promise<Reply> => send(target, `GET ${path}`, { accept });

for (const [status, title] of [
  [404, 'Not Found'],
  [409, 'Conflict'],
  [503, 'Service Unavailable'],
] as const) {
  test(`an empty ${status} of a handler becomes a problem titled ${title} [Errors 1; Errors 2]`, async () => {
    assertProblem(await ask(`/empty/${status}`), status, { title });
  });
}

test('an unknown status has neither type nor title [P2; P3]', async () => {
  assert.deepEqual(Object.keys(Object(json(await ask('/empty/499')))), ['status', 'traceId']);
});

test('the text line of an unknown status has no phrase [N2]', async () => {
  assertTextLine(await ask('/empty/499', 'text/html'), 499, 'Status Code: 499');
});

test('the status line of an unknown status has no phrase, and others have that of RFC 9110', async () => {
  for (const [status, phrase] of [
    [499, ''],
    [413, 'Content Too Large'],
    [422, 'Unprocessable Content'],
  ] as const) {
    await using connection = await Connection.open(service.url);
    connection.socket.write(`GET /empty/${status} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    await connection.closed();
    assert.equal(connection.received().split('\r\n')[0], `HTTP/1.1 ${status} ${phrase}`);
  }
});

test('an error body that an endpoint has written is never rewritten, and has the headers of every error [Errors 2; P7]', async () => {
  const reply = await ask('/own');
  assert.equal(header(reply, 'content-type'), 'text/plain');
  assert.equal(reply.body.toString(), 'short and stout');
  assertErrorHeaders(reply);
});

for (const [name, value, path] of [
  ['content-type', 'text/markdown', '/own/type'],
  ['content-length', '0', '/own/length'],
] as const) {
  test(`an empty error with its own ${name} is left alone [Errors 2]`, async () => {
    const reply = await ask(path);
    assert.equal(reply.status, 404);
    assert.equal(header(reply, name), value);
    assert.equal(reply.body.length, 0);
  });
}

test('an empty success is left alone [Errors 2]', async () => {
  const reply = await ask('/empty/204');
  for (const name of ['content-type', 'content-length', 'vary']) assert.equal(header(reply, name), undefined);
});

test('the log has the exception once, with the traceId of the answer [Errors 3]', async () => {
  const { traceId } = assertProblem(await ask('/throws/later'), 500);
  const lines = service.log.filter((line) => JSON.stringify(line).includes('a bug'));
  assert.deepEqual(
    lines.map((line) => line.traceId),
    [traceId],
  );
  assert.match(JSON.stringify(lines[0]?.err), /TypeError.*problems\.test/);
});

test('a thrown value that is not an Error is a 500 too [Errors 3]', async () => {
  const reply = await ask('/throws/no-error');
  assertProblem(reply, 500);
  assertErrorHeaders(reply);
  assert.doesNotMatch(reply.body.toString(), /surprise/);
});

for (const [what, path, message] of [
  ['an id', '/asks/id', 'Cannot name the id: the route has none'],
  ['the caller', '/asks/caller', 'Cannot name the caller: nobody was admitted'],
] as const) {
  test(`a handler that asks for ${what} which its route does not have is a bug: a 500, and the log says why`, async () => {
    const { traceId } = assertProblem(await ask(path), 500);
    const line = service.log.find((one) => one.traceId === traceId);
    assert.deepEqual([line?.event, Object(line?.err).message], ['crash', message]);
  });
}

test('what is thrown outside of what answers costs one connection and a line, and the service goes on', async () => {
  const before = service.log.length;
  broken = true;
  await assert.rejects(ask('/todos/1'));
  broken = false;
  assert.equal((await ask('/todos/1')).status, 200);
  assert.deepEqual(
    service.log.slice(before).map(({ event }) => event),
    ['answer-not-written'],
  );
});

for (const path of ['/unwritable', '/unwritable/later']) {
  test(`an answer that cannot be written costs one connection and a line: ${path}`, async () => {
    const before = service.log.length;
    await assert.rejects(ask(path));
    const lines = service.log.slice(before);
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['answer-not-written'],
    );
    assert.match(JSON.stringify(lines[0]?.err), /ERR_INVALID_CHAR/);
  });
}

test('a route of the error demo cannot ask for an identity [Authentication 10]', async () => {
  const route = { method: 'DELETE', path: '/todos', access: 'CanWriteTodos' } as const;
  const demo = startDemo({ routes: [{ ...route, handle: () => ({ status: 204 }) }] });
  await assert.rejects(demo, /a route asks who is calling, and there is no authentication/);
});

test('a route that does not state its access does not compile [Endpoints A, rule 4]', () => {
  // @ts-expect-error `access` is missing
  const route: Route = { method: 'DELETE', path: '/todos', handle: () => ({ status: 204 }) };
  assert.equal('access' in route, false);
});
