import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseSecrets, readKeysFile, readSecretFile } from '../../src/auth/keys/files.ts';
import { asNotUsable } from '../../src/files.ts';
import { temporaryFolder } from '../folder.ts';
import { jwkOf, jwks, type KeyName, privateKey, publicKey } from './forge.ts';

/** What no file of keys or secrets may be. */
const UNREADABLE: readonly (readonly [string, (path: string) => unknown, string])[] = [
  ['nothing', () => undefined, 'there is no such file'],
  ['a folder', (path) => mkdir(path), 'it is not a regular file'],
  ['a pipe, which is not waited for', (path) => execFileSync('mkfifo', [path]), 'it is not a regular file'],
  ['a file of 64 KiB and a byte', (path) => writeFile(path, 'x'.repeat(65_537)), 'it is larger than 64 KiB'],
  ['a link that leads to itself', (path) => symlink(path, path), 'ELOOP'],
];

for (const read of [readKeysFile, readSecretFile]) {
  for (const [what, make, reason] of UNREADABLE) {
    test(`${read.name} · ${what} is a fault`, async () => {
      await using folder = await temporaryFolder();
      const path = join(folder.path, 'file');
      await make(path);
      await assert.rejects(read(path), { name: 'NotUsable', message: reason });
    });
  }
}

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
  ['a JWK', JSON.stringify(jwkOf(publicKey('ed'), 'ed')), 1],
  ['a JWKS', JSON.stringify(jwks(), null, 2), 6],
  ['a JWKS with a weak key', JSON.stringify({ keys: [...jwks().keys, jwkOf(weak, 'weak')] }), 6],
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
  ['RSA of 1024 bits', JSON.stringify(jwkOf(weak, 'weak')), /"weak".* at least 2048 bits, received 1024/],
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
];

for (const [what, content, reason] of FAULTS) {
  test(`a keys file with ${what} is a fault`, async () => {
    await using folder = await temporaryFolder();
    const path = await folder.write('keys', content);
    await assert.rejects(readKeysFile(path), { name: 'NotUsable', message: reason });
  });
}

const HEX = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';
const SECRET = Buffer.from('a secret of thirty-two bytes ...');

const OTHER = Buffer.from('another secret of as many bytes.');
const base64 = SECRET.toString('base64');
const [first, second] = [`base64:${base64}`, `base64:${OTHER.toString('base64')}`];

/** Content of the secret file, the secrets; undefined for what is no base64. */
const SECRETS: readonly (readonly [string, string | Buffer, ...(Buffer | undefined)[]])[] = [
  ['bytes', SECRET, SECRET],
  ['bytes and a line break', `${SECRET}\n`, SECRET],
  ['bytes and a line break of Windows', `${SECRET}\r\n`, SECRET],
  ['bytes and two line breaks', `${SECRET}\n\n`, Buffer.from(`${SECRET}\n`)],
  ['bytes that are a carriage return at the end', `${SECRET}\r`, Buffer.from(`${SECRET}\r`)],
  ['bytes that are no text', Buffer.from([0, 255, 10, 13, 0]), Buffer.from([0, 255, 10, 13, 0])],
  ['bytes, whatever the second line', `${SECRET}\n${second}`, Buffer.from(`${SECRET}\n${second}`)],
  ['64 hex digits, which stay digits', HEX, Buffer.from(HEX)],
  ['base64 without the word', base64, Buffer.from(base64)],
  ['nothing', '', Buffer.alloc(0)],
  ['base64', first, SECRET],
  ['base64 and a line break', `${first}\n`, SECRET],
  ['base64 in lines of Windows', `base64:\r\n${base64.replaceAll(/.{20}/g, '$&\r\n')}\r\n`, SECRET],
  ['two secrets', `${first}\n${second}\n`, SECRET, OTHER],
  ['two secrets, Windows, no last line break', `${first}\r\n${second}`, SECRET, OTHER],
  ['two secrets and empty lines', `${first}\n\n\n${second}\n\n`, SECRET, OTHER],
  ['two secrets, cut', `${first.slice(0, 20)}\n${first.slice(20)}\n${second}`, SECRET, OTHER],
  ...['AAA', 'AA=A', 'A A=', '_-8=', 'AB==', 'not base64!'].map(
    (text) => [`"${text}", no base64`, `base64:${text}`, undefined] as const,
  ),
];

