import assert from 'node:assert/strict';
import {
  constants,
  createHmac,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { test } from 'node:test';
import { readAlgorithm, verifyWith } from './algorithms.ts';

/** Verifies nothing, and takes as long as a real one. */
function rsaKey(bits: number, exponent: number): KeyObject {
  const modulus = randomBytes(bits / 8);
  modulus[0] = 0xff;
  modulus[modulus.length - 1] = 0xff;
  const e = Buffer.alloc(4);
  e.writeUInt32BE(exponent);
  const jwk = { kty: 'RSA', n: modulus.toString('base64url'), e: e.subarray(1).toString('base64url') };
  return createPublicKey({ key: jwk, format: 'jwk' });
}

for (const [bits, exponent, elsewhere] of [
  [2048, 65_537, false],
  [4096, 65_537, false],
  [4104, 65_537, true],
  [16_384, 65_537, true],
  [2048, 65_539, true],
] as const) {
  const where = elsewhere ? 'by another thread' : 'at once';
  test(`a signature by an RSA key of ${bits} bits with the exponent ${exponent} is verified ${where}`, async () => {
    const good = verifyWith(rsaKey(bits, exponent), 'RS256')('a.b', Buffer.alloc(bits / 8, 1));
    assert.equal(good instanceof Promise, elsewhere);
    assert.equal(await good, false);
  });
}

test('a PSS signature verifies with a salt as long as its hash, and with no other [RFC 7518 §3.5]', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  for (const algorithm of ['PS256', 'PS384', 'PS512'] as const) {
    const hash = Number(algorithm.slice(2)) / 8;
    const verifies = (saltLength: number) => {
      const padding = constants.RSA_PKCS1_PSS_PADDING;
      const key = { key: privateKey, padding, saltLength };
      const signature = sign(`sha${algorithm.slice(2)}`, Buffer.from('a.b'), key);
      return verifyWith(publicKey, algorithm)('a.b', signature);
    };
    const salts = [0, 1, 20, hash - 1, hash, hash + 1, 128];
    const good = await Promise.all(salts.map(verifies));
    assert.deepEqual(
      good,
      salts.map((length) => length === hash),
      algorithm,
    );
  }
});

const pairs = {
  RS: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  EdDSA: generateKeyPairSync('ed25519'),
};

for (const [algorithm, { publicKey, privateKey }, elsewhere] of [
  ['RS256', pairs.RS, false],
  ['RS512', pairs.RS, false],
  ['ES256', pairs.ES256, false],
  ['ES384', pairs.ES384, true],
  ['ES512', pairs.ES512, true],
  ['EdDSA', pairs.EdDSA, true],
] as const) {
  test(`of ${algorithm} its own signature verifies, ${elsewhere ? 'by another thread' : 'at once unless told otherwise'}`, async () => {
    const hash = algorithm === 'EdDSA' ? null : `sha${algorithm.slice(2)}`;
    const signature = sign(hash, Buffer.from('a.b'), { key: privateKey, dsaEncoding: 'ieee-p1363' });
    const verify = verifyWith(publicKey, algorithm);
    assert.equal(verify('a.b', signature) instanceof Promise, elsewhere);
    assert.ok(verify('a.b', signature, 'elsewhere') instanceof Promise);
    assert.deepEqual(
      await Promise.all([
        verify('a.b', signature),
        verify('a.b', signature, 'elsewhere'),
        verify('a.c', signature),
      ]),
      [true, true, false],
    );
  });
}

test('of an HMAC the whole hash verifies, and nothing shorter or longer', () => {
  const key = createSecretKey(Buffer.alloc(64, 7));
  for (const algorithm of ['HS256', 'HS384', 'HS512'] as const) {
    const mac = createHmac(`sha${algorithm.slice(2)}`, key)
      .update('a.b')
      .digest();
    const verify = verifyWith(key, algorithm);
    assert.deepEqual(
      [mac, mac.subarray(1), mac.subarray(0, -1), Buffer.concat([mac, mac]), Buffer.alloc(mac.length)].map(
        (signature) => verify('a.b', signature),
      ),
      [true, false, false, false, false],
    );
  }
});

test('the names of algorithms are those of JWS, with Ed25519 for EdDSA', () => {
  const names = ['RS256', 'PS512', 'ES384', 'EdDSA', 'Ed25519', 'HS256', 'none', 'rs256', '', undefined, 7];
  assert.deepEqual(names.map(readAlgorithm), [
    ...['RS256', 'PS512', 'ES384', 'EdDSA', 'EdDSA', 'HS256'],
    ...[undefined, undefined, undefined, undefined, undefined],
  ]);
});
