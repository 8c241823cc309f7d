import assert from 'node:assert/strict';
import { test } from 'node:test';
import { score } from '../../bench/goals.ts';
import type { Figures } from '../../bench/results.ts';

function measured(scenario: string, server: string, more: Partial<Figures>): Figures {
  return { scenario, server, requests: 1, failed: 0, measurements: 1, ...more };
}

function figureOf(text: string, figures: readonly Figures[]) {
  const found = score(figures).find(({ goal }) => goal.text === text);
  return found && [found.figure, found.reached];
}

test('the cost of one todo is compared with the cheapest peer of each runtime', () => {
  const figures = [
    measured('one', 'service', { cpu: 20 }),
    measured('one', 'constant', { cpu: 10 }),
    measured('one', 'express', { cpu: 80 }),
    measured('one', 'fastify-cache', { cpu: 32 }),
    measured('one', 'elysia-bun', { cpu: 25 }),
    measured('one-256', 'fastify', { cpu: 1 }),
  ];
  assert.deepEqual(figureOf('CPU by that of the constant, nothing on', figures), [2, false]);
  assert.deepEqual(figureOf('CPU by that of the best peer on Node.js', figures), [0.625, false]);
  assert.deepEqual(figureOf('CPU by that of the best peer on Bun', figures), [0.8, true]);
});

test('creating is compared with the fastest durable peer and the fastest that does not sync', () => {
  const figures = [
    measured('create', 'service', { requestsPerSecond: 300, durability: 'durable' }),
    measured('create', 'service-log', { requestsPerSecond: 900, durability: 'durable' }),
    measured('create', 'express', { requestsPerSecond: 10, durability: 'durable' }),
    measured('create', 'elysia-bun', { requestsPerSecond: 20, durability: 'durable' }),
    measured('create', 'elysia-bun', { requestsPerSecond: 200, durability: 'relaxed' }),
  ];
  assert.deepEqual(figureOf('Throughput by that of the best durable peer', figures), [15, true]);
  assert.deepEqual(figureOf('Throughput by that of the best peer that does not sync', figures), [1.5, false]);
});

test('a goal is not reached by leaving out whom it compares with', () => {
  const scores = score([measured('one', 'service', { cpu: 20 }), measured('create', 'service', {})]);
  assert.equal(scores.filter(({ reached }) => reached).length, 0);
  assert.equal(scores.filter(({ goal }) => goal.scenario === 'one').length, 7);
});

test('a soak of less than an hour reaches nothing', () => {
  const flat = { megabytes: 100, megabytesPerHour: 0.2 };
  assert.deepEqual(
    [60, 59].map((minutes) => score([], { minutes, ...flat }).map(({ reached }) => reached)),
    [
      [true, true],
      [false, false],
    ],
  );
});
