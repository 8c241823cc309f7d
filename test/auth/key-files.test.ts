import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readKeysFile, readSecretFile } from '../../src/auth/keys/files.ts';
import { asNotUsable } from '../../src/lib/errors.ts';
import { temporaryFolder } from '../support/folder.ts';
import { quoted } from '../support/quoted.ts';
import { jwkOf, jwks, type KeyName, privateKey, publicKey } from './forge.ts';

/** What no file of keys or secrets may be. */
const UNREADABLE: readonly (readonly [string, (path: string) => unknown, string])[] = [
  ['nothing', () => undefined, 'there is no such file'],
  ['a folder', (path) => mkdir(path), 'it is not a regular file'],
  ['a pipe, which is not waited for', (path) => execFileSync('mkfifo', [path]), 'it is not a regular file'],
  ['a link that leads to itself', (path) => symlink(path, path), 'ELOOP'],
];

for (const read of [readKeysFile, readSecretFile]) {
  for (const text of [
    '-----BEGIN PUBLIC KEY-----',
    '{"keys":[]}',
    'text:a secret of more than thirty-two bytes',
  ]) {
    test(`${read.name} · a file in UTF-16, with its mark or without, is a fault: ${text}`, async () => {
      await using folder = await temporaryFolder();
      for (const marked of [text, `\ufeff${text}`]) {
        const bytes = Buffer.from(marked, 'utf16le');
        for (const written of [bytes, Buffer.from(bytes).swap16()]) {
          const path = await folder.write('file', written);
          await assert.rejects(read(path), { message: 'it is in UTF-16: write it in UTF-8' });
        }
      }
    });
  }

  for (const [what, make, reason] of UNREADABLE) {
    test(`${read.name} · ${what} is a fault`, async () => {
      await using folder = await temporaryFolder();
      const path = join(folder.path, 'file');
      await make(path);
      await assert.rejects(read(path), { name: 'NotUsable', message: reason });
    });
  }
}

for (const [read, kiB] of [
  [readKeysFile, 512],
  [readSecretFile, 64],
] as const) {
  test(`${read.name} · a file of ${kiB} KiB and a byte is a fault`, async () => {
    await using folder = await temporaryFolder();
    const path = await folder.write('file', 'x'.repeat(kiB * 1024 + 1));
    await assert.rejects(read(path), { name: 'NotUsable', message: `it is larger than ${kiB} KiB` });
  });
}

function pem(name: KeyName): string {
  return publicKey(name).export({ type: 'spki', format: 'pem' }).toString();
}

const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
const rsaOnly = publicKey('rsa').export({ type: 'pkcs1', format: 'pem' }).toString();

/** Content of the keys file, how many keys it has, and the ids of those that are skipped. */
const KEYS: readonly (readonly [string, string, number, skipped?: string])[] = [
  ['a PEM public key', pem('p256'), 1],
  ['a PEM public key behind a byte order mark', `\ufeff${pem('rsa')}`, 1],
  ['a PEM public key with the line breaks of Windows', pem('rsa').replaceAll('\n', '\r\n'), 1],
  ['a PEM public key after a comment', `the key of the issuer\n${pem('rsa')}\n\n`, 1],
  ['a PEM public key of PKCS #1', rsaOnly, 1],
  ['a JWK', JSON.stringify(jwkOf(publicKey('ed'), 'ed')), 1],
  ['a JWKS behind a byte order mark', `\uFEFF${JSON.stringify(jwks())}`, 6],
  ['a JWKS', JSON.stringify(jwks(), null, 2), 6],
  ['a JWKS with a weak key', JSON.stringify({ keys: [...jwks().keys, jwkOf(weak, 'weak')] }), 6, 'weak'],
];

for (const [what, content, count, ...skipped] of KEYS) {
  test(`a keys file with ${what} has ${count}`, async () => {
    await using folder = await temporaryFolder();
    const file = await readKeysFile(await folder.write('keys', content));
    assert.equal(file.keys.length, count);
    assert.equal(file.readableByOthers, false, 'which is no fault of public keys');
    assert.deepEqual(
      file.skipped.map(({ keyId }) => keyId),
      skipped,
    );
  });
}

