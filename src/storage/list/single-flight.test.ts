import assert from 'node:assert/strict';
import { test } from 'node:test';
import { singleFlight } from './single-flight.ts';

/** A task whose runs end by hand, in order. */
function byHand() {
  const runs: PromiseWithResolvers<number>[] = [];
  const run = singleFlight(() => {
    const one = Promise.withResolvers<number>();
    runs.push(one);
    return one.promise;
  });
  return { runs, run };
}

/** Lets everything that is ready to run do so. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a caller while nothing runs gets a run at once', async () => {
  const { runs, run } = byHand();
  const first = run();
  assert.equal(runs.length, 1);
  runs[0]?.resolve(1);
  assert.equal(await first, 1);
});

test('all callers during a run share the one that begins after it', async () => {
  const { runs, run } = byHand();
  const first = run();
  const others = [run(), run(), run()];
  await settled();
  assert.equal(runs.length, 1);
  runs[0]?.resolve(1);
  assert.equal(await first, 1);
  await settled();
  assert.equal(runs.length, 2);
  runs[1]?.resolve(2);
  assert.deepEqual(await Promise.all(others), [2, 2, 2]);
});

test('callers during the next run share the one after it: no result is older than its call', async () => {
  const { runs, run } = byHand();
  const early = [run(), run()];
  runs[0]?.resolve(1);
  await settled();
  const late = [run(), run()];
  runs[1]?.resolve(2);
  await settled();
  runs[2]?.resolve(3);
  assert.deepEqual(await Promise.all([...early, ...late]), [1, 2, 3, 3]);
  assert.equal(runs.length, 3);
});

test('two runs never overlap, whoever calls between them', async () => {
  const { runs, run } = byHand();
  const first = run();
  const second = run();
  const third = first.then(() => run());
  runs[0]?.resolve(1);
  await settled();
  assert.equal(runs.length, 2);
  runs[1]?.resolve(2);
  await settled();
  runs[2]?.resolve(3);
  assert.equal(await second, 2);
  assert.ok([2, 3].includes(await third));
});

test('a run that fails fails those who wait for the next, and nobody later', async () => {
  const { runs, run } = byHand();
  const waiting = [run(), run()];
  runs[0]?.reject(new Error('first'));
  for (const each of waiting) await assert.rejects(each, /first/);
  await settled();
  assert.equal(runs.length, 1);
  const later = run();
  runs[1]?.resolve(2);
  assert.equal(await later, 2);
});
