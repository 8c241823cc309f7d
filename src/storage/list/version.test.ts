import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { buffersOf } from '../../lib/answer-body.ts';
import { entityTag } from '../../shared-list/entity-tags.ts';
import type { Chunk } from './chunk.ts';
import { gzipOf } from './gzip.ts';
import { ListChunks, listVersion } from './version.ts';

const CHUNKS = [chunk(',{"id":1}'.repeat(200)), chunk(',{"id":2}')] as const;
const BYTES = Buffer.from(`[${'{"id":1},'.repeat(200)}{"id":2}]`);
const version = () => listVersion(CHUNKS);
const TAG = version().etag;
const TWIN = `${TAG.slice(0, -1)}-gzip"`;

function chunk(text: string): Chunk {
  const json = new TextEncoder().encode(text);
  return { json, etag: entityTag(json) };
}

test('a version without chunks is the empty array', async () => {
  assert.equal(String((await listVersion([]).select()).body), '[]');
});

test('lists that differ have different tags, equal ones the same', () => {
  assert.equal(version().etag, TAG);
  assert.match(TAG, /^"[0-9a-f]{32}"$/);
  assert.notEqual(listVersion([]).etag, TAG);
  assert.notEqual(listVersion(CHUNKS.toReversed()).etag, TAG);
});

test('the first who asks gets the plain list, the second its gzip twin with a tag of its own', async () => {
  const list = version();
  const { body, ...rest } = await list.select('gzip');
  assert.equal(String(body), String(BYTES));
  assert.deepEqual(rest, { coding: 'identity', etag: TAG });
  const twin = await list.select('gzip');
  assert.equal(twin.coding, 'gzip');
  assert.equal(twin.etag, TWIN);
  assert.ok(Buffer.isBuffer(twin.body));
  assert.deepEqual(gunzipSync(twin.body), BYTES);
});

test('the twin is made once', async () => {
  const list = version();
  await list.select();
  const [one, other] = await Promise.all([list.select('gzip'), list.select('gzip')]);
  assert.equal(one, other);
});

test('a compression that fails is tried again when the twin is asked for again', async () => {
  const [first, last] = CHUNKS;
  let broken = false;
  const failing = {
    ...first,
    get json() {
      if (broken) throw new Error('no memory');
      return first.json;
    },
  };
  const list = listVersion([failing, last]);
  await list.select('gzip');
  broken = true;
  await assert.rejects(async () => list.select('gzip'), /no memory/);
  broken = false;
  const { body } = await list.select('gzip');
  assert.deepEqual(gunzipSync(Buffer.concat(buffersOf(body))), BYTES);
});

test('who cannot read gzip never gets it', async () => {
  const list = version();
  for (const _ of [1, 2, 3]) assert.equal((await list.select()).coding, 'identity');
});

test('a list of up to 1024 bytes has no twin', async () => {
  const list = listVersion([chunk(','.padEnd(1023))]);
  for (const _ of [1, 2, 3]) assert.equal((await list.select('gzip')).coding, 'identity');
});

test('a client that names the tag of one coding is offered that one', async () => {
  for (const named of ['ifMatch', 'ifNoneMatch'] as const) {
    const list = version();
    assert.equal((await list.select('gzip', { [named]: [TWIN] })).etag, TWIN);
    assert.equal((await list.select('gzip', { [named]: [TAG] })).etag, TAG);
    assert.equal((await list.select('gzip', { [named]: ['"other"'] })).etag, TWIN);
  }
  const list = version();
  assert.equal((await list.select('gzip', { ifMatch: '*' })).etag, TAG);
  assert.equal((await list.select('gzip', { ifMatch: '*' })).etag, TWIN);
  assert.equal((await list.select('gzip', { ifMatch: [TWIN], ifNoneMatch: [TAG] })).etag, TWIN);
  assert.equal((await list.select('gzip', { ifNoneMatch: [`W/${TAG}`] })).etag, TAG);
  assert.equal((await list.select('gzip', { ifMatch: [`W/${TAG}`, TWIN] })).etag, TWIN);
  assert.equal((await list.select('identity', { ifNoneMatch: [TWIN] })).etag, TAG);
  assert.equal((await list.select('gzip', { ifNoneMatch: '*' })).etag, TAG);
});

test('a list of up to 4 KiB is a text when it is ASCII, which costs less to send, else bytes', async () => {
  const bodyOf = async (text: string) => (await listVersion([chunk(text)]).select()).body;
  assert.equal(await bodyOf(',"a"'.padEnd(4_095)), `[${'"a"'.padEnd(4_094)}]`);
  assert.ok(Buffer.isBuffer(await bodyOf(',"a"'.padEnd(4_096))));
  assert.deepEqual(await bodyOf(',"ä"'), Buffer.from('["ä"]'));
});

test('a longer list of up to 128 KiB is one buffer', async () => {
  const list = listVersion([chunk(','.padEnd(100_000)), chunk(','.padEnd(31_071))]);
  const { body } = await list.select();
  assert.ok(Buffer.isBuffer(body));
  assert.equal(body.length, 131_072);
});

test('a chunk may be a part of a larger buffer', async () => {
  const bytes = new TextEncoder().encode('before,{"id":3}behind');
  const part = { json: bytes.subarray(6, 15), etag: '"part"' };
  const { body } = await listVersion([part, ...CHUNKS]).select();
  assert.equal(String(body), `[{"id":3},${BYTES.subarray(1)}`);
});

test('versions of a longer list share their chunks', async () => {
  const [first, last] = [chunk(',"first"'.padEnd(70_000)), chunk(',"last"'.padEnd(70_000))];
  const added = chunk(',"added"');
  const [before, after] = await Promise.all(
    [
      [first, last],
      [first, last, added],
    ].map(async (chunks) => {
      return buffersOf((await listVersion(chunks).select()).body);
    }),
  );
  assert.deepEqual(JSON.parse(String(Buffer.concat(after ?? []))), ['first', 'last', 'added']);
  assert.equal(before?.[2]?.buffer, last.json.buffer);
  assert.equal(after?.[2]?.buffer, last.json.buffer);
});

test('a change that was undone gives the same version, with its compressed copy', () => {
  const [first, last] = CHUNKS;
  const chunks = new ListChunks();
  chunks.set(0, first);
  const before = chunks.version();
  chunks.set(1, last);
  chunks.set(1, undefined);
  assert.equal(chunks.version(), before);
});

test('after each 8 chunks that are compressed others have a turn', async () => {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  await gzipOf(Array.from({ length: 24 }, () => CHUNKS[0]));
  clearImmediate(next);
  assert.equal(turns, 3);
});

test('a chunk is compressed once for all lists', async () => {
  const [, , , piece] = await gzipOf(CHUNKS);
  assert.ok(piece);
  assert.ok((await gzipOf(CHUNKS)).includes(piece));
});
