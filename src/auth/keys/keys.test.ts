import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Algorithm } from './algorithms.ts';
import { candidateKeys, fixedKeys, inOrder, type KeySet, readKeySet, sameKeys } from './keys.ts';
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
  assert.equal(readKeySet(unfit(50)).fault, 'it must have a key that verifies signatures');
  assert.equal(readKeySet(unfit(50)).skipped.length, 50);
  assert.equal(readKeySet(unfit(51)).fault, 'it must have at most 50 keys, received 51');
});

test('keys that stay the same are there at once, and asking again changes nothing', async () => {
  await using keys = fixedKeys(SET, 'five keys');
  await keys.refresh();
  assert.equal(keys.current(), SET);
  assert.equal(keys.retryAfter(), 1);
  assert.equal(keys.describe(), 'five keys');
});
