import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseId } from './routes.ts';

for (const [segment, id] of [
  ['5', 5],
  ['005', 5],
  ['+5', 5],
  ['-5', -5],
  ['2147483647', 2147483647],
  ['-2147483648', -2147483648],
  [`${'0'.repeat(200)}7`, 7],
] as const) {
  test(`R2 · ${segment.slice(-12)} is the id ${id}`, () => assert.equal(parseId(segment), id));
}

for (const segment of [
  '',
  'abc',
  '1.0',
  '1e2',
  '2147483648',
  '-2147483649',
  ' 5',
  '5 ',
  '5\n',
  '--5',
  '0x1',
  '1_0',
  '٣',
  '9'.repeat(400),
]) {
  test(`R2 · ${JSON.stringify(segment).slice(0, 16)} is no id`, () =>
    assert.equal(parseId(segment), undefined));
}
