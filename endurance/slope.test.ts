import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slopePerHour } from './slope.ts';

const minutes = Array.from({ length: 120 }, (_, minute) => minute);

test('a level that rises by a tenth a minute rises by six an hour', () => {
  assert.equal(Math.round(slopePerHour(minutes.map((minute) => [minute, 100 + minute / 10]))), 6);
});

test('a saw whose lows stay where they are does not rise', () => {
  assert.equal(Math.round(slopePerHour(minutes.map((minute) => [minute, 100 + (minute % 12)]))), 0);
});
