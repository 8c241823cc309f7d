import assert from 'node:assert/strict';
import { createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
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
