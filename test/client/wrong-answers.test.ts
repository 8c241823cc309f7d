import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { type ClientOptions, createTodoClient, TodoProblem } from '../../client/src/client.ts';
import { todo } from '../todo.ts';
import { errorOf } from './error-of.ts';
import { startProxy } from './proxy.ts';

const MILK = { title: 'Buy milk', categoryId: 1 };
const PROBLEM = { 'content-type': 'application/problem+json' };
const NOW = { ...PROBLEM, 'retry-after': '0' };
const UNAVAILABLE = JSON.stringify({
  type: 'https://tools.ietf.org/html/rfc9110#section-15.6.4',
  title: 'Service Unavailable',
  status: 503,
});

/** Nothing is behind it: every request meets a fate. */
const server = await startProxy('http://127.0.0.1:1');
after(() => server[Symbol.asyncDispose]());

const clientWith = (options: Partial<ClientOptions> = {}) =>
  createTodoClient({ baseUrl: server.url, ...options });

type Client = ReturnType<typeof clientWith>;

let seenBefore = 0;
beforeEach(() => {
  seenBefore = server.seen.length;
  server.fates.length = 0;
});
const requests = () => server.seen.length - seenBefore;

/** Every call of the service, and whether it is a change. */
const CALLS = [
  ['list', false, (client: Client) => client.list()],
  ['get', false, (client: Client) => client.get(1)],
  ['me', false, (client: Client) => client.me()],
  ['create', true, (client: Client) => client.create(MILK)],
  ['replace', true, (client: Client) => client.replace(1, MILK)],
  ['remove', true, (client: Client) => client.remove(1)],
  ['complete', true, (client: Client) => client.complete(1)],
] as const;

for (const [name, isChange, call] of CALLS) {
  test(`a 304 that ${name} did not ask for is an error`, async () => {
    server.fates.push({ status: 304 });
    const error = await errorOf(call(clientWith()));
    assert.equal(error.status, 304);
    assert.equal(error.outcomeUnknown, isChange);
  });
}

for (const [name, isChange, call] of CALLS) {
  const hasJson = name !== 'replace' && name !== 'remove';
  for (const body of ['<h1>Log in</h1>', '42', 'null', '"ada"', hasJson ? '' : '{}']) {
    test(`a 200 with ${JSON.stringify(body)} is no answer to ${name}`, async () => {
      server.fates.push({ status: 200, body });
      const error = await errorOf(call(clientWith()));
      assert.equal(error.message, '200 is no answer of the service');
      assert.equal(error.outcomeUnknown, isChange);
    });
  }
}

for (const body of ['42', '"x"', '[]', '{}', '{"title":5}', '{"title":{"toString":null}}']) {
  test(`the problem ${body} is none of the service: its change is not repeated, and the status is known`, async () => {
    server.fates.push({ status: 503, headers: NOW, body });
    const error = await errorOf(clientWith().create(MILK));
    assert.ok(!(error instanceof TodoProblem));
    assert.equal(error.status, 503);
    assert.equal(error.outcomeUnknown, true);
    assert.equal(requests(), 1);
  });
}

for (const [member, value] of [
  ['detail', { toString: null }],
  ['detail', 5],
  ['traceId', ['00-x']],
  ['errors', 5],
  ['errors', { title: 'wrong' }],
  ['errors', { title: [5] }],
] as const) {
  test(`of a problem, ${member} ${JSON.stringify(value)} is left out`, async () => {
    const body = JSON.stringify({ title: 'Bad Request', status: 400, [member]: value });
    server.fates.push({ status: 400, headers: PROBLEM, body });
    const error = await errorOf(clientWith().create(MILK));
    assert.ok(error instanceof TodoProblem);
    assert.equal(error.message, '400 Bad Request');
    assert.equal(error[member], undefined);
  });
}

test('a create has an unknown outcome after an attempt of which that is so, whatever a repeat is told', async () => {
  const forbidden = JSON.stringify({ title: 'Forbidden', status: 403 });
  server.fates.push({ status: 502 }, { status: 403, headers: PROBLEM, body: forbidden });
  const error = await errorOf(clientWith().create(MILK, { idempotencyKey: true }));
  assert.equal(error.status, 403);
  assert.equal(error.outcomeUnknown, true);
  server.fates.push({ status: 429, headers: { 'retry-after': '0' } });
  server.fates.push({ status: 403, headers: PROBLEM, body: forbidden });
  assert.equal((await errorOf(clientWith().create(MILK, { idempotencyKey: true }))).outcomeUnknown, false);
});

const RFC9110 = 'https://tools.ietf.org/html/rfc9110';

for (const [status, type] of [
  [500, `${RFC9110}#section-15.6.1`],
  [502, `${RFC9110}#section-15.6.3`],
  [504, `${RFC9110}#section-15.6.5`],
  [503, 'about:blank'],
  [503, undefined],
] as const) {
  test(`a create is not repeated after a gateway's problem ${status} of type ${type} that names a wait`, async () => {
    const body = JSON.stringify({ type, title: 'Gateway', status });
    server.fates.push({ status, headers: NOW, body });
    const error = await errorOf(clientWith().create(MILK));
    assert.ok(error instanceof TodoProblem);
    assert.equal(error.outcomeUnknown, true);
    assert.equal(requests(), 1);
  });
}

