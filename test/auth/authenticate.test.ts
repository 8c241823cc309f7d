import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Authentication } from '../../src/auth/admit.ts';
import { authenticateWith, canWriteTodos } from '../../src/auth/admit.ts';
import { fixedKeys, inOrder, type Keys } from '../../src/auth/keys/keys.ts';
import type { Trust } from '../../src/auth/token/checks.ts';
import { draft, forge, jwkOf, type KeyName, publicKey, STRANGERS, signer } from './forge.ts';
import { issuerKeys, secretKeys, TRUST, usable } from './trust.ts';

function identifier(keys = issuerKeys(), now = Date.now) {
  return authenticateWith({ ...TRUST, keys, now });
}

const NO_CREDENTIALS = { status: 401, headers: { 'www-authenticate': 'Bearer realm="todo-service"' } };

test('a request without Authorization brings no credentials [A1]', async () => {
  assert.deepEqual(await identifier()(undefined), {
    code: 'credentials-missing',
    answer: NO_CREDENTIALS,
    refused: { keyId: undefined, claim: undefined },
  });
});

for (const authorization of [
  ...[
    'Bearer',
    'Bearer\tTOKEN',
    'Bearer: TOKEN',
    'Bearer%20TOKEN',
    'BearerTOKEN',
    '"Bearer TOKEN"',
    'TOKEN',
    '',
  ],
  ...['JWT TOKEN', 'Token TOKEN', 'DPoP TOKEN', 'Basic YWRhOmFkYQ=='],
]) {
  test(`an Authorization without Bearer and a token is no credentials, and has a code of its own: ${JSON.stringify(authorization)} [A1]`, async () => {
    const result = await identifier()(authorization.replace('TOKEN', forge(draft())));
    const refused = { keyId: undefined, claim: undefined };
    assert.deepEqual(result, { code: 'bearer-missing', answer: NO_CREDENTIALS, refused });
  });
}

test('a token says who is calling', async () => {
  const token = forge(draft('p256', { claims: { name: 'Ada', roles: ['auditor'] } }));
  assert.deepEqual(await identifier()(`Bearer ${token}`), {
    code: 'accepted',
    identity: { caller: [TRUST.issuer, 'ada'], name: 'Ada', roles: ['editor', 'auditor'] },
  });
});

for (const alg of ['EdDSA', 'Ed25519']) {
  test(`a token by an Ed25519 key may name its algorithm ${alg} (RFC 8037, RFC 9864) [A6]`, async () => {
    const token = forge(draft('ed', { header: { alg } }));
    for (const keyAlg of [undefined, 'EdDSA', 'Ed25519']) {
      const jwk = { ...jwkOf(publicKey('ed'), 'ed'), alg: keyAlg };
      const keys = fixedKeys([usable(JSON.parse(JSON.stringify(jwk)))], 'one key');
      assert.equal((await identifier(keys)(`Bearer ${token}`)).code, 'accepted', `key's alg ${keyAlg}`);
    }
  });
}

test('an ES256 token has two spellings: with (r, s), (r, n - s) verifies and says the same', async () => {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const token = forge(draft());
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
  const made = draft('p256', { header: { kid: undefined } });
  const tokens = [forge(made), forge(made, { sign: signer('ES256', STRANGERS.p256.privateKey) })];
  const answers = tokens.map((token) => identifier(keys)(`Bearer ${token}`));
  assert.equal(answers.filter((answer) => answer instanceof Promise).length, 1);
  for (const answer of answers) assert.equal((await answer).code, 'accepted');
});

test('a forged token is verified once, though the source is asked for other keys', async () => {
  let verified = 0;
  const [key] = (issuerKeys().current() ?? []).filter(({ keyId }) => keyId === 'p256');
  assert.ok(key);
  const counting = () => {
    verified += 1;
    return false;
  };
  const set = [{ ...key, algorithms: new Map([['ES256' as const, counting]]) }];
  const { code } = await identifier(fixedKeys(set, 'one key'))(`Bearer ${forge(draft())}`);
  assert.deepEqual([code, verified], ['signature', 1]);
});

