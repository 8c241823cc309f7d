import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { fromPublicKey, fromSecret, readJwk } from './verification-key.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const weak = generateKeyPairSync('rsa', { modulusLength: 1024 });
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed25519 = generateKeyPairSync('ed25519');

const RSA = rsa.publicKey.export({ format: 'jwk' });
const EC = p256.publicKey.export({ format: 'jwk' });
const ED = ed25519.publicKey.export({ format: 'jwk' });

function ofCurve(namedCurve: string) {
  return generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' });
}

/** The algorithms that a key admits (contract A6). */
const ADMITTED: readonly (readonly [string, object, readonly string[]])[] = [
  ['RSA', RSA, ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']],
  ['RSA with "alg"', { ...RSA, alg: 'PS384' }, ['PS384']],
  ['P-256', EC, ['ES256']],
  ['P-384', ofCurve('P-384'), ['ES384']],
  ['P-521', ofCurve('P-521'), ['ES512']],
  ['P-256 with "alg"', { ...EC, alg: 'ES256' }, ['ES256']],
  ['Ed25519', ED, ['EdDSA']],
  ['Ed25519 with the "alg" of RFC 8037', { ...ED, alg: 'EdDSA' }, ['EdDSA']],
  ['Ed25519 with the "alg" of RFC 9864', { ...ED, alg: 'Ed25519' }, ['EdDSA']],
  ['a key for signatures', { ...EC, use: 'sig' }, ['ES256']],
  ['a key for verifying', { ...EC, key_ops: ['verify'] }, ['ES256']],
  ['a key with a certificate', { ...RSA, alg: 'RS256', x5c: ['MIIB'], x5t: 'AA' }, ['RS256']],
];

for (const [what, jwk, algorithms] of ADMITTED) {
  test(`${what} admits ${algorithms.join(', ')}`, () => {
    const key = readJwk(jwk);
    assert.ok('algorithms' in key);
    assert.deepEqual([...key.algorithms.keys()], algorithms);
  });
}

function kindOf(key: ReturnType<typeof readJwk>): string {
  return 'kind' in key ? key.kind : 'usable';
}

/** RFC 8725 §3.4 and §3.5, RFC 7517 §4. */
const REFUSED: readonly (readonly [string, unknown, 'unfit' | 'secret' | 'other-use'])[] = [
  ['RSA of 1024 bits', weak.publicKey.export({ format: 'jwk' }), 'unfit'],
  ['RSA without modulus', { kty: 'RSA', e: 'AQAB' }, 'unfit'],
  ['RSA with the exponent 1', { ...RSA, e: 'AQ' }, 'unfit'],
  ['RSA with the exponent 3', { ...RSA, e: 'Aw' }, 'unfit'],
  ['RSA with an even exponent', { ...RSA, e: 'AQAC' }, 'unfit'],
  ['RSA with a huge exponent', { ...RSA, e: Buffer.alloc(33, 255).toString('base64url') }, 'unfit'],
  ['a point that is not on its curve', { ...EC, y: EC.x }, 'unfit'],
  ['a point of another curve', { ...ofCurve('P-384'), crv: 'P-256' }, 'unfit'],
  [
    'the point of zeros',
    { ...EC, x: Buffer.alloc(32).toString('base64url'), y: Buffer.alloc(32).toString('base64url') },
    'unfit',
  ],
  ['secp256k1', ofCurve('secp256k1'), 'unfit'],
  ['Ed448', generateKeyPairSync('ed448').publicKey.export({ format: 'jwk' }), 'unfit'],
  ['Ed25519 with the name of Ed448', { ...ED, alg: 'Ed448' }, 'unfit'],
  ['P-256 with the name of Ed25519', { ...EC, alg: 'Ed25519' }, 'unfit'],
  ['Ed25519 of half a length', { ...ED, x: 'AAAA' }, 'unfit'],
  ['a type from the future', { kty: 'AKP', alg: 'ML-DSA-44', pub: 'AAAA' }, 'unfit'],
  ['no type', { n: RSA.n, e: RSA.e }, 'unfit'],
  ['an algorithm of another type', { ...RSA, alg: 'ES256' }, 'unfit'],
  ['an HMAC algorithm', { ...RSA, alg: 'HS256' }, 'unfit'],
  ['no algorithm', { ...RSA, alg: 'none' }, 'unfit'],
  ['an algorithm that is a list', { ...RSA, alg: ['RS256'] }, 'unfit'],
  ['a key id that is a number', { ...EC, kid: 7 }, 'unfit'],
  ['a string', 'key', 'unfit'],
  ['null', null, 'unfit'],
  ['a list', [EC], 'unfit'],
  ['a key for encryption', { ...RSA, use: 'enc' }, 'other-use'],
  ['a key for TLS', { ...RSA, use: 'tls' }, 'other-use'],
  ['operations of encryption', { ...RSA, key_ops: ['wrapKey', 'encrypt'] }, 'other-use'],
  ...['RSA-OAEP', 'RSA-OAEP-256', 'ECDH-ES', 'ECDH-ES+A128KW'].map(
    (alg) => [`an algorithm of encryption: ${alg}`, { ...RSA, alg }, 'other-use'] as const,
  ),
  ['X25519', generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }), 'other-use'],
  ['a use in another letter case', { ...RSA, use: 'SIG' }, 'unfit'],
  ['a use that is a number', { ...RSA, use: 1 }, 'unfit'],
  ['operations of signing', { ...RSA, key_ops: ['sign'] }, 'unfit'],
  ['no operations', { ...RSA, key_ops: [] }, 'unfit'],
  ['operations in a string', { ...RSA, key_ops: 'verify' }, 'unfit'],
  ['a private RSA key', rsa.privateKey.export({ format: 'jwk' }), 'secret'],
  ['a private EC key', p256.privateKey.export({ format: 'jwk' }), 'secret'],
  ['a private Ed25519 key', ed25519.privateKey.export({ format: 'jwk' }), 'secret'],
  ['a private part alone', { ...EC, d: '' }, 'secret'],
  ['a symmetric key', { kty: 'oct', k: 'AAAA' }, 'secret'],
  ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'].map(
    (name) => [`a public key with a "${name}"`, { ...RSA, [name]: 'AAAA' }, 'secret'] as const,
  ),
];

