import assert from 'node:assert/strict';
import { test } from 'node:test';
import { categoryNameFault } from './maintenance.ts';

for (const name of ['a', 'Home and garden', '#1', '\u{1F331}'.repeat(100), '\u00e9'.repeat(100)]) {
  test(`a category may be called ${JSON.stringify(name).slice(0, 20)}`, () => {
    assert.equal(categoryNameFault(name), undefined);
  });
}

for (const name of [
  '',
  ' ',
  ' a',
  'a ',
  '\u00a0',
  'a\nb',
  'a\u2028b',
  'a\u2029b',
  'a\u0000',
  '\u001b[2J',
  '\ud800',
]) {
  test(`a category may not be called ${JSON.stringify(name)}`, () => {
    assert.equal(
      categoryNameFault(name),
      `NAME must be one line of text without white space around it or control characters, received ${JSON.stringify(name)}`,
    );
  });
}

test('a name of 101 characters is too long, counted in code points', () => {
  assert.equal(
    categoryNameFault('\u{1F331}'.repeat(101)),
    'NAME must have at most 100 characters, received 101',
  );
});