test('a token that was refused is looked at again every time', async () => {
  const authenticate = identifier();
  const authorization = `Bearer ${forge(draft('p384', { claims: { aud: 'other' } }))}`;
  await authenticate(authorization);
  assert.ok(authenticate(authorization) instanceof Promise);
});

test('more blanks are taken before a token, which is remembered in one spelling of the header only [A4]', async () => {
  const authenticate = identifier();
  const authorization = `Bearer  ${forge(draft('p384'))}`;
  assert.equal((await authenticate(authorization)).code, 'accepted');
  assert.ok(authenticate(authorization) instanceof Promise, 'blanks must not multiply what is remembered');
});

test('a remembered token costs one look at the clock until it expires', async () => {
  let now = Date.now();
  let looks = 0;
  const authenticate = identifier(issuerKeys(), () => {
    looks += 1;
    return now;
  });
  const exp = Math.floor(now / 1000) + 60;
  const authorization = `Bearer ${forge(draft('p256', { claims: { exp } }))}`;
  assert.equal((await authenticate(authorization)).code, 'accepted');
  assert.equal(looks, 1);
  now = (exp + 30) * 1000 - 1;
  assert.equal((await authenticate(authorization)).code, 'accepted');
  assert.equal(looks, 2);
  now = (exp + 30) * 1000;
  assert.equal((await authenticate(authorization)).code, 'expired');
});

test('claims are read once for each token, not for each request [A10; A14]', async () => {
  let looks = 0;
  const path = ['team'];
  const required = { name: 'team', path, value: 'a' };
  const counted = new Proxy(required, {
    get(target, name) {
      if (name === 'path') looks += 1;
      return Reflect.get(target, name);
    },
  });
  const claims = { editorRoles: ['Todo-editors'] };
  const trust = { ...TRUST, claims, requiredClaims: [counted], keys: issuerKeys(), now: Date.now };
  const authenticate = authenticateWith(trust);
  const token = forge(draft('p256', { claims: { team: 'a', role: 'Todo-editors' } }));
  const answers = [1, 2, 3].map(() => authenticate(`Bearer ${token}`));
  assert.equal(looks, 1);
  assert.equal(new Set(answers).size, 1);
  const [answer] = answers;
  assert.ok(answer && 'identity' in answer && canWriteTodos(answer.identity));
});

/** Audiences, and the claim in the place of `aud`. */
const FOR_CLIENT = { audiences: ['web', 'api://todo'], audienceClaim: ['client_id'] };

/** Claims, and whether they are for one of these audiences. */
const FOR_WHOM: readonly (readonly [Partial<Trust>, object, boolean])[] = [
  [{ audiences: ['a', 'b'] }, { aud: 'b' }, true],
  [{ audiences: ['a', 'b'] }, { aud: ['x', 'a'] }, true],
  [{ audiences: ['a', 'b'] }, { aud: 'a,b' }, false],
  [{ audiences: ['a', 'b'] }, { aud: ['x'] }, false],
  [{ audiences: ['a', 'b'] }, { aud: ['a', ['b']] }, false],
  [{ audiences: ['a', 'b'] }, { aud: undefined, client_id: 'a' }, false],
  [FOR_CLIENT, { aud: undefined, client_id: 'web' }, true],
  [FOR_CLIENT, { aud: undefined, client_id: ['x', 'api://todo'] }, true],
  [FOR_CLIENT, { aud: ['api://todo', 'x'], client_id: 'web' }, true],
  [FOR_CLIENT, { aud: 'web' }, false],
  [FOR_CLIENT, { aud: 'x', client_id: 'web' }, false],
  [FOR_CLIENT, { aud: null, client_id: 'web' }, false],
  [FOR_CLIENT, { aud: '', client_id: 'web' }, false],
  [FOR_CLIENT, { aud: [], client_id: 'web' }, false],
  [FOR_CLIENT, { aud: {}, client_id: 'web' }, false],
  [FOR_CLIENT, { aud: undefined, client_id: 'WEB' }, false],
  [FOR_CLIENT, { aud: undefined, client_id: { web: true } }, false],
  [FOR_CLIENT, { aud: undefined, client_id: [] }, false],
  [FOR_CLIENT, { aud: undefined, client_id: ['web', 7] }, false],
  [{ audiences: ['7'], audienceClaim: ['org_id'] }, { aud: undefined, org_id: 7 }, false],
  [{ audiences: ['a'], audienceClaim: ['o', 'id'] }, { aud: undefined, o: { id: 'a' } }, true],
  [{ audiences: ['a'], audienceClaim: ['o', '0'] }, { aud: undefined, o: ['a'] }, true],
];

