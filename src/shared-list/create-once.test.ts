import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createOnce } from './create-once.ts';
import { represent, type TodoMembers, type TodoRepresentation } from './members.ts';
import type { CreateOutcome, Once } from './store.ts';

const MILK = { title: 'milk', done: false, categoryId: 2 } as TodoMembers;
const A = { key: 'a', body: 'milk' };

let now = 0;
mock.method(performance, 'now', () => now);
mock.timers.enable({ apis: ['setTimeout'] });

/** Lets so many milliseconds pass, on the only clock of these tests. */
function pass(milliseconds: number): void {
  now += milliseconds;
  mock.timers.tick(milliseconds);
}

/** Creates that end when a test says so, in the order in which they were handed on. */
function creates() {
  const asked: (PromiseWithResolvers<CreateOutcome> & { readonly once: Once })[] = [];
  const createWith = createOnce();
  const add = (once: Once) => {
    const waiting = { ...Promise.withResolvers<CreateOutcome>(), once };
    asked.push(waiting);
    return waiting.promise;
  };
  return { asked, create: (key: { key: string; body: string }) => createWith(key, add) };
}

function made(id: number): TodoRepresentation {
  return represent({ id, ...MILK });
}

/** Lets every caller go on that waits for an event that has happened. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('repeats wait for the first and get what it made; one is handed on [I3]', async () => {
  const { asked, create } = creates();
  const outcomes = [create(A), create(A), create(A)];
  await settle();
  assert.equal(asked.length, 1);
  asked[0]?.resolve(made(7));
  assert.deepEqual(await Promise.all(outcomes), [made(7), { repeated: made(7) }, { repeated: made(7) }]);
});

test('when the first is refused or fails, the next is handed on [I3]', async () => {
  const { asked, create } = creates();
  const outcomes = Promise.allSettled([create(A), create(A), create(A)]);
  asked[0]?.resolve('category-missing');
  await settle();
  assert.equal(asked.length, 2);
  asked[1]?.reject(new Error('lost'));
  await settle();
  assert.equal(asked.length, 3);
  asked[2]?.resolve(made(7));
  const [first, second, third] = await outcomes;
  assert.deepEqual(first, { status: 'fulfilled', value: 'category-missing' });
  assert.equal(second?.status, 'rejected');
  assert.deepEqual(third, { status: 'fulfilled', value: made(7) });
});

test('a repeat waits for a second, and is then told that the first is under way still [I3]', async () => {
  const { asked, create } = creates();
  const [first, second] = [create(A), create(A)];
  pass(999);
  assert.equal(await Promise.race([second, settle()]), undefined);
  pass(1);
  assert.equal(await second, 'in-progress');
  assert.equal(asked.length, 1);
  asked[0]?.resolve(made(7));
  assert.deepEqual(await first, made(7));
});

test('who has waited here waits so much less in the database [I3]', async () => {
  const { asked, create } = creates();
  const outcomes = [create(A), create(A)];
  pass(20);
  asked[0]?.resolve('category-missing');
  await settle();
  const patience = asked.map(({ once }) => once.patienceMs);
  assert.deepEqual(patience, [1_000, 980]);
  asked[1]?.resolve(made(7));
  assert.deepEqual(await Promise.all(outcomes), ['category-missing', made(7)]);
});

test('another body waits for the first, and is refused when that was made [I4]', async () => {
  const { asked, create } = creates();
  const outcomes = [create(A), create({ key: 'a', body: 'bread' })];
  asked[0]?.resolve(made(7));
  assert.deepEqual(await Promise.all(outcomes), [made(7), 'key-reused']);
  assert.equal(asked.length, 1);
});

test('another body is handed on when the first was refused [I6]', async () => {
  const { asked, create } = creates();
  const outcomes = [create(A), create({ key: 'a', body: 'bread' })];
  asked[0]?.resolve('category-missing');
  await settle();
  assert.equal(asked[1]?.once?.body, 'bread');
  asked[1]?.resolve(made(7));
  assert.deepEqual(await Promise.all(outcomes), ['category-missing', made(7)]);
});

test('creates with other keys do not wait for each other [I1]', async () => {
  const { asked, create } = creates();
  const outcomes = [create(A), create({ key: 'b', body: 'milk' })];
  assert.equal(asked.length, 2);
  asked[1]?.resolve(made(8));
  assert.deepEqual(await outcomes[1], made(8));
  asked[0]?.resolve(made(7));
  assert.deepEqual(await outcomes[0], made(7));
});

test('a create that is over is forgotten: the database knows it [I2]', async () => {
  const { asked, create } = creates();
  const first = create(A);
  asked[0]?.resolve(made(7));
  await first;
  await settle();
  const second = create(A);
  assert.equal(asked.length, 2);
  asked[1]?.resolve('key-reused');
  assert.equal(await second, 'key-reused');
});
