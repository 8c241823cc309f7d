import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { readSecretFile } from '../../src/auth/keys/files.ts';
import { openKeys } from '../../src/auth/keys/open.ts';
import { tellBy } from '../../src/observe/log.ts';
import { temporaryFolder } from './folder.ts';
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
  test(`a secret file with ${what} is read as it says`, async () => {
    await using folder = await temporaryFolder();
    const file = await readSecretFile(await folder.write('secret', content));
    assert.deepEqual(file, { outcome: 'read', secret, readableByOthers: false });
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
    assert.equal((await readSecretFile(await folder.write('secret', content))).outcome, 'failed');
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
  const file = await readSecretFile(join(folder.path, 'x'));
  assert.deepEqual(file, { outcome: 'failed', reason: 'there is no such file' });
});

test('a pipe in place of a secret file is a fault and not waited for', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'pipe');
  execFileSync('mkfifo', [path]);
  assert.deepEqual(await readSecretFile(path), { outcome: 'failed', reason: 'it is not a regular file' });
});

test('a secret file that is gone when it is opened is no bug: the error is one for people', async () => {
  const source = { kind: 'secret-file', path: '/nonexistent/secret' } as const;
  const settings = { ...TRUST, source, keysCooldownMs: 30_000, keysRefreshMs: 600_000 };
  await assert.rejects(openKeys(settings, { tell: silent }), {
    name: 'KeysNotOpened',
    message: 'The secret file "/nonexistent/secret" has changed: there is no such file',
  });
});
