import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entityTag } from './entity-tags.ts';
import { COLUMN_NAMES, isId, isTitle, represent, type TodoMembers, valuesOf } from './members.ts';

const MILK = { title: 'Buy milk', done: false, categoryId: 2 } as TodoMembers;

test('a title has at most 100 code points, of one UTF-16 unit or two [B10]', () => {
  for (const title of ['x'.repeat(100), '😀'.repeat(100), `${'x'.repeat(99)}😀`])
    assert.equal(isTitle(title), true, title);
  for (const title of ['x'.repeat(101), '😀'.repeat(101), `${'x'.repeat(100)}😀`, 'x'.repeat(65_536)])
    assert.equal(isTitle(title), false, title);
});

test('an id is an integer from 1 to 2147483647 [Limits]', () => {
  for (const id of [1, 2, 2_147_483_647]) assert.equal(isId(id), true, String(id));
  for (const id of [0, -1, 2_147_483_648, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1', null, undefined])
    assert.equal(isId(id), false, String(id));
});

test('the values of a todo are in the order of its columns', () => {
  const values = valuesOf({ ...MILK, done: true });
  const byColumn = Object.fromEntries(COLUMN_NAMES.map((name, index) => [name, values[index]]));
  assert.partialDeepStrictEqual(byColumn, { title: 'Buy milk', done: true, category_id: 2 });
});

test('a todo is JSON in the order of the specification, with the tag of this text', () => {
  const json = '{"id":7,"title":"Buy milk","done":true,"categoryId":2}';
  const todo = { categoryId: 2, done: true, id: 7, title: 'Buy milk' };
  assert.deepEqual(represent(todo), { id: 7, json, etag: entityTag(json) });
});
