import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { quoted } from '../../test/support/quoted.ts';
import type { Identity } from '../caller.ts';
import { createKey } from './create-keys.ts';
import type { TodoMembers } from './members.ts';
import {
  parseCreateTodo,
  parseEntityTags,
  parseIdempotencyKey,
  parseReplaceTodo,
  readCreateKey,
  readPreconditions,
} from './requests.ts';

const good = { title: 'Buy milk', categoryId: 1 };

test('a create has its members, no other that was sent, and is not done [B6; States]', () => {
  assert.deepEqual(parseCreateTodo({ ...good, done: true, id: 7, constructor: 1 }), {
    value: { ...good, done: false },
  });
});

test('a replacement has its members, and no other that was sent [B6]', () => {
  for (const done of [true, false])
    assert.deepEqual(parseReplaceTodo({ ...good, done, id: 7 }), { value: { ...good, done } });
});

test('a replacement without done is not done [B11]', () => {
  assert.deepEqual(parseReplaceTodo(good), { value: { ...good, done: false } });
});

const blank = 'title must not be empty or only white space.';

/** The conformance suite shows the refused values; the sentences stand here. */
const REFUSED: readonly (readonly [member: string, value: unknown, ...sentences: string[]])[] = [
  ['title', '\u00a0\u2003\u3000\u0085', blank],
  ['title', '😀'.repeat(101), 'title must have at most 100 characters.'],
  ['title', ' '.repeat(101), blank, 'title must have at most 100 characters.'],
  ['title', '\ud800', 'title must be well-formed Unicode text without U+0000.'],
  ['title', null, 'title must be a string.'],
  ['categoryId', Number.POSITIVE_INFINITY, 'categoryId must be an integer from 1 to 2147483647.'],
];

for (const [member, value, ...sentences] of REFUSED) {
  test(`the ${member} ${quoted(value).slice(0, 40)} is refused, with a sentence [B9; B10; B12]`, () => {
    assert.deepEqual(parseCreateTodo({ ...good, [member]: value }), { errors: { [member]: sentences } });
  });
}

test('all failing members are named at once, in the order of the schema, and no others [B12]', () => {
  const parsed = parseReplaceTodo({ categoryId: 0, done: 'yes', title: '' });
  assert.deepEqual(Object.keys('errors' in parsed ? parsed.errors : {}), ['title', 'done', 'categoryId']);
  assert.deepEqual(parseReplaceTodo({ title: 'x', categoryId: 1, done: null }), {
    errors: { done: ['done must be true or false.'] },
  });
});

test('missing members are required [B12]', () => {
  const errors = { title: ['title is required.'], categoryId: ['categoryId is required.'] };
  assert.deepEqual(parseCreateTodo({}), { errors });
  assert.deepEqual(parseReplaceTodo({}), { errors });
});

test('a member in another letter case is named where the right one is missing [B8]', () => {
  const parsed = parseCreateTodo({ categoryId: 1, Title: 'Buy milk' });
  const sentence = 'title is required; "Title" was sent, but member names are case-sensitive.';
  assert.deepEqual(parsed, { errors: { title: [sentence] } });
});

test('a member of another name is not named where one is missing [B8]', () => {
  assert.deepEqual(parseCreateTodo({ categoryId: 1, titles: 'Buy milk', ' title': 'Buy milk' }), {
    errors: { title: ['title is required.'] },
  });
});

const ALLOWED = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index)).filter(
  (character) => !['"', '\\', ','].includes(character),
);

const keys = fc.string({ unit: fc.constantFrom(...ALLOWED), minLength: 1, maxLength: 128 });

test('a key is the same bare and in double quotes, of any allowed character [I5]', () => {
  assert.equal(ALLOWED.length, 91);
  for (const key of [...ALLOWED, ...fc.sample(keys)]) {
    assert.equal(parseIdempotencyKey(key), key);
    assert.equal(parseIdempotencyKey(`"${key}"`), key);
  }
});

