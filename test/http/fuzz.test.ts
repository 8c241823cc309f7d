import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cases } from '../support/cases.ts';
import { fuzz } from './fuzz.ts';
import { fuzzTime } from './fuzz-time.ts';

for (const [profile, statuses] of [
  ['shared-list', [200, 201, 204, 400, 401, 403, 404, 405, 412, 413, 415, 422]],
  ['error-demo', [200, 404, 405, 409, 413, 500]],
] as const) {
  test(`generated requests to the ${profile}: every answer is as its document says, and leaks nothing`, async () => {
    const counts = await fuzz({ profile, runs: cases(600, 3_000), seed: 20261121 });
    for (const status of statuses) assert.ok(counts.has(status), `no ${status} among the answers`);
  });
}

test('no generated repetition in a header, a target or a body costs more than 50 ms of the processor', {
  skip: process.platform === 'linux' ? false : 'needs the processor time of a thread that Linux counts',
}, async () => {
  assert.ok((await fuzzTime({ runs: cases(150, 1_000), seed: 20261121 })).length > 0);
});
