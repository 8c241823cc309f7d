import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { recognizeKey } from './recognize.ts';

const PAIRS = {
  RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'P-521': generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  Ed25519: generateKeyPairSync('ed25519'),
};

/** Made with `openssl req -x509 -newkey ed25519 -nodes -subj /CN=todo`. */
const CERTIFICATE =
  'MIIBMjCB5aADAgECAhQuSPEqNdj3jzZKugwwSaEeARqyJjAFBgMrZXAwDzENMAsGA1UEAwwEdG9kbzAeFw0yNjExMjExOTQy' +
  'NTJaFw0zNjExMTgxOTQyNTJaMA8xDTALBgNVBAMMBHRvZG8wKjAFBgMrZXADIQBKuCGdGEs4hxoKyz9F9Iso/YNgHmiRZxDK' +
  'HVr/BDquCKNTMFEwHQYDVR0OBBYEFPerxPkfATurXUlBKZkX3l+VgHmaMB8GA1UdIwQYMBaAFPerxPkfATurXUlBKZkX3l+V' +
  'gHmaMA8GA1UdEwEB/wQFMAMBAf8wBQYDK2VwA0EAImSZB9Z2caLJuefxr1SdSxl2orwOXiMzykh/ZkWFYfX9JAwAyZyz18pi' +
  'c5ZDC4Nz8T8M/9HJwRkDc4ZwCp+fAQ==';

/** Made with `ssh-keygen`. */
const SSH_KEYS = [
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIItSGuYoLKvQotp5rnMOdyUoYvsY9jAqY9Vf/Mp7UAar todo',
  'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBJEfZEC95wqtswcVP7fzET7DXtJIgZyKbTj' +
    'zoSFbJy2z6wNgluyWgmnZvCWuYs63BhhBHVFdoNg/zRT095RZ5MY= todo',
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDJtodo',
  '---- BEGIN SSH2 PUBLIC KEY ----\nAAAAC3NzaC1lZDI1NTE5AAAAIItSGuYoLKvQotp5rnMOdyUoYvsY9jAqY9Vf/Mp7UAar',
];

const IN_DER = 'a key or a certificate in DER';
const IN_BASE64 = 'a key or a certificate in base64';
const IN_PEM = 'a key or a certificate in PEM';
const JWK = 'a JWK or a JWKS';

function der(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

function pem(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'pem' }).toString();
}

/** The forms in which a public key or a certificate comes, by what the message calls them. */
function forms(key: KeyObject): readonly (readonly [string, string | Buffer, string])[] {
  const base64 = der(key).toString('base64');
  const lines = base64.match(/.{1,64}/g)?.join('\n') ?? '';
  const jwk = key.export({ format: 'jwk' });
  return [
    ['DER', der(key), IN_DER],
    ['DER and a line break', Buffer.concat([der(key), Buffer.from('\n')]), IN_DER],
    ['hexadecimal', der(key).toString('hex'), 'a key or a certificate in hexadecimal'],
    ['base64', base64, IN_BASE64],
    ['base64 in lines', lines, IN_BASE64],
    ['base64 in lines of Windows', lines.replaceAll('\n', '\r\n'), IN_BASE64],
    ['base64 in lines that end in blanks', lines.replaceAll('\n', ' \t\n'), IN_BASE64],
    ['base64 in lines in a column', lines.replaceAll('\n', '\n    '), IN_BASE64],
    ['base64 in words', lines.replaceAll('\n', ' '), IN_BASE64],
    ['base64 in quoted lines', lines.replaceAll('\n', '",\n"'), IN_BASE64],
    ['base64 in quotation marks', `"${base64}"`, IN_BASE64],
    ['base64 after a comment', `# the key of the realm\n${lines}`, IN_BASE64],
    ['base64 after a byte order mark', `\ufeff${base64}`, IN_BASE64],
    ['base64url', der(key).toString('base64url'), IN_BASE64],
    ['base64 of PEM', Buffer.from(pem(key)).toString('base64'), IN_BASE64],
    ['PEM', pem(key), IN_PEM],
    ['PEM after a byte order mark', `\ufeff${pem(key)}`, IN_PEM],
    ['PEM in UTF-16', Buffer.from(`\ufeff${pem(key)}`, 'utf16le'), IN_PEM],
    ['PEM after a comment', `the key of the issuer\n${pem(key)}`, IN_PEM],
    ['PEM after bag attributes', `Bag Attributes\n    localKeyID: 01 02\n${pem(key)}`, IN_PEM],
    ['PEM in quotation marks', JSON.stringify(pem(key)), IN_PEM],
    ['PEM without line breaks', pem(key).replaceAll('\n', ''), IN_PEM],
    ['a JWK', JSON.stringify(jwk), JWK],
    ['a list of JWKs', JSON.stringify([jwk, jwk]), JWK],
    ['a JWKS', `\ufeff  ${JSON.stringify({ keys: [jwk] }, null, 2)}`, JWK],
    ['a JWK in base64', Buffer.from(JSON.stringify(jwk)).toString('base64'), IN_BASE64],
    ['the description of a realm', JSON.stringify({ realm: 'todo', public_key: base64 }), IN_BASE64],
  ];
}

