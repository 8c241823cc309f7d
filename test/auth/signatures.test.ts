import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { compactVerify } from 'jose/jws/compact/verify';
import type { Algorithm } from '../../src/auth/keys/algorithms.ts';
import { verifyWith } from '../../src/auth/keys/algorithms.ts';
import { fromSecret } from '../../src/auth/keys/verification-key.ts';
import { encode, type KeyName, mac, privateKey, publicKey, SECRET, type Signer, signer } from './forge.ts';
import { usable } from './trust.ts';

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

/** Signatures that standards print, with their keys: a JWK, or a secret in base64url. */
const PRINTED: readonly (readonly [section: string, Algorithm, key: object | string, token: string])[] = [
  [
    'RFC 7515 A.1',
    'HS256',
    'AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow',
    'eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  ],
  [
    'RFC 7515 A.2',
    'RS256',
    {
      kty: 'RSA',
      n: 'ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ',
      e: 'AQAB',
    },
    'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw',
  ],
  [
    'RFC 7515 A.3',
    'ES256',
    {
      kty: 'EC',
      crv: 'P-256',
      x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
      y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    },
    'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q',
  ],
  [
    'RFC 7515 A.4',
    'ES512',
    {
      kty: 'EC',
      crv: 'P-521',
      x: 'AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk',
      y: 'ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2',
    },
    'eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn',
  ],
  [
    'RFC 8037 A.4',
    'EdDSA',
    { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
    'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
  ],
  [
    'RFC 7520 4.2',
    'PS384',
    {
      kty: 'RSA',
      kid: 'bilbo.baggins@hobbiton.example',
      use: 'sig',
      e: 'AQAB',
      n: 'n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMaJMRBSFKrKb2wqVwGU_NsYOYL-QtiWN2lbzcEe6XC0dApr5ydQLrHqkHHig3RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6cS6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZCuEHg8lhzwOHrtIQbS0FVbb9k3-tVTU4fg_3L_vniUFAKwuCLqKnS2BYwdq_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqgc5gHdrNP5zw',
    },
    'eyJhbGciOiJQUzM4NCIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4.cu22eBqkYDKgIlTpzDXGvaFfz6WGoz7fUDcfT0kkOy42miAh2qyBzk1xEsnk2IpN6-tPid6VrklHkqsGqDqHCdP6O8TTB5dDDItllVo6_1OLPpcbUrhiUSMxbbXUvdvWXzg-UD8biiReQFlfz28zGWVsdiNAUf8ZnyPEgVFn442ZdNqiVJRmBqrYRXe8P_ijQ7p8Vdz0TTrxUeT3lm8d9shnr2lfJT8ImUjvAA2Xez2Mlp8cBE5awDzT0qI0n6uiP1aCN_2_jLAeQTlqRHtfa64QQSUmFAAjVKPbByi7xho0uTOcbH510a6GYmJUAfmWjwZ6oD4ifKo8DYM-X72Eaw',
  ],
];

for (const [section, algorithm, key, token] of PRINTED) {
  test(`the ${algorithm} signature of ${section} is good`, async () => {
    const { algorithms } = typeof key === 'string' ? fromSecret(Buffer.from(key, 'base64url')) : usable(key);
    const [header, payload, signature = ''] = token.split('.');
    const verify = algorithms.get(algorithm);
    assert.equal(await verify?.(`${header}.${payload}`, Buffer.from(signature, 'base64url')), true);
  });
}
