import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { type ClientOptions, createTodoClient, TodoProblem } from '../../client/src/client.ts';
import { errorOf } from './error-of.ts';
import { startProxy } from './proxy.ts';

const MILK = { title: 'Buy milk', categoryId: 1 };
const PROBLEM = { 'content-type': 'application/problem+json' };
const NOW = { ...PROBLEM, 'retry-after': '0' };
const UNAVAILABLE = JSON.stringify({ title: 'Service Unavailable', status: 503 });

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
