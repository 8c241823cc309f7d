import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Authentication } from '../../src/auth/authenticate.ts';
import { authenticateWith } from '../../src/auth/authenticate.ts';
import { fixedKeys, type Keys } from '../../src/auth/keys/keys.ts';
import { type Draft, draft, forge, type KeyName } from './forge.ts';
import { issuerKeys, TRUST } from './trust.ts';

/** Seconds since 1970; the clock of the test moves around it. */
const NOW = Math.floor(Date.now() / 1000);

const KEYS: readonly KeyName[] = ['p256', 'ed', 'rsa'];

/** Tokens whose times lie near the clock, by several keys, some of them for others. */
const token = fc
  .record({
    key: fc.constantFrom(...KEYS),
    exp: fc.integer({ min: -60, max: 300 }),
    nbf: fc.option(fc.integer({ min: -200, max: 60 }), { nil: undefined }),
    iat: fc.option(fc.integer({ min: -200, max: 60 }), { nil: undefined }),
    aud: fc.constantFrom('todo-service', ['other', 'todo-service'], 'other'),
    role: fc.constantFrom('editor', 'reader', ['editor', 'reader']),
  })
  .map(({ key, exp, nbf, iat, ...claims }) => {
    const made: Draft = draft(key);
    const at = (offset: number | undefined) => (offset === undefined ? undefined : NOW + offset);
    return forge(made, { claims: { ...made.claims, ...claims, exp: NOW + exp, nbf: at(nbf), iat: at(iat) } });
  });

/** What happens to a token on its way: mostly nothing. */
const mutation = fc.oneof(
  { weight: 6, arbitrary: fc.constant((text: string) => `Bearer ${text}`) },
  fc.constantFrom(
    (text: string) => `bearer ${text}`,
    (text: string) => `Bearer  ${text}`,
    (text: string) => `Bearer ${text}=`,
    (text: string) => `Bearer ${text.slice(0, -1)}`,
    (text: string) => `Bearer ${text}A`,
    (text: string) => `Basic ${text}`,
  ),
  fc.tuple(fc.nat(), fc.constantFrom(...'AQgw01-_.=')).map(([at, letter]) => (text: string) => {
    const place = at % text.length;
    return `Bearer ${text.slice(0, place)}${letter}${text.slice(place + 1)}`;
  }),
);

/** One step: the clock moves, the keys change, and somebody calls. */
const step = fc.record({
  which: fc.nat(),
  mutate: mutation,
  seconds: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.integer({ min: -45, max: 45 })),
  /** Mostly, the keys stay what they are. */
  missing: fc.oneof(
    { weight: 12, arbitrary: fc.constant('as before' as const) },
    fc.constantFrom('none' as const, ...KEYS),
  ),
});

test('with and without memory, every verdict on every token is the same under a moving clock', async () => {
  const all = issuerKeys().current() ?? [];
  const sets = new Map(
    (['none', ...KEYS] as const).map((missing) => [missing, all.filter(({ keyId }) => keyId !== missing)]),
  );
  let remembered = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(token, { minLength: 1, maxLength: 3 }),
      fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
      async (tokens, steps) => {
        let now = NOW;
        let set = sets.get('none');
        const keys: Keys = { ...fixedKeys([], 'changing keys'), current: () => set };
        const trust = { ...TRUST, keys, now: () => now * 1000 };
        const answers = new Set<Authentication>();
        const withMemory = authenticateWith(trust);
        for (const { which, mutate, seconds, missing } of steps) {
          now += seconds;
          if (missing !== 'as before') set = sets.get(missing);
          const authorization = mutate(tokens[which % tokens.length] ?? '');
          const verdict = withMemory(authorization);
          const answer = await verdict;
          if (answers.has(answer)) remembered += 1;
          if (answer.code === 'accepted') answers.add(answer);
          assert.deepEqual(answer, await authenticateWith(trust)(authorization));
        }
      },
    ),
    { numRuns: 200 },
  );
  assert.ok(remembered > 300, `the memory was asked ${remembered} times`);
});
