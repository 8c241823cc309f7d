import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Segment } from './list-json.ts';
import { ListVersion } from './list-version.ts';

const SEGMENTS = segments(',{"id":1}'.repeat(200), ',{"id":2}');
const BYTES = Buffer.from(`[${'{"id":1},'.repeat(200)}{"id":2}]`);
const version = () => new ListVersion(SEGMENTS, '"0a"');

function segments(...texts: readonly string[]): ReadonlyMap<number, Segment> {
  return new Map(texts.map((text, number) => [number, new TextEncoder().encode(text)]));
}

test('the first who asks gets the plain list, the second its gzip twin with a tag of its own', async () => {
  const list = version();
  assert.deepEqual(await list.select({ gzip: true }), { pieces: [BYTES], coding: 'identity', etag: '"0a"' });
  const twin = await list.select({ gzip: true });
  assert.equal(twin.coding, 'gzip');
  assert.equal(twin.etag, '"0a-gzip"');
  assert.deepEqual(gunzipSync(twin.pieces[0] ?? ''), BYTES);
  assert.equal(twin.pieces.length, 1);
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
  const list = new ListVersion(segments(','.padEnd(1023)), '"0a"');
  for (const _ of [1, 2, 3]) assert.equal((await list.select({ gzip: true })).coding, 'identity');
});

test('a client that has one coding is offered that one', async () => {
  const list = version();
  assert.equal((await list.select({ gzip: true, ifNoneMatch: ['"0a-gzip"'] })).etag, '"0a-gzip"');
  assert.equal((await list.select({ gzip: true, ifNoneMatch: ['W/"0a"'] })).etag, '"0a"');
  assert.equal((await list.select({ gzip: false, ifNoneMatch: ['"0a-gzip"'] })).etag, '"0a"');
});

test('a list of up to 128 KiB is one piece', async () => {
  const list = new ListVersion(segments(','.padEnd(100_000), ','.padEnd(31_071)), '"0a"');
  const { pieces } = await list.select({ gzip: false });
  assert.deepEqual(
    pieces.map(({ length }) => length),
    [131_072],
  );
});

test('versions of a longer list share the segments in which they do not differ, in ascending order', async () => {
  const [last, first] = [',"last"'.padEnd(70_000), ',"first"'.padEnd(70_000)].map((text) =>
    segments(text).get(0),
  );
  assert.ok(last !== undefined && first !== undefined);
  const select = (added: readonly [number, Segment][]) =>
    new ListVersion(new Map([[7, last], [0, first], ...added]), '"0a"').select({ gzip: false });
  const [before, after] = [await select([]), await select([[9, first]])].map(({ pieces }) => pieces);
  assert.deepEqual(JSON.parse(String(Buffer.concat(after ?? []))), ['first', 'last', 'first']);
  assert.equal(before?.[2]?.buffer, last.buffer);
  assert.equal(after?.[2]?.buffer, last.buffer);
});