test('a key with one character that is not allowed is malformed, wherever it stands [I5]', () => {
  const others = fc
    .integer({ min: 0, max: 0xff })
    .map((code) => String.fromCharCode(code))
    .filter((character) => !ALLOWED.includes(character));
  const part = fc.oneof(keys, fc.constant(''));
  fc.assert(
    fc.property(part, others, part, (before, other, behind) => {
      assert.equal(parseIdempotencyKey(before + other + behind), undefined);
      assert.equal(parseIdempotencyKey(`"${before}${other}${behind}"`), undefined);
    }),
  );
});

test('two values that Node.js has joined are malformed [I5]', () => {
  const spelled = keys.chain((key) => fc.constantFrom(key, `"${key}"`));
  fc.assert(
    fc.property(spelled, spelled, (one, other) => {
      assert.equal(parseIdempotencyKey(`${one}, ${other}`), undefined);
    }),
  );
});

const wellFormed: readonly [value: string, tags: '*' | readonly string[]][] = [
  ['*', '*'],
  [' * ', '*'],
  ['"a"', ['"a"']],
  ['""', ['""']],
  ['W/"a"', ['W/"a"']],
  ['"a","b"', ['"a"', '"b"']],
  ['"a" ,\tW/"b" , ', ['"a"', 'W/"b"']],
  [', ,"a"', ['"a"']],
  ['"a,b"', ['"a,b"']],
  ['', []],
  [' ', []],
  [', ,', []],
  ['"!#~\x80\xff"', ['"!#~\x80\xff"']],
];

for (const [value, tags] of wellFormed) {
  test(`${quoted(value)} is a list of entity tags`, () => {
    assert.deepEqual(parseEntityTags(value), tags);
  });
}

for (const value of [
  'a',
  '"a',
  'a"',
  '"a" "b"',
  '"a""b"',
  'w/"a"',
  'W/ "a"',
  '\xa0*',
  '*\xa0',
  '*, "a"',
  '"a", *',
  '"a\x7f"',
  '"a b"',
]) {
  test(`${quoted(value)} is malformed`, () => {
    assert.equal(parseEntityTags(value), null);
  });
}

test('preconditions are those of both headers, and none without them [RFC 9110 §13.1]', () => {
  const headers = { 'if-match': '"a"', 'if-none-match': '*' };
  assert.deepEqual(readPreconditions(headers), { ifMatch: ['"a"'], ifNoneMatch: '*' });
  assert.deepEqual(readPreconditions({}), { ifMatch: undefined, ifNoneMatch: undefined });
});

test('a header that is malformed leaves no preconditions, whatever the other one is [RFC 9110 §13.1]', () => {
  for (const other of [undefined, '*', '"a"', 'a']) {
    assert.equal(readPreconditions({ 'if-match': 'a', 'if-none-match': other }), undefined);
    assert.equal(readPreconditions({ 'if-match': other, 'if-none-match': 'a' }), undefined);
  }
});

const ADA = ['https://issuer.example', 'ada'] as const;
const MILK = good as TodoMembers;

/** What comes of a header `Idempotency-Key` of this caller. */
function keyOf(value: string | undefined, caller: Identity['caller']) {
  return readCreateKey(
    { headers: { 'idempotency-key': value }, identity: { name: null, roles: [], caller } },
    MILK,
  );
}

test('a create has the key of its header, or none without one [I1]', () => {
  assert.deepEqual(keyOf('"abc"', ADA), createKey(ADA, 'abc', MILK));
  assert.equal(keyOf(undefined, ADA), undefined);
  assert.equal(keyOf(undefined, null), undefined);
});

test('a key that is malformed, and one of a caller without a subject, is a 400 that says which [I5]', () => {
  const detailOf = (value: string, caller: Identity['caller']) => {
    const answer = keyOf(value, caller);
    assert.ok(answer && 'status' in answer && answer.status === 400);
    return answer.detail ?? '';
  };
  for (const value of ['', 'a b']) assert.match(detailOf(value, ADA), /^Idempotency-Key must be one key of /);
  assert.match(detailOf('abc', null), /^Idempotency-Key needs a token with the claim "sub"\.$/);
});
