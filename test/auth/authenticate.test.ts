import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Authentication } from '../../src/auth/authenticate.ts';
import { authenticateWith } from '../../src/auth/authenticate.ts';
import { fixedKeys, inOrder, type KeySet, type Keys } from '../../src/auth/keys/keys.ts';
import { draft, forge, jwkOf, publicKey, STRANGERS, signer } from './forge.ts';
import { issuerKeys, secretKeys, TRUST, usable } from './trust.ts';

const NOW = Date.now();

function identifier(keys = issuerKeys(), now = () => NOW) {
  return authenticateWith({ ...TRUST, keys, now });
}

/** Keys that the test changes. */
function changingKeys(): Keys & { set: KeySet | undefined } {
  const all = issuerKeys().current();
  return {
    ...fixedKeys([], 'changing keys'),
    set: all,
    current() {
      return this.set;
    },
  };
}

function codeOf({ code }: Authentication): string {
  return code;
}

for (const authorization of [
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'bearer',
  'Basic YTpi',
  'Bearertoken',
  'Token abc',
  'Bearer\tabc',
  'DPoP abc',
]) {
  test(`A1 · ${JSON.stringify(authorization)} brings no bearer token`, async () => {
    assert.deepEqual(await identifier()(authorization), {
      code: 'credentials-missing',
      answer: { status: 401, headers: { 'www-authenticate': 'Bearer realm="todo-service"' } },
    });
  });
}

for (const scheme of ['Bearer ', 'bearer ', 'BEARER ', 'bEaReR ', 'Bearer   ']) {
  test(`A4 · the scheme may be ${JSON.stringify(scheme)}`, async () => {
    assert.equal((await identifier()(`${scheme}${forge(draft())}`)).code, 'accepted');
  });
}

test('a token says who is calling', async () => {
  const made = draft();
  const token = forge(made, { claims: { ...made.claims, name: 'Ada', roles: ['auditor'] } });
  assert.deepEqual(await identifier()(`Bearer ${token}`), {
    code: 'accepted',
    identity: { caller: [TRUST.issuer, 'ada'], name: 'Ada', roles: ['editor', 'auditor'] },
  });
});

for (const alg of ['EdDSA', 'Ed25519']) {
  test(`A6 · a token by an Ed25519 key may name its algorithm ${alg} (RFC 8037, RFC 9864)`, async () => {
    const made = draft('ed');
    const token = forge(made, { header: { ...made.header, alg } });
    for (const keyAlg of [undefined, 'EdDSA', 'Ed25519']) {
      const jwk = { ...jwkOf({ publicKey: publicKey('ed') }, 'ed'), alg: keyAlg };
      const keys = fixedKeys([usable(JSON.parse(JSON.stringify(jwk)))], 'one key');
      assert.equal(codeOf(await identifier(keys)(`Bearer ${token}`)), 'accepted', `key's alg ${keyAlg}`);
    }
  });
}

