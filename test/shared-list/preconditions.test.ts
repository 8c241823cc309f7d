import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startList } from '../operations/list.ts';

const service = await startList();
after(() => service[Symbol.asyncDispose]());

function send(method: string, path: string, headers: Record<string, string> = {}, body?: object) {
  return fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${service.editor}`, 'content-type': 'application/json', ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

/** A new todo: its path and its tag. */
async function create(title = 'Buy milk') {
  const reply = await send('POST', '/todos', {}, { title, categoryId: 1 });
  return { path: reply.headers.get('location') ?? '', etag: reply.headers.get('etag') ?? '' };
}

test('RFC 9110 §8.8.3 · a new todo and the todo read carry the same strong tag', async () => {
  const { path, etag } = await create();
  const reply = await send('GET', path);
  assert.match(etag, /^"[^"]+"$/);
  assert.equal(reply.headers.get('etag'), etag);
  assert.equal(reply.headers.get('cache-control'), 'private, no-cache');
});

test('RFC 9110 §9.3.4 · a PUT carries no tag; the todo has another one afterwards', async () => {
  const { path, etag } = await create();
  const reply = await send('PUT', path, {}, { title: 'Buy oat milk', categoryId: 1 });
  assert.equal(reply.status, 204);
  assert.equal(reply.headers.get('etag'), null);
  assert.notEqual((await send('GET', path)).headers.get('etag'), etag);
});

for (const form of [
  (tag: string) => tag,
  (tag: string) => `W/${tag}`,
  (tag: string) => `"x", ${tag}`,
  () => '*',
]) {
  test(`RFC 9110 §13.1.2 · If-None-Match ${form('"tag"')} of the current tag is a 304 without a body`, async () => {
    const { path, etag } = await create();
    const reply = await send('GET', path, { 'if-none-match': form(etag) });
    assert.equal(reply.status, 304);
    assert.equal(reply.headers.get('etag'), etag);
    assert.equal(reply.headers.get('cache-control'), 'private, no-cache');
    assert.equal(reply.headers.get('content-type'), null);
    assert.equal(await reply.text(), '');
  });
}

test('RFC 9110 §13.1.2 · If-None-Match with another tag is answered in full', async () => {
  const { path } = await create();
  assert.equal((await send('GET', path, { 'if-none-match': '"other"' })).status, 200);
});

test('RFC 9110 §13.1.1 · a read with another tag in If-Match is a 412', async () => {
  const { path } = await create();
  assert.equal((await send('GET', path, { 'if-match': '"other"' })).status, 412);
});

for (const [method, body] of [
  ['PUT', { title: 'Lost', categoryId: 1 }],
  ['DELETE', undefined],
] as const) {
  test(`RFC 9110 §13.1.1 · ${method} with the current tag is done, with a stale one it is a 412 and nothing changes`, async () => {
    const { path, etag } = await create();
    await send('PUT', path, {}, { title: 'Changed meanwhile', categoryId: 2 });
    const refused = await send(method, path, { 'if-match': etag }, body);
    const { title, status } = (await refused.json()) as { title: string; status: number };
    assert.equal(refused.headers.get('content-type'), 'application/problem+json');
    assert.deepEqual([title, status], ['Precondition Failed', 412]);
    const current = await send('GET', path);
    assert.equal(((await current.json()) as { title: string }).title, 'Changed meanwhile');
    const done = await send(method, path, { 'if-match': current.headers.get('etag') ?? '' }, body);
    assert.equal(done.status, 204);
  });

  test(`RFC 9110 §13.1.1 · a weak tag never matches on ${method}`, async () => {
    const { path, etag } = await create();
    assert.equal((await send(method, path, { 'if-match': `W/${etag}` }, body)).status, 412);
  });

  test(`RFC 9110 §13.1.2 · ${method} with a matching If-None-Match is a 412`, async () => {
    const { path, etag } = await create();
    assert.equal((await send(method, path, { 'if-none-match': etag }, body)).status, 412);
    assert.equal((await send('GET', path)).status, 200);
  });

  test(`Order 4 · a malformed If-Match on ${method} is a 400, also where the todo is missing`, async () => {
    const { path } = await create();
    for (const target of [path, '/todos/2147483647']) {
      assert.equal((await send(method, target, { 'if-match': 'abc' }, body)).status, 400);
    }
  });

  test(`RFC 9110 §13.2.1 · on ${method} a missing todo comes before a failed precondition`, async () => {
    assert.equal((await send(method, '/todos/2147483647', { 'if-match': '"x"' }, body)).status, 404);
  });
}

test('Order 5 · on PUT a missing category comes before a failed precondition', async () => {
  const { path } = await create();
  const reply = await send('PUT', path, { 'if-match': '"x"' }, { title: 'x', categoryId: 99 });
  assert.equal(reply.status, 400);
  assert.equal(((await reply.json()) as { title: string }).title, 'Category not found');
});

test('Order 4 · on PUT a broken rule comes before a malformed precondition', async () => {
  const { path } = await create();
  const reply = await send('PUT', path, { 'if-match': 'abc' }, { title: '', categoryId: 1 });
  assert.ok('errors' in ((await reply.json()) as object));
});

test('RFC 9110 §13.1.1 · sixteen clients that read, add one and write back with If-Match lose no update', async () => {
  const { path } = await create('0');
  const increment = async (): Promise<void> => {
    const current = await send('GET', path);
    const { title } = (await current.json()) as { title: string };
    const body = { title: String(Number(title) + 1), categoryId: 1 };
    const reply = await send('PUT', path, { 'if-match': current.headers.get('etag') ?? '' }, body);
    if (reply.status === 412) return increment();
    assert.equal(reply.status, 204);
  };
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let i = 0; i < 5; i += 1) await increment();
    }),
  );
  const { title } = (await (await send('GET', path)).json()) as { title: string };
  assert.equal(title, '80');
});
