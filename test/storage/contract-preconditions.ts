import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Preconditions } from '../../src/store/todo.ts';
import { todo } from '../todo.ts';
import type { Engine } from './contract.ts';
import { addedTo, found, replacement, titles } from './todos.ts';

const OTHER = '"0123456789abcdef0123456789abcdef"';

/** Preconditions by the tag of the stored todo, and whether they admit a write. RFC 9110 §13.1.1, §13.1.2. */
const table: readonly [name: string, make: (etag: string) => Preconditions, admitted: boolean][] = [
  ['If-Match: its tag', (etag) => ({ ifMatch: [etag] }), true],
  ['If-Match: a list with its tag', (etag) => ({ ifMatch: [OTHER, etag] }), true],
  ['If-Match: *', () => ({ ifMatch: '*' }), true],
  ['If-Match: another tag', () => ({ ifMatch: [OTHER] }), false],
  ['If-Match: its tag, weak', (etag) => ({ ifMatch: [`W/${etag}`] }), false],
  ['If-None-Match: another tag', () => ({ ifNoneMatch: [OTHER] }), true],
  ['If-None-Match: its tag', (etag) => ({ ifNoneMatch: [etag] }), false],
  ['If-None-Match: its tag, weak', (etag) => ({ ifNoneMatch: [OTHER, `W/${etag}`] }), false],
  ['If-None-Match: *', () => ({ ifNoneMatch: '*' }), false],
  ['If-Match: its tag, If-None-Match: its tag', (etag) => ({ ifMatch: [etag], ifNoneMatch: [etag] }), false],
];

/** Decided inside the write itself: contract, Order of checks 5. */
export function describePreconditions({ open }: Engine): void {
  for (const [name, make, admitted] of table) {
    test(`${name}: a write is ${admitted ? 'made' : 'refused and changes nothing'}`, async () => {
      await using store = await open();
      const before = await addedTo(store, 'a');
      const outcome = await store.replace(1, replacement('b', true, 2), make(before.etag));
      assert.equal(outcome, admitted ? 'replaced' : 'precondition-failed');
      const after = await store.find(1);
      assert.equal(after?.json, admitted ? JSON.stringify(todo(1, 'b', true, 2)) : before.json);
      const removal = await store.remove(1, make(after?.etag ?? ''));
      assert.equal(removal, admitted ? 'removed' : 'precondition-failed');
      assert.deepEqual(await store.find(1), admitted ? undefined : before);
    });
  }

  test('a missing todo and a missing category are said before a failed precondition', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    const stale = { ifMatch: [OTHER] };
    assert.equal(await store.replace(9, replacement('b', true, 9), stale), 'todo-missing');
    assert.equal(await store.replace(1, replacement('b', true, 9), stale), 'category-missing');
    assert.equal(await store.replace(1, replacement('b', true, 2), stale), 'precondition-failed');
    assert.equal(await store.remove(9, stale), 'todo-missing');
  });

  test('of writers that arrive together with the same tag, one wins', async () => {
    await using store = await open();
    const { etag } = await addedTo(store, 'a');
    const sent = ['b', 'c', 'd'];
    const outcomes = await Promise.all(
      sent.map((title) => store.replace(1, replacement(title, true, 1), { ifMatch: [etag] })),
    );
    assert.deepEqual(outcomes.toSorted(), ['precondition-failed', 'precondition-failed', 'replaced']);
    assert.equal((await found(store, 1))?.title, sent[outcomes.indexOf('replaced')]);
  });

  test('whatever the title, the tag that was read is the tag that is compared', async () => {
    await using store = await open();
    await fc.assert(
      fc.asyncProperty(titles, async (title) => {
        const { id, etag } = await addedTo(store, title);
        assert.equal((await store.find(id))?.etag, etag);
        assert.equal(await store.remove(id, { ifMatch: [etag] }), 'removed');
      }),
    );
  });
}
