import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { header, json, type Reply } from '../../packages/conformance/src/http.ts';
import { assertProblem } from '../../packages/conformance/src/problem.ts';
import type { Todo } from '../../packages/conformance/src/target.ts';
import { startList } from '../support/list.ts';

const service = await startList();
after(() => service[Symbol.asyncDispose]());
const { editor: token } = service;

const STALE = '"stale"';
const MISSING = '/todos/2147483647';

/** Sends this as the editor, with these header lines. */
function send(line: string, headers: Readonly<Record<string, string>> = {}, body?: object): Promise<Reply> {
  return service.send(line, { token, headers, ...(body && { json: body }) });
}

function tagOf(reply: Reply): string {
  return header(reply, 'etag') ?? '';
}

/** What proxies put behind the 32 digits of a tag, and whatever else may stand there (RFC 9110 §8.8.3). */
const SUFFIXES = [
  ...['-gzip', '-br', '-zstd', ';gzip', ';br', '--gzip', '-gzip-br', '0', '/', ',', "'"],
  ...fc.sample(fc.stringMatching(/^[!#-~]{1,12}$/), { numRuns: 12, seed: 41 }),
];

/** The tag as proxies have changed it, in every form. */
function changed(etag: string): string[] {
  const suffixed = SUFFIXES.map((suffix) => `${etag.slice(0, -1)}${suffix}"`);
  return [...suffixed, ...suffixed.map((tag) => `W/${tag}`)];
}

/** A new todo: its path and its tag. */
async function create(title = 'Buy milk') {
  const reply = await send('POST /todos', {}, { title, categoryId: 1 });
  return { path: header(reply, 'location') ?? '', etag: tagOf(reply) };
}

function assertNotModified(reply: Reply, etag: string): void {
  assert.equal(reply.status, 304);
  assert.equal(tagOf(reply), etag);
  assert.equal(header(reply, 'cache-control'), 'private, no-cache');
  for (const name of ['content-type', 'content-length']) assert.equal(header(reply, name), undefined);
  assert.equal(reply.body.length, 0);
}

test('a new todo and the todo read carry the same strong tag [D24; RFC 9110 §8.8.3]', async () => {
  const { path, etag } = await create();
  const reply = await send(`GET ${path}`);
  assert.match(etag, /^"[^"]+"$/);
  assert.equal(tagOf(reply), etag);
  assert.equal(header(reply, 'cache-control'), 'private, no-cache');
});

test('a PUT carries no tag; the todo has another one afterwards [D24; RFC 9110 §9.3.4]', async () => {
  const { path, etag } = await create();
  const reply = await send(`PUT ${path}`, {}, { title: 'Buy oat milk', categoryId: 1 });
  assert.equal(reply.status, 204);
  assert.equal(tagOf(reply), '');
  assert.notEqual(tagOf(await send(`GET ${path}`)), etag);
});

test('If-None-Match with the current tag in any form is a 304, with another one a 200 [D24; RFC 9110 §13.1.2]', async () => {
  const { path, etag } = await create();
  for (const value of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    assertNotModified(await send(`GET ${path}`, { 'If-None-Match': value }), etag);
  }
  assert.equal((await send(`GET ${path}`, { 'If-None-Match': '"other"' })).status, 200);
});

test('a read takes a tag in If-None-Match that a proxy has changed for the one that it was made of [Order 5]', async () => {
  const { path, etag } = await create();
  const { etag: other } = await create('Buy bread');
  for (const tag of changed(etag)) {
    for (const value of [tag, `"x", ${tag}, ${STALE}`])
      for (const method of ['GET', 'HEAD'])
        assertNotModified(await send(`${method} ${path}`, { 'If-None-Match': value }), etag);
  }
  const others = [other, `${etag.slice(0, -2)}"`, `${etag.slice(0, -2)}-gzip"`, `"x${etag.slice(1)}`];
  for (const tag of [...others, ...changed(other)])
    assert.equal((await send(`GET ${path}`, { 'If-None-Match': tag })).status, 200, tag);
});

test('a read with another tag in If-Match is a 412 [D24; RFC 9110 §13.1.1]', async () => {
  const { path, etag } = await create();
  assertProblem(await send(`GET ${path}`, { 'If-Match': STALE }), 412);
  assertProblem(await send(`GET ${path}`, { 'If-Match': `W/${etag}` }), 412, { detail: 'any' });
});

for (const [method, body] of [
  ['PUT', { title: 'Lost', categoryId: 1 }],
  ['DELETE', undefined],
] as const) {
  test(`on ${method} a 412 for tags that a proxy has changed says so, and no other does [Order 5]`, async () => {
    const { path, etag } = await create();
    const tags = changed(etag);
    for (const value of [`W/${etag}`, ...tags, `${tags[0]}, W/"a"`, tags.join(', ')]) {
      const reply = await send(`${method} ${path}`, { 'If-Match': value }, body);
      assertProblem(reply, 412, { detail: /^All tags of If-Match are weak, or go on behind their 32 / });
    }
    const others = [STALE, '"-gzip"', `"${'g'.repeat(32)}-gzip"`, `${etag.slice(0, -2)}"`, '"x"'];
    for (const value of ['', ' , ', ...others, ...others.map((tag) => `${tags[0]}, ${tag}`)]) {
      assertProblem(await send(`${method} ${path}`, { 'If-Match': value }, body), 412);
    }
    assertProblem(await send(`${method} ${path}`, { 'If-Match': '*', 'If-None-Match': '*' }, body), 412);
    assert.equal((await send(`${method} ${path}`, { 'If-Match': etag }, body)).status, 204);
  });

  test(`on ${method} a tag in If-None-Match that a proxy has changed is another one [Order 5]`, async () => {
    for (const suffix of ['-gzip', '-br', ';gzip']) {
      const { path, etag } = await create();
      const value = `${etag.slice(0, -1)}${suffix}"`;
      assert.equal((await send(`${method} ${path}`, { 'If-None-Match': value }, body)).status, 204);
    }
  });

  test(`on ${method} an empty If-None-Match is a list of no tags [Order 4]`, async () => {
    const { path } = await create();
    assert.equal((await send(`${method} ${path}`, { 'If-None-Match': ',' }, body)).status, 204);
  });

  test(`on ${method} a malformed precondition comes before a missing todo [Order 4]`, async () => {
    assertProblem(await send(`${method} ${MISSING}`, { 'If-Match': 'abc' }, body), 400, { detail: 'any' });
  });
}

test('the list has a strong tag and varies by coding; a change of the data gives it another tag [D24; RFC 9110 §8.8.3]', async () => {
  const before = await send('GET /todos');
  assert.match(tagOf(before), /^"[^"]+"$/);
  assert.equal(header(before, 'cache-control'), 'private, no-cache');
  assert.equal(header(before, 'vary'), 'Accept-Encoding');
  await create();
  assert.notEqual(tagOf(await send('GET /todos')), tagOf(before));
});

test('a list above 1 KiB that is asked for again comes compressed, with a tag of its own [D24; RFC 9110 §12.5.3]', async () => {
  for (let i = 0; i < 20; i += 1) await create('x'.repeat(100));
  const plain = await send('GET /todos');
  await send('GET /todos', { 'Accept-Encoding': 'gzip' });
  const reply = await send('GET /todos', { 'Accept-Encoding': 'gzip' });
  assert.equal(header(reply, 'content-encoding'), 'gzip');
  assert.equal(header(reply, 'vary'), 'Accept-Encoding');
  assert.notEqual(tagOf(reply), tagOf(plain));
  assert.deepEqual(gunzipSync(reply.body), plain.body);
});

test('a GET names the tag of either coding: 304 by If-None-Match, 200 by If-Match [D24; RFC 9110 §13.1]', async () => {
  for (const headers of [{}, { 'Accept-Encoding': 'gzip' }]) {
    const etag = tagOf(await send('GET /todos', headers));
    const again = { 'Accept-Encoding': 'gzip' };
    const unchanged = await send('GET /todos', { ...again, 'If-None-Match': etag });
    assertNotModified(unchanged, etag);
    assert.equal(header(unchanged, 'vary'), 'Accept-Encoding');
    const matching = await send('GET /todos', { ...again, 'If-Match': etag });
    assert.equal(matching.status, 200);
    assert.equal(tagOf(matching), etag);
  }
});

test('of the list too: the tag of either coding, changed, is a 304, and the plain tag is none for its twin [Order 5]', async () => {
  const plain = tagOf(await send('GET /todos'));
  const twin = tagOf(await send('GET /todos', { 'Accept-Encoding': 'gzip' }));
  assert.equal(twin, `${plain.slice(0, -1)}-gzip"`);
  for (const tag of changed(plain)) {
    const reply = await send('GET /todos', { 'If-None-Match': tag });
    assertNotModified(reply, plain);
    assert.equal(header(reply, 'vary'), 'Accept-Encoding');
    const again = await send('GET /todos', { 'If-None-Match': tag, 'Accept-Encoding': 'gzip' });
    assertNotModified(again, tag.includes(twin.slice(0, -1)) ? twin : plain);
  }
  for (const tag of changed(twin))
    assertNotModified(await send('GET /todos', { 'If-None-Match': tag, 'Accept-Encoding': 'gzip' }), twin);
  const both = { 'If-Match': twin, 'If-None-Match': plain, 'Accept-Encoding': 'gzip' };
  assert.equal((await send('GET /todos', both)).status, 200);
});

test('a client that does not admit gzip gets the list as it is [D24; RFC 9110 §12.5.3]', async () => {
  const reply = await send('GET /todos', { 'Accept-Encoding': 'gzip;q=0' });
  assert.equal(header(reply, 'content-encoding'), undefined);
  assert.ok(Array.isArray(json(reply)));
});

test('another tag of the list in If-Match is a 412 [D24; RFC 9110 §13.1.1]', async () => {
  assertProblem(await send('GET /todos', { 'If-Match': STALE }), 412);
});

test('a list of several pieces comes whole, with its length; HEAD has the same head [R7]', async () => {
  using database = new DatabaseSync(join(service.dataDir, 'todos.db'));
  database.exec(`INSERT INTO todos (title, category_id)
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT printf('%0100d', i), 1 FROM n`);
  await create('the last');
  const [get, head] = [await send('GET /todos'), await send('HEAD /todos')];
  const titles = (json(get) as Todo[]).map(({ title }) => title);
  assert.deepEqual(titles.slice(-2), ['3000'.padStart(100, '0'), 'the last']);
  assert.equal(header(get, 'content-length'), String(get.body.length));
  assert.equal(header(get, 'transfer-encoding'), undefined);
  assert.equal(header(get, 'content-type'), 'application/json; charset=utf-8');
  assert.equal(head.body.length, 0);
  const withoutDate = ({ headers }: Reply) => headers.filter(([name]) => name !== 'date');
  assert.deepEqual(withoutDate(head), withoutDate(get));
});

test('a create that failed without a change leaves its key free [I6]', async () => {
  using other = new DatabaseSync(join(service.dataDir, 'todos.db'));
  other.exec('BEGIN IMMEDIATE');
  const key = { 'Idempotency-Key': 'a' };
  const failed = await send('POST /todos', key, { title: 'Buy milk', categoryId: 1 });
  assertProblem(failed, 503, { headers: { 'retry-after': '1' } });
  other.exec('ROLLBACK');
  const made = await send('POST /todos', key, { title: 'Buy bread', categoryId: 2 });
  assert.equal(made.status, 201);
  const { id, ...todo } = json(made) as Todo;
  assert.deepEqual(todo, { title: 'Buy bread', done: false, categoryId: 2 });
  assert.equal(header(made, 'location'), `/todos/${id}`);
});