for (const [what, jwk, wanted] of REFUSED) {
  test(`${what} is ${wanted}`, () => assert.equal(kindOf(readJwk(jwk)), wanted));
}

/** What an operator reads of a key that is skipped. */
const REASONS: readonly (readonly [unknown, string])[] = [
  ['key', 'it is not an object'],
  [{ ...EC, kid: 7 }, 'its kid is not a string'],
  [{ kty: 'oct', k: 'AAAA' }, 'it is a symmetric key'],
  [{ ...EC, d: '' }, 'it is a private key'],
  [{ ...RSA, use: 'enc' }, 'its use must be "sig", received "enc"'],
  [{ ...RSA, use: 'SIG\u0007' }, 'its use must be "sig", received "SIG\\u0007"'],
  [{ ...RSA, use: 'x'.repeat(200) }, `its use must be "sig", received "${'x'.repeat(100)}"`],
  [{ ...RSA, use: ['sig'] }, 'its use must be "sig", received no string'],
  [{ ...RSA, key_ops: ['encrypt'] }, 'its key_ops has no verify'],
  [{ ...RSA, key_ops: [] }, 'its key_ops has no verify'],
  [{ kty: 'RSA', e: 'AQAB' }, 'it must be a public key of the type RSA, EC or Ed25519'],
  [{ ...RSA, alg: 'ES256' }, 'its alg must be one of RS256, RS384, RS512, PS256, PS384, PS512 when present'],
  [weak.publicKey.export({ format: 'jwk' }), 'it must have at least 2048 bits, received 1024'],
  [{ ...RSA, e: 'Aw' }, 'its exponent must be odd and between 2^16 and 2^256'],
  [ofCurve('secp256k1'), 'its curve must be P-256, P-384 or P-521'],
  [
    generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }),
    'it must be of the type RSA, EC or Ed25519, received x25519',
  ],
];

for (const [jwk, reason] of REASONS) {
  test(`a key is skipped for a reason that can be read: ${reason}`, () => {
    const key = readJwk(jwk);
    assert.equal('reason' in key && key.reason, reason);
  });
}

test('a key that is skipped is named by its id', () => {
  for (const jwk of [
    { kty: 'oct', kid: 'a' },
    { ...EC, kid: 'a', d: '' },
    { ...EC, kid: 'a', use: 'enc' },
    { ...EC, kid: 'a', key_ops: [] },
    { ...EC, kid: 'a', x: '' },
    { ...EC, kid: 'a', alg: 'none' },
    { ...ofCurve('secp256k1'), kid: 'a' },
  ])
    assert.equal(readJwk(jwk).keyId, 'a');
});

test('RSA keys for PSS alone have no algorithm of RFC 7518', () => {
  const { publicKey } = generateKeyPairSync('rsa-pss', { modulusLength: 2048 });
  assert.equal(kindOf(fromPublicKey(publicKey)), 'unfit');
});

/** RFC 7518 §3.2. */
for (const [bytes, algorithms] of [
  [32, ['HS256']],
  [47, ['HS256']],
  [48, ['HS256', 'HS384']],
  [63, ['HS256', 'HS384']],
  [64, ['HS256', 'HS384', 'HS512']],
  [200, ['HS256', 'HS384', 'HS512']],
] as const) {
  test(`a secret of ${bytes} bytes admits ${algorithms.join(', ')}`, () => {
    assert.deepEqual([...fromSecret(Buffer.alloc(bytes, 7)).algorithms.keys()], algorithms);
  });
}

test('a key is another one when its material, its kid or its algorithms differ, and only then', () => {
  const id = (jwk: unknown) => {
    const key = readJwk(jwk);
    return 'id' in key ? key.id : undefined;
  };
  assert.equal(id({ ...RSA, kid: 'a' }), id({ kid: 'a', use: 'sig', x5t: 'AA', ...RSA }));
  const others = [{ ...RSA, kid: 'a' }, { ...RSA, kid: 'b' }, RSA, { ...RSA, kid: 'a', alg: 'RS256' }, EC];
  assert.equal(new Set(others.map(id)).size, others.length);
  const secrets = [[], ['a'], ['b'], ['a', 'HS256']] as const;
  const ids = secrets.map(([keyId, alg]) => fromSecret(Buffer.alloc(64, 7), keyId, alg).id);
  assert.equal(new Set(ids).size, secrets.length);
});