for (const [status, type] of [
  [409, `${RFC9110}#section-15.5.10`],
  [429, undefined],
  [503, `${RFC9110}#section-15.6.4`],
] as const) {
  test(`a create is repeated after the service's problem ${status} that names a wait, and nothing was changed`, async () => {
    const fate = { status, headers: NOW, body: JSON.stringify({ type, title: 'Later', status }) };
    server.fates.push(fate, fate);
    const error = await errorOf(clientWith({ retries: 1 }).create(MILK));
    assert.equal(error.outcomeUnknown, false);
    assert.equal(requests(), 2);
  });
}

for (const baseUrl of [
  ...['', '127.0.0.1:5150', 'localhost:5150', '/api', '//todos.example', 'ftp://todos.example'],
  ...['https://todos.example?a=1', 'https://todos.example/#a', 'https://'],
]) {
  test(`the base URL ${JSON.stringify(baseUrl)} is refused when the client is made`, () => {
    assert.throws(() => createTodoClient({ baseUrl }), {
      name: 'TypeError',
      message: `baseUrl must be an absolute http or https URL without a user, a query and a fragment, received ${JSON.stringify(baseUrl)}`,
    });
  });
}

test('the error about a base URL with a user does not show the password', () => {
  assert.throws(
    () => createTodoClient({ baseUrl: 'https://ada:secret@todos.example' }),
    (error: Error) => error instanceof TypeError && !error.message.includes('secret'),
  );
});

test('an answer larger than the limit is an error whose status is known, and one as large is taken', async () => {
  const body = JSON.stringify([todo(1, 'é')]);
  const maxAnswerBytes = Buffer.byteLength(body);
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, body };
  server.fates.push(answer, answer, answer);
  assert.equal((await clientWith({ maxAnswerBytes }).list()).todos.length, 1);
  const read = await errorOf(clientWith({ maxAnswerBytes: maxAnswerBytes - 1 }).list());
  assert.equal(read.message, `200, and the answer has more than ${maxAnswerBytes - 1} bytes`);
  assert.equal(read.status, 200);
  assert.equal(read.outcomeUnknown, false);
  const change = clientWith({ maxAnswerBytes: maxAnswerBytes - 1 }).create(MILK);
  assert.equal((await errorOf(change)).outcomeUnknown, true);
  assert.equal(requests(), 3);
});

test('an error with more than 64 KiB is no problem of the service', async () => {
  const body = JSON.stringify({ title: 'Bad Request', status: 400, detail: 'a'.repeat(64 * 1024) });
  server.fates.push({ status: 400, headers: PROBLEM, body });
  const error = await errorOf(clientWith().create(MILK));
  assert.ok(!(error instanceof TodoProblem));
  assert.equal(error.message, '400');
});

for (const wait of ['-5', '1.5', '1, 2', 'later 1']) {
  test(`"${wait}" names no wait: a change is not repeated`, async () => {
    server.fates.push({ status: 503, headers: { ...PROBLEM, 'retry-after': wait }, body: UNAVAILABLE });
    const error = await errorOf(clientWith().create(MILK));
    assert.equal(error.retryAfterMs, undefined);
    assert.equal(error.outcomeUnknown, true);
    assert.equal(requests(), 1);
  });
}

for (const [retries, attempts] of [
  [-1, 1],
  [1.5, 3],
  [Number.NaN, 1],
] as const) {
  test(`with ${retries} retries a call is made ${attempts} times`, async () => {
    const fate = { status: 503, headers: NOW, body: UNAVAILABLE };
    server.fates.push(fate, fate, fate, fate);
    assert.equal((await errorOf(clientWith({ retries }).list())).status, 503);
    assert.equal(requests(), attempts);
  });
}

test('a wait that no timer can measure is not waited for, however long a wait may be', async () => {
  const headers = { ...PROBLEM, 'retry-after': '3000000' };
  server.fates.push({ status: 503, headers, body: UNAVAILABLE });
  const { retryAfterMs } = await errorOf(clientWith({ maxWaitMs: Number.POSITIVE_INFINITY }).create(MILK));
  assert.equal(retryAfterMs, 3_000_000_000);
  assert.equal(requests(), 1);
});

test('an aborted call does not wait for its token', async () => {
  const controller = new AbortController();
  const reason = new Error('The page was left');
  const token = () => {
    queueMicrotask(() => controller.abort(reason));
    return new Promise<string>(() => {});
  };
  await assert.rejects(clientWith({ token }).list({ signal: controller.signal }), reason);
});

test('the error about a token that cannot be sent does not show it', async () => {
  for (const token of ['secret\ntoken', 'secret…token']) {
    await assert.rejects(clientWith({ token }).list(), (error: Error) => {
      assert.equal(error.message, 'The token has a character that no header may have');
      return error.cause === undefined;
    });
  }
  assert.equal(requests(), 0);
});
