import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseEntityTags, parseIdempotencyKey } from './request-headers.ts';

const ALLOWED = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index)).filter(
  (character) => !['"', '\\', ','].includes(character),
);

const keys = fc.string({ unit: fc.constantFrom(...ALLOWED), minLength: 1, maxLength: 128 });

test('I5 · a key is the same bare and in double quotes, of any allowed character', () => {
  assert.equal(ALLOWED.length, 91);
  for (const key of [...ALLOWED, ...fc.sample(keys)]) {
    assert.equal(parseIdempotencyKey(key), key);
    assert.equal(parseIdempotencyKey(`"${key}"`), key);
  }
});

test('I5 · a key with one character that is not allowed is malformed, wherever it stands', () => {
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

test('I5 · two values that Node.js has joined are malformed', () => {
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
  ['"!#~\x80\xff"', ['"!#~\x80\xff"']],
];

for (const [value, tags] of wellFormed) {
  test(`${JSON.stringify(value)} is a list of entity tags`, () => {
    assert.deepEqual(parseEntityTags(value), tags);
  });
}

for (const value of [
  '',
  ' ',
  ',',
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
    assert.equal(parseEntityTags(value), undefined);
  });
}
