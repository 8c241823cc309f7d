import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedKeys } from '../../src/auth/keys/keys.ts';
import { fromSecret, readJwk, type VerificationKey } from '../../src/auth/keys/verification-key.ts';
import { checkSignature } from '../../src/auth/token/checks.ts';
import { VECTORS, type Vector } from './rfc-vectors.ts';

for (const vector of VECTORS) {
  test(`the ${vector.algorithm} signature of ${vector.section} is good`, async () => {
    assert.equal(await verdict(vector, vector.segments[2]), undefined);
  });

  test(`the ${vector.algorithm} signature of ${vector.section} is bad with one bit changed anywhere`, async () => {
    const signature = Buffer.from(vector.segments[2], 'base64url');
    for (const at of signature.keys()) {
      const changed = Buffer.from(signature);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      const found = await verdict(vector, changed.toString('base64url'));
      assert.deepEqual(found, { code: 'signature' }, `byte ${at}`);
    }
  });
}

async function verdict({ algorithm, key, segments: [header, payload] }: Vector, signature: string) {
  const signingInput = `${header}.${payload}`;
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
  const token = {
    signingInput,
    signature: Buffer.from(signature, 'base64url'),
    algorithm,
    keyId: kid,
    claims: {},
  };
  return checkSignature(token, fixedKeys([keyOf(key)], 'the standard'));
}

function keyOf(key: Vector['key']): VerificationKey {
  if ('secret' in key) return fromSecret(Buffer.from(key.secret, 'base64url'));
  const result = readJwk(key.jwk);
  assert.equal(result.outcome, 'usable');
  return result.key;
}
