import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { startList } from '../operations/list.ts';

const service = await startList();
after(() => service[Symbol.asyncDispose]());

interface Reply {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** `fetch` would decompress what it gets, and ask for it unasked. */
function list(headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const options = { method, headers: { authorization: `Bearer ${service.editor}`, ...headers } };
  request(`${service.url}/todos`, options, async (response) => {
    const body = Buffer.concat(await response.toArray());
    resolve({ status: response.statusCode, headers: response.headers, body });
  })
    .once('error', reject)
    .end();
  return promise;
}

async function add(title: string): Promise<void> {
  const reply = await fetch(`${service.url}/todos`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.editor}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title, categoryId: 1 }),
  });
  assert.equal(reply.status, 201);
}

test('RFC 9110 §8.8.3 · the list has a strong tag and varies by coding; a change of the data gives it another tag', async () => {
  const before = await list();
  assert.match(String(before.headers.etag), /^"[^"]+"$/);
  assert.equal(before.headers['cache-control'], 'private, no-cache');
  assert.equal(before.headers.vary, 'Accept-Encoding');
  await add('Buy milk');
  assert.notEqual((await list()).headers.etag, before.headers.etag);
});

test('RFC 9110 §13.1.2 · the list that a client has already is a 304 without a body', async () => {
  const { headers } = await list();
  const reply = await list({ 'if-none-match': String(headers.etag) });
  assert.equal(reply.status, 304);
  assert.equal(reply.headers.etag, headers.etag);
  assert.equal(reply.headers.vary, 'Accept-Encoding');
  assert.equal(reply.headers['cache-control'], 'private, no-cache');
  assert.equal(reply.headers['content-type'], undefined);
  assert.equal(reply.body.length, 0);
});

test('RFC 9110 §12.5.3 · a list above 1 KiB that is asked for again comes compressed, with a tag of its own', async () => {
  for (let i = 0; i < 20; i += 1) await add('x'.repeat(100));
  const plain = await list();
  await list({ 'accept-encoding': 'gzip' });
  const reply = await list({ 'accept-encoding': 'gzip' });
  assert.equal(reply.headers['content-encoding'], 'gzip');
  assert.equal(reply.headers.vary, 'Accept-Encoding');
  assert.notEqual(reply.headers.etag, plain.headers.etag);
  assert.deepEqual(gunzipSync(reply.body), plain.body);
});

test('RFC 9110 §13.1.2 · the tag of either coding is a 304, whichever coding the client admits now', async () => {
  const tags = [await list(), await list({ 'accept-encoding': 'gzip' })].map(({ headers }) =>
    String(headers.etag),
  );
  for (const tag of tags) {
    const reply = await list({ 'accept-encoding': 'gzip', 'if-none-match': tag });
    assert.equal(reply.status, 304, tag);
    assert.equal(reply.headers.etag, tag);
  }
});

test('RFC 9110 §12.5.3 · a client that does not admit gzip gets the list as it is', async () => {
  const reply = await list({ 'accept-encoding': 'gzip;q=0' });
  assert.equal(reply.headers['content-encoding'], undefined);
  assert.ok(Array.isArray(JSON.parse(reply.body.toString())));
});

test('RFC 9110 §13.1.1 · another tag in If-Match is a 412, and a malformed header a 400', async () => {
  const failed = await list({ 'if-match': '"x"' });
  assert.equal(failed.status, 412);
  assert.equal(failed.headers.vary, 'Accept');
  assert.equal(failed.headers.etag, undefined);
  assert.equal((await list({ 'if-none-match': 'x' })).status, 400);
});

test('R7 · a list of several pieces comes whole, with its length; HEAD has the same head', async () => {
  using database = new DatabaseSync(join(service.dataDir, 'todos.db'));
  database.exec(`INSERT INTO todos (title, category_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT printf('%0100d', i), 1 FROM n`);
  await add('the last');
  const [get, head] = [await list(), await list({}, 'HEAD')];
  const todos: readonly { title: string }[] = JSON.parse(get.body.toString());
  assert.equal(todos.at(-1)?.title, 'the last');
  assert.equal(todos.at(-2)?.title, '3000'.padStart(100, '0'));
  assert.equal(get.headers['content-length'], String(get.body.length));
  assert.equal(get.headers['transfer-encoding'], undefined);
  assert.equal(get.headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(head.body.length, 0);
  assert.deepEqual({ ...head.headers, date: '' }, { ...get.headers, date: '' });
});