const privatePem = privateKey('p256').export({ type: 'pkcs8', format: 'pem' }).toString();
const privateSec1 = privateKey('p256').export({ type: 'sec1', format: 'pem' }).toString();
const symmetric = { kty: 'oct', kid: 'shared', k: 'AAAA' };

/** Made with `openssl req -x509 -newkey ed25519 -nodes -subj /CN=todo`. */
const CERTIFICATE =
  'MIIBMjCB5aADAgECAhQuSPEqNdj3jzZKugwwSaEeARqyJjAFBgMrZXAwDzENMAsGA1UEAwwEdG9kbzAeFw0yNjExMjExOTQy' +
  'NTJaFw0zNjExMTgxOTQyNTJaMA8xDTALBgNVBAMMBHRvZG8wKjAFBgMrZXADIQBKuCGdGEs4hxoKyz9F9Iso/YNgHmiRZxDK' +
  'HVr/BDquCKNTMFEwHQYDVR0OBBYEFPerxPkfATurXUlBKZkX3l+VgHmaMB8GA1UdIwQYMBaAFPerxPkfATurXUlBKZkX3l+V' +
  'gHmaMA8GA1UdEwEB/wQFMAMBAf8wBQYDK2VwA0EAImSZB9Z2caLJuefxr1SdSxl2orwOXiMzykh/ZkWFYfX9JAwAyZyz18pi' +
  'c5ZDC4Nz8T8M/9HJwRkDc4ZwCp+fAQ==';

const BROKEN =
  /^its PEM key is broken: its lines stand without blanks before them between "-----BEGIN PUBLIC KEY-----" and "-----END/;
const BARE =
  /^it is a key or a certificate without PEM: a public key stands in base64 between "-----BEGIN PUBLIC KEY-----" and "-----END/;

