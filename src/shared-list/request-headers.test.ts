import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseIdempotencyKey } from './request-headers.ts';

const ALLOWED = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index)).filter(
  (character) => !['"', '\\', ','].includes(character),
);

const keys = fc.string({ unit: fc.constantFrom(...ALLOWED), minLength: 1, maxLength: 128 });

test('I5 · every allowed character may stand in a key', () => {
  for (const character of ALLOWED) assert.equal(parseIdempotencyKey(character), character);
  assert.equal(ALLOWED.length, 91);
});

test('I5 · a key is the same bare and in double quotes', () => {
  fc.assert(
    fc.property(keys, (key) => {
      assert.equal(parseIdempotencyKey(key), key);
      assert.equal(parseIdempotencyKey(`"${key}"`), key);
    }),
  );
});

test('I5 · a key with one character that is not allowed is malformed, wherever it stands', () => {
  const others = fc
    .integer({ min: 0, max: 0xff })
    .map((code) => String.fromCharCode(code))
    .filter((character) => !ALLOWED.includes(character));
  fc.assert(
    fc.property(keys, others, keys, (before, other, behind) => {
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

const MALFORMED = [
  '',
  ' ',
  '""',
  '"',
  '"abc',
  'abc"',
  '"abc";a=1',
  '"abc"; a=1',
  '"abc" ',
  ' abc',
  'a b',
  'a,b',
  '"a\\"b"',
  'W/"abc"',
];

for (const value of [...MALFORMED, 'a'.repeat(129), `"${'a'.repeat(129)}"`]) {
  test(`I5 · ${JSON.stringify(value.slice(0, 20))} of ${value.length} characters is malformed`, () => {
    assert.equal(parseIdempotencyKey(value), undefined);
  });
}

test('I5 · a key may have 128 characters', () => {
  assert.equal(parseIdempotencyKey('a'.repeat(128))?.length, 128);
  assert.equal(parseIdempotencyKey(`"${'a'.repeat(128)}"`)?.length, 128);
});