for (const [trust, claims, isFor] of FOR_WHOM) {
  test(`with ${JSON.stringify(trust)}, ${JSON.stringify(claims)} is for ${isFor ? 'this service' : 'others'} [A13]`, async () => {
    const { code } = await authenticateWith({ ...TRUST, ...trust, keys: issuerKeys(), now: Date.now })(
      `Bearer ${forge(draft('p256', { claims }))}`,
    );
    assert.equal(code, isFor ? 'accepted' : 'audience');
  });
}

for (const [tokenType, good, others] of [
  ['at+jwt', ['at+jwt', 'AT+JWT', 'application/at+jwt'], ['JWT', 'jwt', 'application/jwt', undefined]],
  ['jwt', ['JWT', 'application/jwt'], ['at+jwt', undefined]],
] as const) {
  test(`where ${tokenType} is asked for, every other type is another kind, and so is none [A5]`, async () => {
    const authenticate = authenticateWith({ ...TRUST, tokenType, keys: issuerKeys(), now: Date.now });
    const codeOf = async (typ: string | undefined) =>
      (await authenticate(`Bearer ${forge(draft('p256', { header: { typ } }))}`)).code;
    for (const typ of good) assert.equal(await codeOf(typ), 'accepted', typ);
    for (const typ of others) assert.equal(await codeOf(typ), 'kind', String(typ));
  });
}

test('9,900 tokens in use are remembered, and never more than 10,000', () => {
  const authenticate = identifier(secretKeys());
  const headers = Array.from(
    { length: 12_000 },
    (_, index) => `Bearer ${forge(draft('secret', { claims: { sub: `user-${index}` } }))}`,
  );
  /** How many of them are known, and have the very answer of before. */
  const known = (some: readonly string[]) => {
    const before = some.map(authenticate);
    return some.map(authenticate).filter((answer, index) => answer === before[index]).length;
  };
  assert.equal(known(headers.slice(0, 9_900)), 9_900);
  assert.ok(known(headers) <= 10_000);
});

test('a token whose key leaves the set while it is verified is refused', async () => {
  let set = issuerKeys().current();
  const keys = { ...fixedKeys([], 'changing keys'), current: () => set };
  const pending = identifier(keys)(`Bearer ${forge(draft('p384'))}`);
  set = set?.filter(({ keyId }) => keyId !== 'p384');
  assert.equal((await pending).code, 'key-unknown');
});

test('a good token is unavailable while there are no keys; a malformed one is refused [Order 3]', async () => {
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
  assert.equal((await authenticate('Bearer x')).code, 'token-form');
  assert.equal((await authenticate(undefined)).code, 'credentials-missing');
});

/** Seconds since 1970; the clock moves around it. */
const BEGIN = Math.floor(Date.now() / 1000);

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
    const at = (offset: number | undefined) => (offset === undefined ? undefined : BEGIN + offset);
    return forge(draft(key, { claims: { ...claims, exp: at(exp), nbf: at(nbf), iat: at(iat) } }));
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
        let now = BEGIN;
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
