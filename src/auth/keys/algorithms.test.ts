import assert from 'node:assert/strict';
import {
  constants,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { test } from 'node:test';
import { verifyWith } from './algorithms.ts';

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
