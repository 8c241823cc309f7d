import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { CreateOutcome, Once } from '../store/store.ts';
import { type NewTodo, represent, type TodoRepresentation } from '../store/todo.ts';
import { createOnce, parseIdempotencyKey } from './create-once.ts';

const MILK = { title: 'milk', categoryId: 2 } as NewTodo;
const A = { key: 'a', body: 'milk' };

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
  return represent({ id, done: false, ...MILK });
}

/** Lets whoever waits for something that has happened go on. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test('I3 · repeats wait for the first and get what it made; one is handed on', async () => {
  const { asked, create } = creates();
  const outcomes = [create(A), create(A), create(A)];
  await settle();
  assert.equal(asked.length, 1);
  asked[0]?.resolve(made(7));
  assert.deepEqual(await Promise.all(outcomes), [made(7), { repeated: made(7) }, { repeated: made(7) }]);
});

test('I3 · when the first is refused or fails, the next is handed on', async () => {
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

test('I3 · a repeat waits for a second, and is then told that the first is under way still', async () => {
  const { asked, create } = creates();
  const first = create(A);
  assert.equal(await create(A), 'in-progress');
  assert.equal(asked.length, 1);
  asked[0]?.resolve(made(7));
  assert.deepEqual(await first, made(7));
});

test('I3 · who has waited here waits so much less in the database', async () => {
  const { asked, create } = creates();
  const outcomes = [create(A), create(A)];
  await new Promise((resolve) => setTimeout(resolve, 20));
  asked[0]?.resolve('category-missing');
  await settle();
  const [first = 0, second = 0] = asked.map(({ once }) => once.patienceMs);
  assert.ok(0 < second && second < first && first <= 1_000, `${second} after ${first}`);
  asked[1]?.resolve(made(7));
  assert.deepEqual(await Promise.all(outcomes), ['category-missing', made(7)]);
});

test('I4 · another body waits for the first, and is refused when that was made', async () => {
  const { asked, create } = creates();
  const outcomes = [create(A), create({ key: 'a', body: 'bread' })];
  asked[0]?.resolve(made(7));
  assert.deepEqual(await Promise.all(outcomes), [made(7), 'key-reused']);
  assert.equal(asked.length, 1);
});

test('I6 · another body is handed on when the first was refused', async () => {
  const { asked, create } = creates();
  const outcomes = [create(A), create({ key: 'a', body: 'bread' })];
  asked[0]?.resolve('category-missing');
  await settle();
  assert.equal(asked[1]?.once?.body, 'bread');
  asked[1]?.resolve(made(7));
  assert.deepEqual(await Promise.all(outcomes), ['category-missing', made(7)]);
});

test('I1 · creates with other keys do not wait for each other', async () => {
  const { asked, create } = creates();
  const outcomes = [create(A), create({ key: 'b', body: 'milk' })];
  assert.equal(asked.length, 2);
  asked[1]?.resolve(made(8));
  assert.deepEqual(await outcomes[1], made(8));
  asked[0]?.resolve(made(7));
  assert.deepEqual(await outcomes[0], made(7));
});

test('I2 · a create that is over is forgotten: the database knows it', async () => {
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

const ALLOWED = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCharCode(0x21 + index)).filter(
  (character) => !['"', '\\', ','].includes(character),
);

const keys = fc.string({ unit: fc.constantFrom(...ALLOWED), minLength: 1, maxLength: 128 });

test('I5 · every allowed character may stand in a key', () => {
  for (const character of ALLOWED) assert.equal(parseIdempotencyKey(character), character);
  assert.equal(ALLOWED.length, 91);
});

test('I5 · a key is the same bare and in double quotes', () => {
  fc.assert(
    fc.property(keys, (key) => {
      assert.equal(parseIdempotencyKey(key), key);
      assert.equal(parseIdempotencyKey(`"${key}"`), key);
    }),
  );
});

test('I5 · a key with one character that is not allowed is malformed, wherever it stands', () => {
  const others = fc
    .integer({ min: 0, max: 0xff })
    .map((code) => String.fromCharCode(code))
    .filter((character) => !ALLOWED.includes(character));
  fc.assert(
    fc.property(keys, others, keys, (before, other, behind) => {
      assert.equal(parseIdempotencyKey(before + other + behind), undefined);
      assert.equal(parseIdempotencyKey(`"${before}${other}${behind}"`), undefined);
    }),
  );
});

test('I5 · two values that Node.js has joined are malformed', () => {
  const spelled = keys.chain((key) => fc.constantFrom(key, `"${key}"`));
  fc.assert(
    fc.property(spelled, spelled, (one, other) => {
      assert.equal(parseIdempotencyKey(`${one}, ${other}`), undefined);
    }),
  );
});

const MALFORMED = [
  '',
  ' ',
  '""',
  '"',
  '"abc',
  'abc"',
  '"abc";a=1',
  '"abc"; a=1',
  '"abc" ',
  ' abc',
  'a b',
  'a,b',
  '"a\\"b"',
  'W/"abc"',
];

for (const value of [...MALFORMED, 'a'.repeat(129), `"${'a'.repeat(129)}"`]) {
  test(`I5 · ${JSON.stringify(value.slice(0, 20))} of ${value.length} characters is malformed`, () => {
    assert.equal(parseIdempotencyKey(value), undefined);
  });
}

test('I5 · a key may have 128 characters', () => {
  assert.equal(parseIdempotencyKey('a'.repeat(128))?.length, 128);
  assert.equal(parseIdempotencyKey(`"${'a'.repeat(128)}"`)?.length, 128);
});
