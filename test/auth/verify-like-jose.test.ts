import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { compactVerify } from 'jose/jws/compact/verify';
import type { Algorithm } from '../../src/auth/keys/algorithms.ts';
import { verifyWith } from '../../src/auth/keys/algorithms.ts';
import { encode, type KeyName, mac, privateKey, publicKey, SECRET, type Signer, signer } from './forge.ts';

const SIGNERS: readonly (readonly [Algorithm, KeyName | 'secret', Signer])[] = [
  ['HS256', 'secret', mac('sha256')],
  ['HS384', 'secret', mac('sha384')],
  ['HS512', 'secret', mac('sha512')],
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const).map(
    (algorithm) => [algorithm, 'rsa', signer(algorithm, privateKey('rsa'))] as const,
  ),
  ['ES256', 'p256', signer('ES256', privateKey('p256'))],
  ['ES384', 'p384', signer('ES384', privateKey('p384'))],
  ['ES512', 'p521', signer('ES512', privateKey('p521'))],
  ['EdDSA', 'ed', signer('EdDSA', privateKey('ed'))],
];

/** What happens to a signature: nothing, a bit, another length, its halves, all of it. */
const change = fc.oneof(
  fc.constant((signature: Buffer) => signature),
  fc.nat().map((bit) => (signature: Buffer) => {
    const changed = Buffer.from(signature);
    const at = (bit >> 3) % changed.length;
    changed[at] = (changed[at] ?? 0) ^ (1 << (bit % 8));
    return changed;
  }),
  fc
    .nat({ max: 40 })
    .map((bytes) => (signature: Buffer) => signature.subarray(0, Math.max(1, signature.length - bytes))),
  fc
    .uint8Array({ minLength: 1, maxLength: 40 })
    .map((more) => (signature: Buffer) => Buffer.concat([signature, more])),
  fc
    .uint8Array({ minLength: 1, maxLength: 40 })
    .map((more) => (signature: Buffer) => Buffer.concat([more, signature])),
  fc.constant((signature: Buffer) => {
    const half = signature.length / 2;
    return Buffer.concat([signature.subarray(half), signature.subarray(0, half)]);
  }),
  fc.nat({ max: 255 }).map((byte) => (signature: Buffer) => Buffer.alloc(signature.length, byte)),
  fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => () => Buffer.from(bytes)),
);

for (const [algorithm, name, sign] of SIGNERS) {
  const key = name === 'secret' ? createSecretKey(SECRET) : publicKey(name);
  const verify = verifyWith(key, algorithm);

  test(`${algorithm}: node:crypto and jose come to the same verdict on every signature`, async () => {
    let good = 0;
    await fc.assert(
      fc.asyncProperty(fc.string(), change, async (sub, mutate) => {
        const signingInput = `${encode({ alg: algorithm })}.${encode({ sub })}`;
        const signature = mutate(sign(signingInput));
        const verdict = await verify(signingInput, signature);
        assert.equal(await verify(signingInput, signature, 'elsewhere'), verdict);
        const compact = `${signingInput}.${signature.toString('base64url')}`;
        const byJose = await compactVerify(compact, key, { algorithms: [algorithm] }).then(
          () => true,
          () => false,
        );
        assert.equal(verdict, byJose, signature.toString('hex'));
        if (verdict) good += 1;
      }),
      { numRuns: 150 },
    );
    assert.ok(good > 0, 'some signatures are good');
  });
}
