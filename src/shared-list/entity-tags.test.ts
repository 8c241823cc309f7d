import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areAllChanged, entityTag, matchesChanged, matchesWeakly, preconditionsHold } from './entity-tags.ts';

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
