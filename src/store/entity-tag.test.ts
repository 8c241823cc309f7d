import assert from 'node:assert/strict';
import { test } from 'node:test';
import { admitsWrite, entityTag, matchesWeakly, parseEntityTags } from './entity-tag.ts';

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

test('If-Match compares strongly: a weak tag never matches', () => {
  assert.equal(admitsWrite({ ifMatch: ['"b"', '"a"'] }, '"a"'), true);
  assert.equal(admitsWrite({ ifMatch: ['"b"'] }, '"a"'), false);
  assert.equal(admitsWrite({ ifMatch: ['W/"a"'] }, '"a"'), false);
  assert.equal(admitsWrite({ ifMatch: '*' }, '"a"'), true);
});

test('If-None-Match compares weakly, and a match refuses the write', () => {
  assert.equal(admitsWrite({ ifNoneMatch: ['"b"'] }, '"a"'), true);
  assert.equal(admitsWrite({ ifNoneMatch: ['"b"', 'W/"a"'] }, '"a"'), false);
  assert.equal(admitsWrite({ ifNoneMatch: ['"a"'] }, '"a"'), false);
  assert.equal(admitsWrite({ ifNoneMatch: '*' }, '"a"'), false);
});

test('both preconditions must admit the write', () => {
  assert.equal(admitsWrite({ ifMatch: ['"a"'], ifNoneMatch: ['"b"'] }, '"a"'), true);
  assert.equal(admitsWrite({ ifMatch: ['"a"'], ifNoneMatch: ['"a"'] }, '"a"'), false);
  assert.equal(admitsWrite({}, '"a"'), true);
});

test('a read matches a tag whatever its weakness, and the star', () => {
  assert.equal(matchesWeakly(['W/"a"'], '"a"'), true);
  assert.equal(matchesWeakly(['"a"'], '"a"'), true);
  assert.equal(matchesWeakly(['"b"'], '"a"'), false);
  assert.equal(matchesWeakly('*', '"a"'), true);
});

test('a tag is the same for the same bytes and another for others', () => {
  assert.equal(entityTag('{"id":1}'), entityTag(Buffer.from('{"id":1}')));
  assert.notEqual(entityTag('{"id":1}'), entityTag('{"id":2}'));
  assert.match(entityTag(''), /^"[0-9a-f]{32}"$/);
});
