import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { readKeysFile } from '../../src/auth/keys/files.ts';
import { temporaryFolder } from '../folder.ts';
import { jwkOf, jwks, type KeyName, privateKey, publicKey } from './forge.ts';

function pem(name: KeyName): string {
  return publicKey(name).export({ type: 'spki', format: 'pem' }).toString();
}

const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
const rsaOnly = publicKey('rsa').export({ type: 'pkcs1', format: 'pem' }).toString();

/** Content of the keys file, how many keys it has. */
const KEYS: readonly (readonly [string, string, number])[] = [
  ['a PEM public key', pem('p256'), 1],
  ['a PEM public key after a comment', `the key of the issuer\n${pem('rsa')}\n\n`, 1],
  ['a PEM public key of PKCS #1', rsaOnly, 1],
  ['a JWK', JSON.stringify(jwkOf({ publicKey: publicKey('ed') }, 'ed')), 1],
  ['a JWKS', JSON.stringify(jwks(), null, 2), 6],
  [
    'a JWKS with a weak key',
    JSON.stringify({ keys: [...jwks().keys, jwkOf({ publicKey: weak }, 'weak')] }),
    6,
  ],
];

for (const [what, content, count] of KEYS) {
  test(`a keys file with ${what} has ${count}`, async () => {
    await using folder = await temporaryFolder();
    const file = await readKeysFile(await folder.write('keys', content));
    assert.equal(file.keys.length, count);
  });
}

const privatePem = privateKey('p256').export({ type: 'pkcs8', format: 'pem' }).toString();
const privateSec1 = privateKey('p256').export({ type: 'sec1', format: 'pem' }).toString();
const symmetric = { kty: 'oct', kid: 'shared', k: 'AAAA' };

const FAULTS: readonly (readonly [string, string, RegExp])[] = [
  ['nothing', '', /not a PEM public key, a JWK or a JWKS$/],
  ['text', 'a key', /not a PEM public key, a JWK or a JWKS$/],
  ['broken JSON', '{"keys":[', /not valid JSON$/],
  ['JSON with an escape outside of strings', '{"keys"\\u003a[]}', /not valid JSON$/],
  ['an empty JWKS', '{"keys":[]}', /must have a key that verifies signatures/],
  [
    'RSA of 1024 bits',
    JSON.stringify(jwkOf({ publicKey: weak }, 'weak')),
    /"weak".* at least 2048 bits, received 1024/,
  ],
  ['RSA of 1024 bits, PEM', weak.export({ type: 'spki', format: 'pem' }).toString(), /at least 2048 bits/],
  ['a private PEM key', privatePem, /private key/],
  ['a private PEM key of SEC 1', privateSec1, /private key/],
  ['an encrypted private PEM key', privatePem.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE'), /private key/],
  ['a public and a private PEM key', `${pem('p256')}${privatePem}`, /private key/],
  ['two public PEM keys', `${pem('p256')}${pem('rsa')}`, /not a PEM public key/],
  ['a certificate', '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----', /certificate/],
  [
    'a private JWK',
    JSON.stringify({ ...privateKey('ed').export({ format: 'jwk' }), kid: 'ed' }),
    /"ed": it is a private key/,
  ],
  ['a symmetric JWK', JSON.stringify(symmetric), /"shared": it is a symmetric key/],
  [
    'a symmetric key among good ones',
    JSON.stringify({ keys: [...jwks().keys, symmetric] }),
    /"shared": it is a symmetric key/,
  ],
  ['more than 64 KiB', `${pem('p256')}${' '.repeat(65_536)}`, /larger than 64 KiB/],
];

for (const [what, content, reason] of FAULTS) {
  test(`a keys file with ${what} is a fault`, async () => {
    await using folder = await temporaryFolder();
    const path = await folder.write('keys', content);
    await assert.rejects(readKeysFile(path), { name: 'NotUsable', message: reason });
  });
}

test('a keys file that is not there, and a folder, are faults', async () => {
  await using folder = await temporaryFolder();
  const missing = { name: 'NotUsable', message: 'there is no such file' };
  await assert.rejects(readKeysFile(join(folder.path, 'x')), missing);
  await assert.rejects(readKeysFile(folder.path), { message: 'it is not a regular file' });
});

test('a pipe in place of a keys file is a fault and not waited for', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'pipe');
  execFileSync('mkfifo', [path]);
  await assert.rejects(readKeysFile(path), { name: 'NotUsable', message: 'it is not a regular file' });
});
