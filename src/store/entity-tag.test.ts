import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admitsWrite, entityTag, parseEntityTags } from './entity-tag.ts';

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

test('both preconditions must admit the write', () => {
  assert.equal(admitsWrite({ ifMatch: ['"a"'], ifNoneMatch: ['"b"'] }, '"a"'), true);
  assert.equal(admitsWrite({ ifMatch: ['"a"'], ifNoneMatch: ['"a"'] }, '"a"'), false);
  assert.equal(admitsWrite({}, '"a"'), true);
});

test('a star in If-Match admits any tag, and If-None-Match compares weakly', () => {
  assert.equal(admitsWrite({ ifMatch: '*' }, '"a"'), true);
  assert.equal(admitsWrite({ ifNoneMatch: ['"b"', 'W/"a"'] }, '"a"'), false);
});

test('a tag is the same for the same bytes and another for others', () => {
  assert.equal(entityTag('{"id":1}'), entityTag(Buffer.from('{"id":1}')));
  assert.notEqual(entityTag('{"id":1}'), entityTag('{"id":2}'));
  assert.match(entityTag(''), /^"[0-9a-f]{32}"$/);
});
