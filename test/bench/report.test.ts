import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Measurement } from '../../bench/measure.ts';
import { tables } from '../../bench/report.ts';

function measured(scenario: string, server: string, cpu: readonly number[]): readonly Measurement[] {
  const others = { requestsPerSecond: 1, failed: 0, p50: 1, p99: 1, memory: 1, start: 1 };
  return cpu.map((each) => ({ scenario, server, cpu: each, ...others }));
}

test('a ratio is the median over those of each round, whose figures were measured one after the other', () => {
  const found = tables([
    ...measured('one', 'service', [10, 20, 40]),
    ...measured('one', 'fastify', [30, 100, 40]),
    ...measured('one', 'constant', [5, 8, 20]),
  ]);
  assert.ok(found.includes('| One todo by id | 20.0 | 0.50 × | – | 3.00 × | – | – | ± 67 % |'), found);
});

test('a scenario in which the service was not measured, or has no such figure, has no row', () => {
  const found = tables([
    ...measured('create', 'fastify', [30]),
    ...measured('busy-list', 'service', [Number.NaN]),
    ...measured('busy-list', 'fastify', [Number.NaN]),
  ]);
  const headings = [...found.matchAll(/^### (\w+)/gm)].map(([, word]) => word);
  assert.deepEqual(headings, ['Requests', 'p99', 'One']);
  assert.doesNotMatch(found, /Create/);
});
