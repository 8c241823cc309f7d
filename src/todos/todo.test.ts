import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  areAllChanged,
  COLUMN_NAMES,
  createKey,
  entityTag,
  isId,
  isTitle,
  matchesChanged,
  matchesWeakly,
  preconditionsHold,
  represent,
  type TodoMembers,
  valuesOf,
} from './todo.ts';

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

test('both preconditions must admit the write', () => {
  assert.equal(preconditionsHold({ ifMatch: ['"a"'], ifNoneMatch: ['"b"'] }, '"a"'), true);
  assert.equal(preconditionsHold({ ifMatch: ['"a"'], ifNoneMatch: ['"a"'] }, '"a"'), false);
  assert.equal(preconditionsHold({}, '"a"'), true);
});

test('If-Match admits any of its tags, and with a star every one; If-None-Match compares weakly', () => {
  assert.equal(preconditionsHold({ ifMatch: '*' }, '"a"'), true);
  assert.equal(preconditionsHold({ ifNoneMatch: '*' }, '"a"'), false);
  assert.equal(preconditionsHold({ ifMatch: ['"b"', 'W/"a"'] }, '"a"'), false);
  assert.equal(preconditionsHold({ ifMatch: [] }, '"a"'), false);
  assert.equal(preconditionsHold({ ifMatch: ['"b"', '"a"'] }, '"a"'), true);
  assert.equal(preconditionsHold({ ifNoneMatch: ['"b"', 'W/"a"'] }, '"a"'), false);
});

test('a tag is the same for the same bytes and another for others', () => {
  assert.equal(entityTag('{"id":1}'), entityTag(Buffer.from('{"id":1}')));
  assert.notEqual(entityTag('{"id":1}'), entityTag('{"id":2}'));
  assert.match(entityTag(''), /^"[0-9a-f]{32}"$/);
});

const DIGITS = '0123456789abcdef'.repeat(2);
const CURRENT = `"${DIGITS}"`;

test('If-None-Match of a read names a tag, weak or not, and with a star every one [RFC 9110 §13.1.2]', () => {
  for (const tags of ['*', [CURRENT], ['"a"', `W/${CURRENT}`]] as const)
    assert.equal(matchesWeakly(tags, CURRENT), true, String(tags));
  for (const tags of [[], ['"a"', 'W/"a"'], [`w/${CURRENT}`]])
    assert.equal(matchesWeakly(tags, CURRENT), false, String(tags));
});

test('a tag that goes on behind the digits of this one is this one, as a proxy has changed it [Order 5]', () => {
  for (const tag of [`"${DIGITS}-gzip"`, `W/"${DIGITS};br"`, `W/${CURRENT}`])
    assert.equal(matchesChanged(['"a"', tag, 'W/"b"'], CURRENT), true, tag);
  for (const tag of ['"a"', `"${DIGITS.slice(1)}-gzip"`, `"x${DIGITS}"`, `V/"${DIGITS}-gzip"`])
    assert.equal(matchesChanged([tag], CURRENT), false, tag);
  assert.equal(matchesChanged([], CURRENT), false);
  assert.equal(matchesChanged('*', CURRENT), false);
});

test('tags that are all weak, or go on behind 32 digits, are of no todo; no other ones are [Order 5]', () => {
  const changed = ['W/"a"', `W/${CURRENT}`, `"${DIGITS}-gzip"`, `"${DIGITS};br"`];
  for (const tags of [...changed.map((tag) => [tag]), changed])
    assert.equal(areAllChanged(tags), true, String(tags));
  const others = [CURRENT, '"a"', `"${'g'.repeat(32)}-gzip"`, '"a-gzip"', `"x${DIGITS}-gzip"`, '"W/"'];
  for (const tag of others)
    for (const tags of [[tag], [...changed, tag]]) assert.equal(areAllChanged(tags), false, String(tags));
  assert.equal(areAllChanged([]), false);
  assert.equal(areAllChanged('*'), false);
});

const MILK = { title: 'Buy milk', done: false, categoryId: 2 } as TodoMembers;

test('createKey makes the same digests as ever: databases and exports have them [I2]', () => {
  assert.deepEqual(
    createKey(['https://issuer.example', 'ada'], 'abc', { ...MILK, categoryId: 1 } as TodoMembers),
    {
      key: 'r8YvK3HHWP3lqMN2F6TjKAeTKb_9zkZloM4jB23hWD8',
      body: 'eF9SfEAUWdxCl6VwZ_8hXM0lhH9ZdNt0TwkJm2wfVBU',
    },
  );
});

test('another issuer, subject or key is another one, however the parts are cut [I1]', () => {
  const parts = [
    ['https://a.example', 'ada', 'k'],
    ['https://b.example', 'ada', 'k'],
    ['https://a.example', 'eve', 'k'],
    ['https://a.example', 'ada', 'l'],
    ['https://a.example', 'adak', ''],
    ['https://a.exampleada', '', 'k'],
    ['https://a.example","ada', '', 'k'],
    ['https://a.example', '\ud800', 'k'],
    ['https://a.example', '\ud801', 'k'],
    ['https://a.example', '\ufffd', 'k'],
  ] as const;
  const seen = new Set(parts.map(([issuer, subject, key]) => createKey([issuer, subject], key, MILK).key));
  assert.equal(seen.size, parts.length);
});

test('another title or category is another body, and nothing else is [I4]', () => {
  const caller = ['https://a.example', 'ada'] as const;
  const bodies = [MILK, { title: 'Buy milk', categoryId: 1 }, { title: 'Buy milk ', categoryId: 2 }];
  const seen = new Set(bodies.map((body) => createKey(caller, 'k', body as TodoMembers).body));
  assert.equal(seen.size, 3);
  assert.equal(createKey(caller, 'other', { ...MILK }).body, createKey(caller, 'k', MILK).body);
});

test('what is kept has one size, whatever a caller sends [I1]', () => {
  const { key, body } = createKey(['i'.repeat(9_000), 's'.repeat(9_000)], 'k'.repeat(128), MILK);
  assert.match(key, /^[\w-]{43}$/);
  assert.match(body, /^[\w-]{43}$/);
});
