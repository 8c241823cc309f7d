import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseCreateTodo, parseEntityTags, parseIdempotencyKey, parseReplaceTodo } from './requests.ts';

const good = { title: 'Buy milk', categoryId: 1 };

const blank = 'title must not be empty or only white space.';

/** Which values are refused is shown by the conformance suite; the sentences stand here. */
const REFUSED: readonly (readonly [member: string, value: unknown, ...sentences: string[]])[] = [
  ['title', '\u00a0\u2003\u3000\u0085', blank],
  ['title', '😀'.repeat(101), 'title must have at most 100 characters.'],
  ['title', ' '.repeat(101), blank, 'title must have at most 100 characters.'],
  ['title', '\ud800', 'title must be well-formed Unicode text without U+0000.'],
  ['title', null, 'title must be a string.'],
  ['categoryId', Number.POSITIVE_INFINITY, 'categoryId must be an integer from 1 to 2147483647.'],
];

for (const [member, value, ...sentences] of REFUSED) {
  test(`the ${member} ${JSON.stringify(value).slice(0, 40)} is refused, with a sentence [B9; B10; B12]`, () => {
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
  assert.deepEqual(parseCreateTodo({}), {
    errors: { title: ['title is required.'], categoryId: ['categoryId is required.'] },
  });
});

test('a member in another letter case is named where the right one is missing [B8]', () => {
  const parsed = parseCreateTodo({ Title: 'Buy milk', categoryId: 1 });
  const sentence = 'title is required; "Title" was sent, but member names are case-sensitive.';
  assert.deepEqual(parsed, { errors: { title: [sentence] } });
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
  test(`${JSON.stringify(value)} is a list of entity tags`, () => {
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
  test(`${JSON.stringify(value)} is malformed`, () => {
    assert.equal(parseEntityTags(value), null);
  });
}
