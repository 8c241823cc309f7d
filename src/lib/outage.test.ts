import assert from 'node:assert/strict';
import { test } from 'node:test';
import { followOutage } from './outage.ts';

test('an outage is told where it begins, for each other reason once, and where it ends', () => {
  const isTold = followOutage();
  const looks = [undefined, 'refused', 'refused', 'password', 'refused', undefined, undefined, 'refused'];
  assert.deepEqual(looks.map(isTold), [false, true, false, true, false, true, false, true]);
});

test('of an outage ten reasons are told, and its end', () => {
  const isTold = followOutage();
  const told = Array.from({ length: 12 }, (_, port) => isTold(`port ${port}`));
  assert.deepEqual(told, [...Array(10).fill(true), false, false]);
  assert.ok(isTold(undefined));
});