for (const [type, { publicKey }] of Object.entries(PAIRS)) {
  for (const [what, content, says] of forms(publicKey)) {
    test(`RFC 8725 §2.1 · a public ${type} key as ${what} is recognized`, () => {
      assert.equal(recognizeKey(Buffer.from(content)), says);
    });
  }
}

const { RSA, 'P-256': P256 } = PAIRS;

/** What else comes as DER, and in base64. */
const OTHERS: readonly (readonly [string, Buffer])[] = [
  ['a public RSA key of PKCS #1', RSA.publicKey.export({ type: 'pkcs1', format: 'der' })],
  ['a private RSA key of PKCS #1', RSA.privateKey.export({ type: 'pkcs1', format: 'der' })],
  ['a private P-256 key of SEC 1', P256.privateKey.export({ type: 'sec1', format: 'der' })],
  ['a certificate', Buffer.from(CERTIFICATE, 'base64')],
  ...Object.entries(PAIRS).map(
    ([type, { privateKey }]) =>
      [`a private ${type} key of PKCS #8`, privateKey.export({ type: 'pkcs8', format: 'der' })] as const,
  ),
];

for (const [what, bytes] of OTHERS) {
  test(`${what} is recognized, in DER and in base64`, () => {
    assert.equal(recognizeKey(bytes), IN_DER);
    assert.equal(recognizeKey(Buffer.from(bytes.toString('base64'))), IN_BASE64);
  });
}

for (const [text, says] of [
  ['-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n', IN_PEM],
  ['{"kty":"EC","crv":"P-256"}', JWK],
  [' { "keys": [ { "n": "0vx7" } ] }', JWK],
] as const) {
  test(`${JSON.stringify(text)} is no sound key and recognized as what it looks like`, () => {
    assert.equal(recognizeKey(Buffer.from(text)), says);
  });
}

for (const line of SSH_KEYS) {
  test(`a key of SSH is recognized, with its base64 alone and its bytes: ${line.slice(0, 30)}`, () => {
    assert.match(recognizeKey(Buffer.from(line)) ?? '', /^a key of SSH$|PEM$/);
    const base64 = /AAAA\S+/.exec(line)?.[0] ?? '';
    assert.equal(recognizeKey(Buffer.from(base64)), 'a key of SSH');
    assert.equal(recognizeKey(Buffer.from(base64, 'base64')), 'a key of SSH');
  });
}

test('random bytes, and their spellings, are no key', () => {
  for (let round = 0; round < 2_000; round += 1) {
    // Every second begins as DER does.
    const secret = Buffer.concat([
      Buffer.from(round % 2 === 0 ? [0x30, 0x20] : []),
      randomBytes(32 + (round % 40)),
    ]);
    for (const spelling of ['hex', 'base64', 'base64url'] as const) {
      assert.equal(recognizeKey(Buffer.from(secret.toString(spelling))), undefined);
    }
    assert.equal(recognizeKey(secret), undefined);
  }
});

for (const piece of [
  'M',
  'AAAA',
  '30',
  'MAAAAAAAAAAAAAAAAA\n',
  '-----BEGIN ',
  '---- BEGIN ',
  '\\n',
  '"',
  'M '.repeat(9),
]) {
  test(`64 KiB of ${JSON.stringify(piece)} are looked through`, () => {
    recognizeKey(Buffer.from(piece.repeat(65_536 / piece.length)));
  });
}
