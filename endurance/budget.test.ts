import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overBudget } from './attack/budget.ts';
import { SCENARIOS } from './attack/scenarios.ts';

const figures = {
  before: 140,
  peak: 140,
  processorSeconds: 0,
  longestWaitMs: 60_000,
  failed: 100,
  answers: {},
  open: 0,
};

for (const scenario of SCENARIOS) {
  const { megabytes, processorSeconds, what } = scenario;

  test(`${what}: three times its budget is within three times its budget, whatever others waited`, () => {
    const all = { ...figures, peak: 140 + 3 * megabytes, processorSeconds: 3 * processorSeconds };
    assert.deepEqual(overBudget(scenario, all, 3), []);
    assert.equal(overBudget(scenario, all, 1).length, 2);
  });

  test(`${what}: memory and processor time are looked at each for itself`, () => {
    const memory = overBudget(scenario, { ...figures, peak: 141 + megabytes }, 1);
    assert.deepEqual(memory, [`${megabytes + 1} MB of memory`]);
    const processor = overBudget(scenario, { ...figures, processorSeconds: processorSeconds + 0.1 }, 1);
    assert.deepEqual(processor, [`${processorSeconds + 0.1} s of the processor`]);
  });
}
