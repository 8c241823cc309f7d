import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { parseSecrets, readSecretFile } from '../../src/auth/keys/files.ts';
import { openKeys } from '../../src/auth/keys/source.ts';
import { asNotUsable } from '../../src/files.ts';
import { tellBy } from '../../src/observe/log.ts';
import { temporaryFolder } from '../folder.ts';
import { publicKey } from './forge.ts';
import { silent, TRUST } from './trust.ts';

const HEX = '00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff';
const SECRET = Buffer.from('a secret of thirty-two bytes ...');

/** Content of the secret file, the secret. */
const SECRETS: readonly (readonly [string, string | Buffer, Buffer])[] = [
  ['bytes', SECRET, SECRET],
  ['bytes and a line break', `${SECRET}\n`, SECRET],
  ['bytes and a line break of Windows', `${SECRET}\r\n`, SECRET],
  ['bytes and two line breaks', `${SECRET}\n\n`, Buffer.from(`${SECRET}\n`)],
  ['bytes that are a carriage return at the end', `${SECRET}\r`, Buffer.from(`${SECRET}\r`)],
  ['64 hex digits, which stay digits', HEX, Buffer.from(HEX)],
  ['base64 without the word', SECRET.toString('base64'), Buffer.from(SECRET.toString('base64'))],
  ['base64', `base64:${SECRET.toString('base64')}`, SECRET],
  ['base64 and a line break', `base64:${SECRET.toString('base64')}\n`, SECRET],
  [
    'base64 in several lines',
    `base64:\n${SECRET.toString('base64')
      .match(/.{1,20}/g)
      ?.join('\r\n')}\n`,
    SECRET,
  ],
  ['bytes that are no text', Buffer.from([0, 255, 10, 13, 0]), Buffer.from([0, 255, 10, 13, 0])],
  ['nothing', '', Buffer.alloc(0)],
];

for (const [what, content, secret] of SECRETS) {
  test(`a secret file with ${what} is read as it says`, () => {
    assert.deepEqual(parseSecrets(Buffer.from(content)), [secret]);
  });
}

const OTHER = Buffer.from('another secret of as many bytes.');
const [first = '', second = ''] = [SECRET, OTHER].map((secret) => `base64:${secret.toString('base64')}`);

for (const [what, content, secrets] of [
  ['two lines', `${first}\n${second}\n`, [SECRET, OTHER]],
  ['two lines of Windows without the last line break', `${first}\r\n${second}`, [SECRET, OTHER]],
  ['empty lines between and behind', `${first}\n\n\n${second}\n\n`, [SECRET, OTHER]],
  [
    'secrets that go on in the next line',
    `${first.slice(0, 20)}\n${first.slice(20)}\nbase64:\n${second.slice(7)}\n`,
    [SECRET, OTHER],
  ],
  ['a raw secret, whatever its second line', `${SECRET}\n${second}`, [Buffer.from(`${SECRET}\n${second}`)]],
] as const) {
  test(`a secret file with ${what} is read as it says, in its order`, async () => {
    await using folder = await temporaryFolder();
    const file = await readSecretFile(await folder.write('secret', content));
    assert.deepEqual(
      [file.secrets, file.keys.length, file.readableByOthers],
      [secrets, secrets.length, false],
    );
  });
}

test('the command of docs/identity-providers.md makes a file with one secret, which only its owner reads', async () => {
  await using folder = await temporaryFolder();
  const [, command = ''] =
    /^```sh\n(.*openssl rand.*)$/m.exec(readFileSync('docs/identity-providers.md', 'utf8')) ?? [];
  execFileSync('sh', ['-c', command], { cwd: folder.path });
  const file = await readSecretFile(join(folder.path, 'secret'));
  assert.deepEqual([file.secrets.map((secret) => secret.length), file.readableByOthers], [[64], false]);
});

/** Of two or more secrets one will not do, or their number: what is said, without any of the content. */
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

for (const [what, make, reason] of [
  ['a folder', (path: string) => mkdir(path), 'it is not a regular file'],
  [
    'a file of 64 KiB and a byte',
    (path: string) => writeFile(path, 'x'.repeat(65_537)),
    'it is larger than 64 KiB',
  ],
  ['a link that leads to itself', (path: string) => symlink(path, path), 'ELOOP'],
] as const) {
  test(`${what} in place of a secret file is a fault`, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'secret');
    await make(path);
    await assert.rejects(readSecretFile(path), { name: 'NotUsable', message: reason });
  });
}

for (const content of [
  'base64:AAA',
  'base64:AA=A',
  'base64:A A=',
  'base64:_-8=',
  'base64:AB==',
  'base64:not base64!',
]) {
  test(`${JSON.stringify(content)} is no base64 and no guess is made`, async () => {
    await using folder = await temporaryFolder();
    await assert.rejects(readSecretFile(await folder.write('secret', content)), { name: 'NotUsable' });
  });
}

test('a secret file that every user of the machine may read gets a line in the log, others do not', async () => {
  await using folder = await temporaryFolder();
  const path = await folder.write('secret', SECRET);
  for (const [mode, events] of [
    [0o644, ['secret-file-readable']],
    [0o640, []],
    [0o400, []],
  ] as const) {
    await chmod(path, mode);
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
    const settings = {
      ...TRUST,
      source: { kind: 'secret-file', path },
      keysCooldownMs: 30_000,
      keysRefreshMs: 600_000,
    } as const;
    await using _keys = await openKeys(settings, { tell: tellBy(log) });
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).event),
      events,
      mode.toString(8),
    );
  }
});

test('a secret file that is not there is a fault', async () => {
  await using folder = await temporaryFolder();
  const missing = { name: 'NotUsable', message: 'there is no such file' };
  await assert.rejects(readSecretFile(join(folder.path, 'x')), missing);
});

test('a pipe in place of a secret file is a fault and not waited for', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'pipe');
  execFileSync('mkfifo', [path]);
  await assert.rejects(readSecretFile(path), { name: 'NotUsable', message: 'it is not a regular file' });
});

test('a secret file that is gone when it is opened is no bug: the error is one for people', async () => {
  const source = { kind: 'secret-file', path: '/nonexistent/secret' } as const;
  const settings = { ...TRUST, source, keysCooldownMs: 30_000, keysRefreshMs: 600_000 };
  await assert.rejects(openKeys(settings, { tell: silent }), {
    name: 'NotUsable',
    message: 'The secret file "/nonexistent/secret" has changed: there is no such file',
  });
});