test('an ES256 token has two spellings: with (r, s), (r, n - s) verifies and says the same', async () => {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const made = draft('p256');
  const token = forge(made);
  const [header, claims, signature = ''] = token.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`);
  const other = Buffer.concat([bytes.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]);
  const authenticate = identifier();
  const second = await authenticate(`Bearer ${header}.${claims}.${other.toString('base64url')}`);
  assert.equal(second.code, 'accepted');
  assert.deepEqual(second, await authenticate(`Bearer ${token}`));
});

for (const name of ['rsa', 'p256', 'secret'] as const) {
  test(`a good token that nobody has seen meets no promise: ${name}`, () => {
    const keys = name === 'secret' ? secretKeys() : issuerKeys();
    const authentication = identifier(keys)(`Bearer ${forge(draft(name))}`);
    assert.ok(!(authentication instanceof Promise));
    assert.equal(authentication.code, 'accepted');
  });
}

for (const name of ['p384', 'p521', 'ed'] as const) {
  test(`what takes longer to verify is left to another thread, and known at once the next time: ${name}`, async () => {
    const authenticate = identifier();
    const authorization = `Bearer ${forge(draft(name))}`;
    const first = authenticate(authorization);
    assert.ok(first instanceof Promise);
    assert.ok(authenticate(authorization) instanceof Promise, 'nobody knows it before it is verified');
    const answer = await first;
    assert.equal(answer.code, 'accepted');
    assert.equal(authenticate(authorization), answer);
  });
}

test('of several keys that a token fits only the first is tried at once, the others by another thread', async () => {
  const pairs = [publicKey('p256'), STRANGERS.p256.publicKey];
  const keys = fixedKeys(
    inOrder(pairs.map((key) => usable(key.export({ format: 'jwk' })))),
    'two keys without kid',
  );
  const made = draft('p256');
  const header = { ...made.header, kid: undefined };
  const tokens = [
    forge(made, { header }),
    forge(made, { header, sign: signer('ES256', STRANGERS.p256.privateKey) }),
  ];
  const answers = tokens.map((token) => identifier(keys)(`Bearer ${token}`));
  assert.equal(answers.filter((answer) => answer instanceof Promise).length, 1);
  for (const answer of answers) assert.equal((await answer).code, 'accepted');
});

test('a token that was refused is looked at again every time', async () => {
  const authenticate = identifier();
  const made = draft('p384');
  const authorization = `Bearer ${forge(made, { claims: { ...made.claims, aud: 'other' } })}`;
  await authenticate(authorization);
  assert.ok(authenticate(authorization) instanceof Promise);
});

test('a token is remembered in one spelling of the header only', async () => {
  const authenticate = identifier();
  const authorization = `Bearer  ${forge(draft('p384'))}`;
  await authenticate(authorization);
  assert.ok(authenticate(authorization) instanceof Promise, 'blanks must not multiply what is remembered');
});

test('a remembered token costs one look at the clock until it expires', async () => {
  let now = NOW;
  let looks = 0;
  const authenticate = identifier(issuerKeys(), () => {
    looks += 1;
    return now;
  });
  const made = draft();
  const exp = Math.floor(NOW / 1000) + 60;
  const authorization = `Bearer ${forge(made, { claims: { ...made.claims, exp } })}`;
  assert.equal(codeOf(await authenticate(authorization)), 'accepted');
  assert.equal(looks, 1);
  now = (exp + 30) * 1000 - 1;
  assert.equal(codeOf(await authenticate(authorization)), 'accepted');
  assert.equal(looks, 2);
  now = (exp + 30) * 1000;
  assert.equal(codeOf(await authenticate(authorization)), 'expired');
});

test('a remembered token is refused once its key has left the set, and good again when it is back', async () => {
  const keys = changingKeys();
  const authenticate = identifier(keys);
  const authorization = `Bearer ${forge(draft('p256'))}`;
  const all = keys.set ?? [];
  assert.equal(codeOf(await authenticate(authorization)), 'accepted');
  keys.set = all.filter(({ keyId }) => keyId !== 'p256');
  assert.equal(codeOf(await authenticate(authorization)), 'key-unknown');
  keys.set = [...all];
  assert.equal(codeOf(await authenticate(authorization)), 'accepted');
});

test('a token whose key leaves the set while it is verified is refused', async () => {
  const keys = changingKeys();
  const pending = identifier(keys)(`Bearer ${forge(draft('p384'))}`);
  keys.set = (keys.set ?? []).filter(({ keyId }) => keyId !== 'p384');
  assert.equal(codeOf(await pending), 'key-unknown');
});

test('Order 3 · a good token is unavailable while there are no keys; a malformed one is refused', async () => {
  const keys: Keys = {
    ...fixedKeys([], 'an issuer that is down'),
    current: () => undefined,
    retryAfter: () => 7,
  };
  const authenticate = identifier(keys);
  assert.deepEqual(await authenticate(`Bearer ${forge(draft())}`), {
    code: 'keys-unavailable',
    answer: { status: 503, headers: { 'retry-after': '7' } },
  });
  assert.equal(codeOf(await authenticate('Bearer x')), 'token-form');
  assert.equal(codeOf(await authenticate(undefined)), 'credentials-missing');
});