const FAULTS: readonly (readonly [string, string | Buffer, RegExp])[] = [
  ['nothing', '', /not a PEM public key, a JWK or a JWKS$/],
  ...['a key', 'no ssh-rsa key'].map(
    (text) => [`the text ${text}`, text, /not a PEM public key, a JWK or a JWKS$/] as const,
  ),
  [
    'a certificate',
    `-----BEGIN CERTIFICATE-----\n${CERTIFICATE}\n-----END CERTIFICATE-----\n`,
    /^it is a certificate \(openssl x509 -pubkey -noout prints its public key\)$/,
  ],
  ...['ssh-rsa AAAAB3NzaC1yc2E= ada@example', 'ecdsa-sha2-nistp256 AAAAE2VjZHNh', 'ssh-ed25519 AAAA'].map(
    (text) =>
      [
        `the key ${text}`,
        text,
        /^it is a key of OpenSSH, which "ssh-keygen -e -m PKCS8 -f FILE" writes in PEM, but for Ed25519$/,
      ] as const,
  ),
  ['broken JSON', '{"keys":[', /not valid JSON$/],
  ['JSON with an escape outside of strings', '{"keys"\\u003a[]}', /not valid JSON$/],
  ['an empty JWKS', '{"keys":[]}', /must have a key that verifies signatures/],
  ['RSA of 1024 bits', JSON.stringify(jwkOf(weak, 'weak')), /"weak".* at least 2048 bits, received 1024/],
  ['RSA of 1024 bits, PEM', weak.export({ type: 'spki', format: 'pem' }).toString(), /at least 2048 bits/],
  ...[
    { ...privateKey('p256').export({ format: 'jwk' }), kid: 'a' },
    { ...symmetric, kid: 'a' },
  ].map(
    (jwk) =>
      [
        `${jwk.kty === 'oct' ? 'a symmetric' : 'a private'} key among those of a JWKS`,
        JSON.stringify({ keys: [...jwks().keys, jwk] }),
        /^the key "a": it is a (?:private|symmetric) key$/,
      ] as const,
  ),
  ['a private PEM key', privatePem, /private key/],
  ['a private PEM key of SEC 1', privateSec1, /private key/],
  ['an encrypted private PEM key', privatePem.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE'), /private key/],
  ['a public and a private PEM key', `${pem('p256')}${privatePem}`, /private key/],
  ['a PEM public key that is cut off', `${pem('p256').slice(0, 60)}\n-----END PUBLIC KEY-----\n`, BROKEN],
  ['a PEM public key without its end', pem('rsa').slice(0, -40), BROKEN],
  ['a PEM public key that is indented', pem('rsa').replaceAll(/^/gm, '  '), BROKEN],
  ['a PEM public key in one line', pem('rsa').replaceAll('\n', ' '), BROKEN],
  [
    'two public PEM keys',
    `${pem('p256')}${pem('rsa')}`,
    /^it has 2 PEM keys: a PEM file has one, a JWKS has several$/,
  ],
  ...['\\n', '\\r\\n'].map(
    (written) =>
      [
        `a PEM public key whose line breaks are ${written}`,
        pem('rsa').replaceAll('\n', written),
        /^its line breaks are written as "\\n": they must be real ones$/,
      ] as const,
  ),
  [
    'a PEM public key as a string of JSON',
    JSON.stringify(pem('ed')),
    /^its line breaks are written as "\\n"/,
  ],
  ...(['rsa', 'p256', 'ed'] as const).flatMap((name) => {
    const bare = pem(name).split('\n').slice(1, -2);
    return ['', '\n'].map((between) => [`the bare base64 of ${name}`, bare.join(between), BARE] as const);
  }),
  ['the bare base64 of PKCS #1', rsaOnly.split('\n').slice(1, -2).join(''), BARE],
  ['a key in DER', publicKey('rsa').export({ type: 'spki', format: 'der' }), BARE],
  ['the bare base64 of a private key', privatePem.split('\n').slice(1, -2).join(''), BARE],
  ['the bare base64 of a certificate', CERTIFICATE, BARE],
  ['a certificate in DER', Buffer.from(CERTIFICATE, 'base64'), BARE],
];

for (const [what, content, reason] of FAULTS) {
  test(`a keys file with ${quoted(what)} is a fault`, async () => {
    await using folder = await temporaryFolder();
    const path = await folder.write('keys', content);
    await assert.rejects(readKeysFile(path), { name: 'NotUsable', message: reason });
  });
}

const SECRET = Buffer.from('a secret of thirty-two bytes ...');
const OTHER = Buffer.from('another secret of as many bytes.');
const base64 = SECRET.toString('base64');
const [first, second] = [`base64:${base64}`, `base64:${OTHER.toString('base64')}`];
const HEX = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';

/** Content of the secret file, the secrets. */
const SECRETS: readonly (readonly [string, string | Buffer, ...Buffer[]])[] = [
  ['base64', first, SECRET],
  ['base64 and a line break', `${first}\n`, SECRET],
  ['text, of which nothing but the line break is dropped', 'text: base64:äöü secret of text 💡 \n', text()],
  ['64 hex digits, which stay digits', `text:${HEX}`, Buffer.from(HEX)],
  ['two secrets, Windows, no last line break', `${first}\r\ntext:${OTHER}`, SECRET, OTHER],
  ['two secrets and empty lines', `\n${first}\n\n\n${second}\n\n`, SECRET, OTHER],
];

function text(): Buffer {
  return Buffer.from(' base64:äöü secret of text 💡 ');
}

for (const [what, content, ...secrets] of SECRETS) {
  test(`readSecretFile · a file with ${what} is read as it says, in its order`, async () => {
    await using folder = await temporaryFolder();
    assert.deepEqual((await readSecretFile(await folder.write('secret', content))).secrets, secrets);
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

/** What is taken for a secret by mistake. */
const KEYS_IN_DER = [
  ...(['rsa', 'p256', 'p521', 'ed'] as const).map((name) =>
    publicKey(name).export({ type: 'spki', format: 'der' }),
  ),
  publicKey('rsa').export({ type: 'pkcs1', format: 'der' }),
  privateKey('rsa').export({ type: 'pkcs1', format: 'der' }),
  privateKey('p256').export({ type: 'sec1', format: 'der' }),
  privateKey('ed').export({ type: 'pkcs8', format: 'der' }),
  Buffer.from(CERTIFICATE, 'base64'),
];

/** A secret will not do, or their number: what is said, without any of the content. */
const UNSOUND: readonly (readonly [string, string | Buffer, RegExp])[] = [
  ['nothing', '', /^it must hold a line that begins with "base64:" or "text:"$/],
  ['six secrets', lines(6), /^it must hold at most 5 secrets, received 6$/],
  [
    'the same secret twice',
    `${first}\n${second}\ntext:${SECRET}\n`,
    /^it must not hold the same secret twice$/,
  ],
  [
    'a secret and the same with a zero behind it, which HMAC takes for the same',
    `${first}\nbase64:${Buffer.concat([SECRET, Buffer.alloc(1)]).toString('base64')}\n`,
    /^it must not hold the same secret twice$/,
  ],
  ...['AAA', 'AA=A', 'A A=', '_-8=', 'AB==', 'not base64!', `${base64} # until June`, `${base64}\0`].map(
    (encoded) => [`base64:${encoded}`, `${first}\nbase64:${encoded}`, /^line 2 must be base64 with/] as const,
  ),
  ['a second one that is empty', `${first}\nbase64:\n`, /^line 2 must have at least 32 bytes .* 0 bytes$/],
  [
    '31 bytes',
    `text:${SECRET.subarray(1)}`,
    /^line 1 must have at least 32 bytes \(RFC 7518 §3\.2\), received 31/,
  ],
  ['one of equal bytes', `${first}\nbase64:${'A'.repeat(42)}A=\n`, /^line 2 must be random bytes/],
  [
    'the secret of development',
    `${first}\nbase64:${Buffer.concat([Buffer.from('todo-service development'), SECRET]).toString('base64')}`,
    /^line 2 must not be a development key$/,
  ],
  ...[
    ['bytes as they are', SECRET],
    ['base64 that goes on in a second line', `${first}\n${base64}\n`],
    ['a note above', `# the new one\n${first}`],
    ['a byte order mark', `\uFEFF${first}\n`],
    ['a JWK', JSON.stringify(symmetric)],
    ['a PEM public key', pem('rsa')],
  ].map(
    ([what, content = '']) =>
      [`${what}`, content, /^line [12] must be a secret, which begins with "base64:" or "text:"$/] as const,
  ),
  ...[pem('rsa'), pem('p256'), privatePem].map(
    (text) =>
      [
        'base64 of a key in PEM',
        `base64:${Buffer.from(text).toString('base64')}`,
        /^line 1 must be an HMAC secret, received a key or/,
      ] as const,
  ),
  ...KEYS_IN_DER.flatMap((der) => [
    [
      'a key in DER',
      `${first}\nbase64:${der.toString('base64')}`,
      /^line 2 must be an HMAC secret, received a key or/,
    ] as const,
    [
      'base64 of a key as text',
      `text:${der.toString('base64')}`,
      /^line 1 must be an HMAC secret, received a key or/,
    ] as const,
  ]),
];

function lines(count: number): string {
  const secrets = Array.from({ length: count }, () => randomBytes(32).toString('base64'));
  return secrets.map((secret) => `base64:${secret}\n`).join('');
}

for (const [what, content, reason] of UNSOUND) {
  test(`a secret file with ${quoted(what)} is a fault, which quotes nothing of it`, async () => {
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

test('readSecretFile takes random bytes for no key in DER, whatever they begin with', async () => {
  await using folder = await temporaryFolder();
  for (let round = 0; round < 200; round += 1) {
    const secret = Buffer.concat([Buffer.from([0x30, 0x20 + (round % 100)]), randomBytes(32 + (round % 70))]);
    await readSecretFile(await folder.write('secret', `base64:${secret.toString('base64')}`));
  }
});
