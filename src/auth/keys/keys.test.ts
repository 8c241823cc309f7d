import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEvent } from '../../events.ts';
import { NotUsable } from '../../lib/errors.ts';
import type { Algorithm } from './algorithms.ts';
import {
  candidateKeys,
  currentKeys,
  describeSkipped,
  fixedKeys,
  inOrder,
  type KeySet,
  readKeySet,
  sameKeys,
} from './keys.ts';
import type { VerificationKey } from './verification-key.ts';

/** A key that is known by its id, for choosing alone. */
function key(id: string, keyId: string | undefined, ...algorithms: Algorithm[]): VerificationKey {
  return { id, keyId, algorithms: new Map(algorithms.map((name) => [name, () => false])) };
}

const SET: KeySet = [
  key('1', 'a', 'RS256', 'PS256'),
  key('2', 'a', 'ES256'),
  key('3', 'b', 'ES256'),
  key('4', undefined, 'ES256'),
  key('5', undefined, 'EdDSA'),
];

/** Contract A7: algorithm and `kid` of a token, the keys that are tried in their order. */
const CHOICES: readonly (readonly [Algorithm, string | undefined, string])[] = [
  ['RS256', 'a', '1'],
  ['ES256', 'a', '24'],
  ['ES256', 'b', '34'],
  ['RS256', 'b', ''],
  ['ES256', 'c', '4'],
  ['EdDSA', 'c', '5'],
  ['RS256', 'c', ''],
  ['ES256', undefined, '234'],
  ['PS256', undefined, '1'],
  ['HS256', undefined, ''],
];

for (const [algorithm, keyId, ids] of CHOICES) {
  test(`a token with ${algorithm} and ${keyId === undefined ? 'no kid' : `kid ${keyId}`} is tried with keys [${ids}]`, () => {
    assert.equal(
      candidateKeys(SET, algorithm, keyId)
        .map(({ id }) => id)
        .join(''),
      ids,
    );
  });
}

test('at most five keys are tried', () => {
  const many = Array.from({ length: 9 }, (_, at) => key(String(at), undefined, 'ES256'));
  assert.equal(candidateKeys(many, 'ES256', undefined).length, 5);
  assert.equal(candidateKeys(many, 'ES256', 'a').length, 5);
});

test('sets are the same in any order, and not with one key more, less or other', () => {
  const [a, b, c] = [key('a', undefined), key('b', undefined), key('c', undefined)];
  assert.ok(sameKeys(inOrder([a, b]), inOrder([b, a, b])));
  for (const other of [[a], [a, c], [a, b, c], []]) assert.ok(!sameKeys(inOrder([a, b]), inOrder(other)));
});

for (const document of [
  null,
  7,
  'keys',
  [],
  {},
  { keys: {} },
  { keys: 'x' },
  { keys: [] },
  { keys: [null, 7] },
]) {
  test(`${JSON.stringify(document)} is no usable key set`, () => {
    assert.match(readKeySet(document).fault ?? '', /^it must /);
  });
}

test('a set has fifty keys at most', () => {
  const unfit = (many: number) => ({ keys: Array.from({ length: many }, () => ({ kty: 'oct' })) });
  const eight = Array(8).fill('a key without "kid": it is a symmetric key').join('; ');
  assert.equal(
    readKeySet(unfit(50)).fault,
    `it must have a key that verifies signatures: ${eight}; and 42 more`,
  );
  assert.equal(readKeySet(unfit(50)).skipped.length, 50);
  const fault = 'it must have at most 50 keys, received 51';
  assert.deepEqual(readKeySet(unfit(51)), { keys: [], skipped: [], fault });
  const forEncryption = Array.from({ length: 9 }, () => ({ kty: 'RSA', use: 'enc' }));
  const set = (many: number) => readKeySet({ keys: [...forEncryption, ...unfit(many).keys] });
  assert.equal(set(50).skipped.length, 59);
  assert.equal(set(51).fault, 'it must have at most 50 keys, received 51 beside 9 for encryption');
});

