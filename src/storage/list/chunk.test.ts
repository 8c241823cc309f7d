import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buffersOf } from '../../lib/answer-body.ts';
import { chunkOf, makeChunk, todosOf } from './chunk.ts';
import { ListChunks } from './version.ts';

const todo = (id: number, title = 'a') => ({ id, title, done: false, categoryId: 1 });
const one = (id: number, title?: string) => makeChunk([todo(id, title)]);

async function textOf(chunks: ListChunks): Promise<string> {
  return String(Buffer.concat(buffersOf((await chunks.version().select()).body)));
}

test('a chunk has the ids of a row of 256', () => {
  assert.deepEqual([0, 1, 255, 256, 2_147_483_647].map(chunkOf), [0, 0, 0, 1, 8_388_607]);
});

test('the todos of a chunk come back as they were', () => {
  const todos = [todo(1, '\u2028"\\'), todo(2, '\u{10ffff}')];
  const chunk = makeChunk(todos);
  assert.ok(chunk !== undefined);
  assert.deepEqual(todosOf(chunk), todos);
});

test('without todos there is no chunk', () => {
  assert.equal(makeChunk([]), undefined);
});

test('in whatever order chunks are set, the list is ascending', async () => {
  const chunks = new ListChunks();
  for (const number of [3, 0, 2]) chunks.set(number, one(number * 256));
  const ids = JSON.parse(await textOf(chunks)).map(({ id }: { id: number }) => id);
  assert.deepEqual(ids, [0, 512, 768]);
});

test('a chunk that is set again and equal stays the one that it was', () => {
  const chunks = new ListChunks();
  const first = one(1);
  chunks.set(0, first);
  chunks.set(0, one(1));
  assert.equal(chunks.get(0), first);
  chunks.set(0, one(1, 'changed'));
  assert.notEqual(chunks.get(0), first);
});

test('the bytes of a list are those of its chunks, and of their copies once it was compressed', async () => {
  const chunks = new ListChunks();
  assert.equal(chunks.bytes, 0);
  chunks.set(0, makeChunk(Array.from({ length: 200 }, (_, id) => todo(id))));
  const plain = (await textOf(chunks)).length - 1;
  assert.equal(chunks.bytes, plain);
  const { body } = await chunks.version().select('gzip');
  const copy = Buffer.concat(buffersOf(body)).length;
  assert.ok(
    chunks.bytes > plain + copy / 2 && chunks.bytes < plain + copy,
    `${chunks.bytes} of ${plain}, ${copy}`,
  );
  chunks.set(0, undefined);
  assert.equal(chunks.bytes, 0);
});

test('a chunk without todos is gone, and the highest number is that of the last chunk with some', async () => {
  const chunks = new ListChunks();
  assert.equal(chunks.highest, 0);
  for (const number of [7, 5]) chunks.set(number, one(number * 256));
  assert.equal(chunks.highest, 7);
  for (const number of [7, 5]) chunks.set(number, undefined);
  assert.equal(await textOf(chunks), '[]');
  assert.equal(chunks.highest, 0);
});

test('of a list that was read anew, nothing else is kept', async () => {
  const chunks = new ListChunks();
  for (const number of [0, 1, 2]) chunks.set(number, one(number * 256));
  chunks.keepOnly(new Set([1]));
  assert.equal(await textOf(chunks), '[{"id":256,"title":"a","done":false,"categoryId":1}]');
});
