import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { ListVersion } from './list-version.ts';

const BYTES = Buffer.from(`[${'{"id":1},'.repeat(200)}{"id":2}]`);
const version = () => new ListVersion(BYTES, '"0a"');

test('the first who asks gets the plain list, the second its gzip twin with a tag of its own', async () => {
  const list = version();
  assert.deepEqual(await list.select({ gzip: true }), { bytes: BYTES, coding: 'identity', etag: '"0a"' });
  const twin = await list.select({ gzip: true });
  assert.equal(twin.coding, 'gzip');
  assert.equal(twin.etag, '"0a-gzip"');
  assert.deepEqual(gunzipSync(twin.bytes), BYTES);
  assert.ok(twin.bytes.length < BYTES.length);
});

test('the twin is made once', async () => {
  const list = version();
  await list.select({ gzip: false });
  const [one, other] = await Promise.all([list.select({ gzip: true }), list.select({ gzip: true })]);
  assert.equal(one, other);
});

test('who cannot read gzip never gets it', async () => {
  const list = version();
  for (const _ of [1, 2, 3]) assert.equal((await list.select({ gzip: false })).coding, 'identity');
});

test('a list of up to 1024 bytes has no twin', async () => {
  const list = new ListVersion(Buffer.alloc(1024, ' '), '"0a"');
  for (const _ of [1, 2, 3]) assert.equal((await list.select({ gzip: true })).coding, 'identity');
});

test('a client that has one coding is offered that one', async () => {
  const list = version();
  assert.equal((await list.select({ gzip: true, ifNoneMatch: ['"0a-gzip"'] })).etag, '"0a-gzip"');
  assert.equal((await list.select({ gzip: true, ifNoneMatch: ['W/"0a"'] })).etag, '"0a"');
  assert.equal((await list.select({ gzip: false, ifNoneMatch: ['"0a-gzip"'] })).etag, '"0a"');
});