test('keys that stay the same are there at once, and asking again changes nothing', async () => {
  await using keys = fixedKeys(SET, 'five keys');
  await keys.refresh();
  assert.equal(keys.current(), SET);
  assert.equal(keys.retryAfter(), 1);
  assert.equal(keys.describe(), 'five keys');
});

/** The keys of a source, and what is logged of them: each event, its level where that is not its own, its message. */
function followed() {
  const log: unknown[] = [];
  const logEvent: LogEvent = ({ event }, { level, message } = {}) => void log.push([event, level, message]);
  return { log, ...currentKeys('the issuer', logEvent) };
}

test('the reasons of an outage and its end are told, further failures to who debugs', () => {
  const { log, update, current } = followed();
  const [silent, refusing] = [new NotUsable('it does not answer'), new NotUsable('it answered 403')];
  const good = { keys: SET, skipped: [] };
  for (const outcome of [silent, silent, refusing, good, silent, good])
    assert.equal(update(outcome), outcome === good);
  assert.equal(current(), SET);
  assert.deepEqual(log, [
    ['keys-unavailable', undefined, 'no keys from the issuer, no token can be verified'],
    ['keys-unavailable', 'debug', undefined],
    ['keys-unavailable', undefined, 'no keys from the issuer, no token can be verified'],
    ['keys-available', undefined, undefined],
    ['keys-loaded', 'debug', undefined],
    ['keys-unavailable', undefined, 'no keys from the issuer, known keys stay in force'],
    ['keys-available', undefined, undefined],
  ]);
});

test('attempts are counted by what they brought, and the last failure is known until one brings keys', () => {
  const { update, figures } = followed();
  const seen = () => [{ ...figures().attempts }, figures().lastFailure];
  assert.deepEqual(seen(), [{ read: 0, unusable: 0, failed: 0 }, undefined]);
  update(new NotUsable('it does not answer'));
  assert.deepEqual(seen(), [{ read: 0, unusable: 0, failed: 1 }, 'it does not answer']);
  update({ keys: [], skipped: [], fault: 'it has no key' });
  assert.deepEqual(seen(), [{ read: 0, unusable: 1, failed: 1 }, 'it has no key']);
  update({ keys: SET, skipped: [] });
  assert.deepEqual(seen(), [{ read: 1, unusable: 1, failed: 1 }, undefined]);
});

test('a set that has changed is told with the kids of eight keys, each of 100 characters at most', () => {
  const told: unknown[] = [];
  const { update } = currentKeys('the issuer', (event) => void told.push(event));
  update({ keys: SET, skipped: [] });
  const many = Array.from({ length: 9 }, (_, at) => key(String(at), at === 0 ? undefined : 'k'.repeat(101)));
  update({ keys: many, skipped: [] });
  const kids = [null, ...Array(7).fill('k'.repeat(100))];
  assert.deepEqual(told, [
    { event: 'keys-loaded', source: 'the issuer', kids: ['a', 'a', 'b', null, null], keys: 5 },
    { event: 'keys-loaded', source: 'the issuer', kids, keys: 9 },
  ]);
});

test('a key that is skipped is told when it first appears, unless it is for another use', () => {
  const { log, update } = followed();
  const weak = { keyId: 'a', kind: 'unfit', reason: 'it is too short' } as const;
  const other = { keyId: 'b', kind: 'other-use', reason: 'it is for encryption' } as const;
  for (const skipped of [[weak, other], [weak], [], [weak]]) update({ keys: SET, skipped });
  const line = ['key-skipped', undefined, 'key skipped: the key "a": it is too short'];
  assert.deepEqual(log, [line, ['keys-loaded', 'debug', undefined], line]);
});

test('a skipped key without a kid is said to have none, and those of another use come last', () => {
  const skipped = [
    { keyId: 'e', kind: 'other-use', reason: 'it is for encryption' },
    { keyId: undefined, kind: 'unfit', reason: 'it is too short' },
    { keyId: '\u001b[0m', kind: 'secret', reason: 'it is a private key' },
  ] as const;
  assert.equal(
    describeSkipped(skipped),
    'a key without "kid": it is too short; the key "\\u001b[0m": it is a private key; the key "e": it is for encryption',
  );
});
