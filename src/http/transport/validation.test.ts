import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTarget } from './validation.ts';

const read: readonly (readonly [string, string])[] = [
  ['/todos/%2B5', '/todos/+5'],
  ['/todos?x=%FF', '/todos'],
  ['/todos%2F5', '/todos%2F5'],
  ['/todos/%205', '/todos/%205'],
  ['/todos/%C3%A9', '/todos/%C3%A9'],
];

for (const [target, path] of read) {
  test(`${target} is the path ${path} [R1]`, () => {
    assert.deepEqual(readTarget(target, 'GET'), { path });
  });
}

for (const [target, path, authority] of [
  ['http://example.org/todos', '/todos', 'example.org'],
  ['HTTPS://example.org:8443/todos/%35?q', '/todos/5', 'example.org:8443'],
  ['http://example.org', '/', 'example.org'],
  ['http://example.org?q', '/', 'example.org'],
] as const) {
  test(`the absolute target ${target} is routed by its path [R1]`, () => {
    assert.deepEqual(readTarget(target, 'GET'), { path, authority });
  });
}

test('the asterisk is a target of OPTIONS alone', () => {
  assert.deepEqual(readTarget('*', 'OPTIONS'), { path: '*' });
  assert.ok('status' in readTarget('*', 'GET'));
});

const refused: readonly string[] = [
  '',
  'todos',
  '?x',
  'example.org:80',
  'ftp://example.org/todos',
  'http:///todos',
  '/todos#5',
  '/todos\\5',
  '/tod os',
  '/todös',
];

for (const target of refused) {
  test(`the target ${JSON.stringify(target)} is refused [Order 1]`, () => {
    assert.ok('status' in readTarget(target, 'GET'));
  });
}
