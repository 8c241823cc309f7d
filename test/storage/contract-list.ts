import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { TodoStore } from '../../src/store/store.ts';
import type { Engine } from './contract.ts';
import { addedTo, addMany, bytesOf, listed, listText, replacement } from './todos.ts';

/** The list as clients see it from `GET /todos`. */
export function describeList({ open }: Engine): void {
  test('what was answered is in every list that is asked for later', async () => {
    await using store = await open();
    const counts = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const { id } = await addedTo(store, `todo ${index}`);
        const todos = await listed(store);
        assert.ok(todos.some((todo) => todo.id === id));
        return todos.length;
      }),
    );
    assert.equal(Math.max(...counts), 20);
  });

  test('lists that are asked for together are one', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    const [first, second] = await Promise.all([store.list(), store.list()]);
    assert.equal(first.etag, second.etag);
    assert.deepEqual(bytesOf(first), bytesOf(second));
  });

  test('an unchanged list is in the same buffers with the same tag', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    const first = await store.list();
    const second = await store.list();
    assert.equal(second.body, first.body);
    assert.equal(second.etag, first.etag);
  });

  test('a list that became what it was before has the tag it had before', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    const { etag } = await store.list();
    await store.replace(1, replacement('b', false, 1));
    assert.notEqual((await store.list()).etag, etag);
    await store.replace(1, replacement('a', false, 1));
    assert.equal((await store.list()).etag, etag);
  });

  test('a long list that is asked for again comes in gzip to those who read it, with a tag of its own', async () => {
    await using store = await open();
    for (let index = 0; index < 20; index += 1) await addedTo(store, 'a'.repeat(50));
    const plain = await store.list({ gzip: true });
    const twin = await store.list({ gzip: true });
    assert.equal(plain.coding, 'identity');
    assert.equal(twin.coding, 'gzip');
    assert.notEqual(twin.etag, plain.etag);
    assert.deepEqual(gunzipSync(bytesOf(twin)), bytesOf(plain));
    assert.equal((await store.list({ gzip: false })).coding, 'identity');
  });

  test('changes everywhere in a long list are in it, in order', async () => {
    await using store = await open();
    await addMany(
      store,
      Array.from({ length: 1_000 }, (_, index) => `todo ${index}`),
    );
    await changedAndListed(store, [1, 63, 64, 65, 127, 128, 700, 999, 1_000]);
    await changedAndListed(store, [2, 300]);
    await addedTo(store, 'last');
    assert.equal((await listed(store)).at(-1)?.title, 'last');
  });
}

/** Replaces or removes todos, then compares the list with every single todo. */
async function changedAndListed(store: TodoStore, ids: readonly number[]): Promise<void> {
  await store.list();
  for (const id of ids) {
    if (id % 3 === 0) assert.equal(await store.remove(id), 'removed');
    else assert.equal(await store.replace(id, replacement(`changed ${id}`, true, 2)), 'replaced');
  }
  const single: string[] = [];
  for (let id = 1; id <= 1_001; id += 1) {
    const todo = await store.find(id);
    if (todo !== undefined) single.push(todo.json);
  }
  assert.equal(await listText(store), `[${single.join(',')}]`);
}