for (const [what, content, ...secrets] of SECRETS) {
  test(`a secret file with ${what} is read as it says, in its order`, () => {
    assert.deepEqual(parseSecrets(Buffer.from(content)), secrets);
  });
}

test('the command of docs/identity-providers.md makes a file with one secret, which only its owner reads', {
  skip: spawnSync('openssl', ['version']).error !== undefined && 'needs openssl',
}, async () => {
  await using folder = await temporaryFolder();
  const [, command = ''] =
    /^```sh\n(.*openssl rand.*)$/m.exec(readFileSync('docs/identity-providers.md', 'utf8')) ?? [];
  execFileSync('sh', ['-c', command], { cwd: folder.path });
  const file = await readSecretFile(join(folder.path, 'secret'));
  assert.deepEqual([file.secrets.map((secret) => secret.length), file.readableByOthers], [[64], false]);
});

/** A secret will not do, or their number: what is said, without any of the content. */
const UNSOUND: readonly (readonly [string, string | Buffer, RegExp])[] = [
  ['six secrets', lines(6), /^it must hold at most 5 secrets, received 6$/],
  ['the same secret twice', `${first}\n${second}\n${first}\n`, /^it must not hold the same secret twice$/],
  [
    'a secret and the same with a zero behind it, which HMAC takes for the same',
    `${first}\nbase64:${Buffer.concat([SECRET, Buffer.alloc(1)]).toString('base64')}\n`,
    /^it must not hold the same secret twice$/,
  ],
  ['a second one that is cut off', `${first}\n${second.slice(0, -2)}`, /^secret 2 must be base64 with/],
  ['a second one that is empty', `${first}\nbase64:\n`, /^secret 2 must have at least 32 bytes .* 0 bytes$/],
  ['a note behind it', `${first} # until June\n${second}`, /^secret 1 must be base64 with/],
  ['a note above the second', `${first}\n# the new one\n${second}`, /^secret 1 must be base64 with/],
  ['a NUL in it', `${first}\n${second}\0`, /^secret 2 must be base64 with/],
  ['one of equal bytes', `${first}\nbase64:${'A'.repeat(42)}A=\n`, /^secret 2 must be random bytes/],
  [
    'a public key',
    `${first}\nbase64:${publicKey('rsa').export({ type: 'spki', format: 'der' }).toString('base64')}`,
    /^secret 2 must be an HMAC secret, received what looks like a key/,
  ],
  [
    'the secret of development',
    `${first}\nbase64:${Buffer.concat([Buffer.from('todo-service development'), SECRET]).toString('base64')}`,
    /^secret 2 must not be a development key$/,
  ],
  ['31 bytes', SECRET.subarray(1), /^it must have at least 32 bytes \(RFC 7518 §3\.2\), received 31 bytes$/],
  ['32 times a NUL', '\0'.repeat(32), /^it must be random bytes, received 32 times the same byte$/],
  ['64 times a letter', 'x'.repeat(64), /^it must be random bytes, received 64 times the same byte$/],
  ['a byte order mark', `\uFEFF${first}\n${second}\n`, /^it must begin with "base64:"/],
  ['UTF-16', Buffer.from(`\uFEFF${first}\r\n`, 'utf16le'), /^it must begin with "base64:"/],
  ['an empty line above', `\n${first}\n`, /^it must begin with "base64:"/],
  [
    'base64 of the whole file',
    `base64:${Buffer.from(first).toString('base64')}`,
    /^it must begin with "base64:"/,
  ],
];

function lines(count: number): string {
  const secrets = Array.from({ length: count }, () => randomBytes(32).toString('base64'));
  return secrets.map((secret) => `base64:${secret}\n`).join('');
}

for (const [what, content, reason] of UNSOUND) {
  test(`a secret file with ${what} is a fault, which quotes nothing of it`, async () => {
    await using folder = await temporaryFolder();
    const path = await folder.write('secret', content);
    const { message } = await readSecretFile(path).then(() => assert.fail('it was read'), asNotUsable);
    assert.match(message, reason);
    assert.ok(!message.includes(second.slice(7, 15)) && !message.includes(first.slice(7, 15)));
  });
}

test('five secrets are as many as a file may hold', async () => {
  await using folder = await temporaryFolder();
  const file = await readSecretFile(await folder.write('secret', lines(5)));
  assert.equal(file.secrets.length, 5);
});
