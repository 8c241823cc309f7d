import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLinearizable, type Operation, type State } from './linearizable.ts';

const read = (from: number, until: number, seen: string | undefined): Operation => ({
  from,
  until,
  apply: (state) => (state?.json === seen ? state : 'impossible'),
});

const write = (from: number, until: number, json: string): Operation => ({
  from,
  until,
  apply: (state) => (state === undefined ? 'impossible' : { json }),
});

const remove = (from: number, until: number, removed: boolean): Operation => ({
  from,
  until,
  apply: (state) => ((state !== undefined) === removed ? undefined : 'impossible'),
});

const A: State = { json: 'a' };

test('reads during a write may see what was before and what comes after', () => {
  assert.equal(isLinearizable([write(1, 6, 'b'), read(2, 3, 'a'), read(4, 5, 'b')], A), true);
});

test('a read never sees what a finished write has replaced', () => {
  assert.equal(isLinearizable([write(1, 2, 'b'), read(3, 4, 'a')], A), false);
});

test('once one read has seen a write, no later one sees what was before', () => {
  assert.equal(isLinearizable([write(1, 8, 'b'), read(2, 3, 'b'), read(4, 5, 'a')], A), false);
});

test('of two removals at once, one removes', () => {
  assert.equal(isLinearizable([remove(1, 4, true), remove(2, 3, false)], A), true);
  assert.equal(isLinearizable([remove(1, 4, true), remove(2, 3, true)], A), false);
});

test('nothing is written to a removed todo', () => {
  assert.equal(isLinearizable([remove(1, 2, true), write(3, 4, 'b')], A), false);
});
