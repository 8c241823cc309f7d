import assert from 'node:assert/strict';
import { test } from 'node:test';
import { get, startDemo } from '../operations/demo.ts';

async function problemOf(reply: Response) {
  return (await reply.json()) as { readonly traceId: string };
}

const TEAPOT = { status: 418, headers: { 'content-type': 'text/plain' }, body: 'short and stout' };

for (const [status, section, title] of [
  [404, '15.5.5', 'Not Found'],
  [409, '15.5.10', 'Conflict'],
  [503, '15.6.4', 'Service Unavailable'],
] as const) {
  test(`Errors 1, 2 · an empty ${status} of a handler becomes a problem titled ${title}`, async () => {
    await using service = await startDemo({ routes: [get('/empty', () => ({ status }))] });
    const reply = await fetch(`${service.url}/empty`);
    const { traceId, ...problem } = await problemOf(reply);
    assert.equal(reply.headers.get('content-type'), 'application/problem+json');
    assert.match(traceId, /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    assert.deepEqual(problem, {
      type: `https://tools.ietf.org/html/rfc9110#section-${section}`,
      title,
      status,
    });
  });
}

test('P2, P3 · an unknown status has neither type nor title', async () => {
  await using service = await startDemo({ routes: [get('/empty', () => ({ status: 499 }))] });
  const problem = await problemOf(await fetch(`${service.url}/empty`));
  assert.deepEqual(Object.keys(problem), ['status', 'traceId']);
});

test('N2 · the text line of an unknown status has no phrase', async () => {
  await using service = await startDemo({ routes: [get('/empty', () => ({ status: 499 }))] });
  const reply = await fetch(`${service.url}/empty`, { headers: { accept: 'text/html' } });
  assert.equal(await reply.text(), 'Status Code: 499');
});

test('Errors 2 · an error body that an endpoint has written is never rewritten', async () => {
  await using service = await startDemo({ routes: [get('/own', () => TEAPOT)] });
  const reply = await fetch(`${service.url}/own`);
  assert.equal(reply.headers.get('content-type'), 'text/plain');
  assert.equal(await reply.text(), 'short and stout');
});

test('P7 · an error that an endpoint has written has the headers of every error', async () => {
  await using service = await startDemo({ routes: [get('/own', () => TEAPOT)] });
  const { headers } = await fetch(`${service.url}/own`);
  assert.equal(headers.get('vary'), 'Accept');
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
});

for (const [name, value] of [
  ['content-type', 'text/markdown'],
  ['content-length', '0'],
] as const) {
  test(`Errors 2 · an empty error with its own ${name} is left alone`, async () => {
    await using service = await startDemo({
      routes: [get('/own', () => ({ status: 404, headers: { [name]: value } }))],
    });
    const reply = await fetch(`${service.url}/own`);
    assert.equal(reply.status, 404);
    assert.equal(reply.headers.get(name), value);
    assert.equal(await reply.text(), '');
  });
}

test('Errors 2 · an empty success is left alone', async () => {
  await using service = await startDemo({ routes: [get('/empty', () => ({ status: 204 }))] });
  const reply = await fetch(`${service.url}/empty`);
  assert.equal(reply.headers.get('content-type'), null);
  assert.equal(reply.headers.get('vary'), null);
});

test('Errors 3 · an exception is a 500 without any part of it', async () => {
  const fail = () => {
    throw new Error('the database password is hunter2');
  };
  await using service = await startDemo({ routes: [get('/fail', fail)] });
  const reply = await fetch(`${service.url}/fail`);
  const text = await reply.text();
  assert.equal(reply.status, 500);
  assert.equal(JSON.parse(text).title, 'An error occurred while processing your request.');
  assert.equal(reply.headers.get('cache-control'), 'no-cache,no-store');
  assert.equal(reply.headers.get('pragma'), 'no-cache');
  assert.equal(reply.headers.get('expires'), '-1');
  assert.equal(reply.headers.get('etag'), null);
  assert.doesNotMatch(text, /hunter2|Error|problems\.test/);
});

test('Errors 3 · the log has the exception once, with the traceId of the answer', async () => {
  const fail = async () => {
    throw new TypeError('a bug');
  };
  await using service = await startDemo({ routes: [get('/fail', fail)] });
  const { traceId } = await problemOf(await fetch(`${service.url}/fail`));
  const lines = service.log.filter((line) => JSON.stringify(line).includes('a bug'));
  assert.equal(lines.length, 1);
  assert.equal(lines[0]?.traceId, traceId);
  assert.match(JSON.stringify(lines[0]?.err), /TypeError.*problems\.test/);
});

test('Errors 3 · a thrown value that is not an Error is a 500 too', async () => {
  const fail = async () => {
    throw { statusCode: 200, message: 'surprise' };
  };
  await using service = await startDemo({ routes: [get('/fail', fail)] });
  const reply = await fetch(`${service.url}/fail`);
  assert.equal(reply.status, 500);
  assert.doesNotMatch(await reply.text(), /surprise/);
});

test('N3 · a 500 that cannot be negotiated has no body and no content type', async () => {
  await using service = await startDemo();
  const reply = await fetch(`${service.url}/crash`, { headers: { accept: 'text/html' } });
  assert.equal(reply.status, 500);
  assert.equal(reply.headers.get('content-type'), null);
  assert.equal(reply.headers.get('content-length'), '0');
  assert.equal(reply.headers.get('cache-control'), 'no-cache,no-store');
});

test('what is thrown outside of what answers costs one connection and a line, and the service goes on', async () => {
  let broken = true;
  const traces = {
    begin: () => {
      if (broken) throw new Error('a bug in what records');
      return undefined;
    },
  };
  await using service = await startDemo({ recorders: { traces } });
  await assert.rejects(fetch(`${service.url}/todos/1`));
  broken = false;
  assert.equal((await fetch(`${service.url}/todos/1`)).status, 200);
  assert.deepEqual(
    service.log.map(({ event }) => event),
    ['answer-not-written'],
  );
});
