import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { signer } from '../../packages/conformance/src/sign.ts';
import { authenticateWith, canWriteTodos } from './admit.ts';
import { fixedKeys, type KeySet } from './keys/keys.ts';

const issuer = 'https://issuer.test';
const audience = 'todos';
const bearer = `Bearer ${signer({ issuer, audience, secret: randomBytes(32) })()}`;

/** A set of one key; `verify` says whether it made a signature. */
const setOf = (id: string, verify: () => boolean | Promise<boolean>): KeySet => [
  { id, keyId: undefined, algorithms: new Map([['HS256', verify]]) },
];

/** Authenticates with the keys in force, which `change` replaces. */
function begin(first: KeySet) {
  let keys = first;
  return {
    change: (next: KeySet) => {
      keys = next;
    },
    authenticate: authenticateWith({
      issuer,
      audiences: [audience],
      claims: {},
      clockToleranceSeconds: 0,
      now: Date.now,
      keys: { ...fixedKeys(first, 'of the test'), current: () => keys },
    }),
  };
}

test('the role that may write is "editor", letter by letter [A10]', () => {
  const may = (...roles: string[]) => canWriteTodos({ name: null, caller: null, roles });
  assert.equal(may('editor'), true);
  assert.equal(may('reader', 'editor'), true);
  for (const role of [
    'Editor',
    'EDITOR',
    'editor ',
    ' editor',
    'editors',
    'edito',
    'reader,editor',
    'ed\u0456tor',
    '',
  ]) {
    assert.equal(may(role), false, role);
  }
  assert.equal(may(), false);
});

test('a token whose keys change at any moment of its verification is not remembered', async () => {
  for (let turns = 0; turns < 30; turns += 1) {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { authenticate, change } = begin(setOf('old', () => promise));
    const verdict = authenticate(bearer);
    resolve(true);
    for (let turn = 0; turn < turns; turn += 1) await undefined;
    change(setOf('new', () => false));
    // Another caller's request, by which the new set is the one that tokens are remembered for.
    await authenticate('Bearer another');
    await verdict;
    const { code } = await authenticate(bearer);
    assert.equal(code, 'signature', `changed after ${turns} turns`);
  }
});

test('a token is verified once, and again when the keys have changed', async () => {
  let verified = 0;
  const count = () => {
    verified += 1;
    return true;
  };
  const { authenticate, change } = begin(setOf('old', count));
  for (let times = 0; times < 3; times += 1) assert.equal((await authenticate(bearer)).code, 'accepted');
  assert.equal(verified, 1);
  change(setOf('new', count));
  for (let times = 0; times < 3; times += 1) assert.equal((await authenticate(bearer)).code, 'accepted');
  assert.equal(verified, 2);
});
