import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overBudget } from './attack/attack.ts';
import { SCENARIOS } from './attack/scenarios.ts';
import { slopePerHour } from './slope.ts';

const [scenario] = SCENARIOS;
assert.ok(scenario);
const { megabytes, processorSeconds } = scenario;
const waits = { longestWaitMs: 60_000, failed: 100, answers: {}, open: 0 };
const within = { before: 140, peak: 140, processorSeconds: 0, ...waits };

test('three times a budget is within three times the budget, whatever others waited', () => {
  const all = { ...within, peak: 140 + 3 * megabytes, processorSeconds: 3 * processorSeconds };
  assert.deepEqual(overBudget(scenario, all, 3), []);
  assert.equal(overBudget(scenario, all, 1).length, 2);
});

test('memory and processor time are looked at each for itself', () => {
  const memory = overBudget(scenario, { ...within, peak: 141 + megabytes }, 1);
  assert.deepEqual(memory, [`${megabytes + 1} MB of memory`]);
  const processor = overBudget(scenario, { ...within, processorSeconds: processorSeconds + 0.1 }, 1);
  assert.deepEqual(processor, [`${processorSeconds + 0.1} s of the processor`]);
});

const minutes = Array.from({ length: 120 }, (_, minute) => minute);

test('a level that rises by a tenth a minute rises by six an hour', () => {
  assert.equal(Math.round(slopePerHour(minutes.map((minute) => [minute, 100 + minute / 10]))), 6);
});

test('a saw whose lows stay where they are does not rise', () => {
  assert.equal(Math.round(slopePerHour(minutes.map((minute) => [minute, 100 + (minute % 12)]))), 0);
});
