import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJsonObject } from './body.ts';

function faultOf(text: string) {
  const read = readJsonObject(text);
  return 'fault' in read ? read.fault : undefined;
}

test('B5 · 64 levels of nesting are JSON, one more is not', () => {
  assert.equal(faultOf(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`), undefined);
  assert.deepEqual(faultOf(`{"a":${'['.repeat(64)}`), {
    problem: 'Arrays and objects may nest 64 levels deep.',
    line: 1,
    column: 69,
  });
});

test('B5 · brackets in a string nest nothing', () => {
  const body = { a: '['.repeat(65) };
  assert.deepEqual(readJsonObject(JSON.stringify(body)), { object: body });
});

for (const text of ['null', '[]', '"{}"', '1']) {
  test(`B4 · ${text} is JSON but not an object`, () => {
    assert.deepEqual(faultOf(`\n  ${text}`), { problem: 'An object is expected.', line: 2, column: 3 });
  });
}

test('B4 · an object is an object', () => assert.deepEqual(readJsonObject(' {} '), { object: {} }));

test('B4 · a text that is not JSON at all says so first', () => {
  assert.equal(faultOf('[1')?.problem, 'The text ends too early.');
  assert.equal(faultOf(' ')?.problem, 'The body is empty.');
});
