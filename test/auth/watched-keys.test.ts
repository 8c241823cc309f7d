import assert from 'node:assert/strict';
import { rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pino from 'pino';
import { authenticateWith } from '../../src/auth/authenticate.ts';
import { openWatchedKeys } from '../../src/auth/keys/files.ts';
import type { Keys } from '../../src/auth/keys/keys.ts';
import { tellBy } from '../../src/observe/log.ts';
import { type Folder, temporaryFolder } from '../folder.ts';
import { draft, forge, jwkOf, type KeyName, privateKey, publicKey } from './forge.ts';
import { silent, TRUST } from './trust.ts';

const privatePem = privateKey('p256').export({ type: 'pkcs8', format: 'pem' }).toString();

function only(...names: readonly KeyName[]): string {
  return JSON.stringify({ keys: names.map((name) => jwkOf({ publicKey: publicKey(name) }, name)) });
}

/** Opens a watched file, looked at when the test says so. */
async function watch(path: string, lines: string[] = []) {
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
  const keys: Keys = await openWatchedKeys(
    { kind: 'keys-file', path },
    { tell: tellBy(log), intervalMs: 1e9 },
  );
  const authenticate = authenticateWith({ ...TRUST, keys, now: Date.now });
  return {
    keys,
    codeOf: async (name: KeyName) => (await authenticate(`Bearer ${forge(draft(name))}`)).code,
  };
}

test('a keys file is read again when it changes: new keys count, keys that left do not', async () => {
  await using folder = await temporaryFolder();
  const path = await folder.write('keys.json', only('p256'));
  const { keys, codeOf } = await watch(path);
  await using _keys = keys;
  assert.equal(await codeOf('p256'), 'accepted');
  await folder.write('keys.json', only('rsa'));
  await keys.refresh();
  assert.equal(await codeOf('p256'), 'key-unknown');
  assert.equal(await codeOf('rsa'), 'accepted');
});

test('a token with an unknown key makes the file be looked at', async () => {
  await using folder = await temporaryFolder();
  const { keys, codeOf } = await watch(await folder.write('keys.json', only('p256')));
  await using _keys = keys;
  await folder.write('keys.json', only('p256', 'rsa'));
  assert.equal(await codeOf('rsa'), 'accepted');
});

test('a keys file is looked at by itself', async () => {
  await using folder = await temporaryFolder();
  const path = await folder.write('keys.json', only('p256'));
  await using keys = await openWatchedKeys({ kind: 'keys-file', path }, { tell: silent, intervalMs: 5 });
  const before = keys.current();
  await folder.write('keys.json', only('p256', 'rsa'));
  while (keys.current() === before) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(keys.current()?.length, 2);
});

for (const [names, said] of [
  [['p256'], '1 public key from TODO_AUTH_KEYS_FILE'],
  [['p256', 'rsa'], '2 public keys from TODO_AUTH_KEYS_FILE'],
] as const) {
  test(`the start line says "${said}"`, async () => {
    await using folder = await temporaryFolder();
    const path = await folder.write('keys.json', only(...names));
    await using keys = await openWatchedKeys({ kind: 'keys-file', path }, { tell: silent });
    assert.equal(keys.describe(), said);
  });
}

test('a file that is replaced by renaming, or behind a link, is read again', async () => {
  await using folder = await temporaryFolder();
  await symlink(await folder.write('first.json', only('p256')), join(folder.path, 'keys.json'));
  const { keys, codeOf } = await watch(join(folder.path, 'keys.json'));
  await using _keys = keys;
  await symlink(await folder.write('second.json', only('rsa')), join(folder.path, 'next'));
  await rename(join(folder.path, 'next'), join(folder.path, 'keys.json'));
  await keys.refresh();
  assert.equal(await codeOf('rsa'), 'accepted');
});

for (const [what, damage] of [
  ['is broken', (folder: Folder) => folder.write('keys.json', '{"keys":[')],
  ['holds a private key', (folder: Folder) => folder.write('keys.json', privatePem)],
  ['is gone', (folder: Folder) => rm(join(folder.path, 'keys.json'))],
] as const) {
  test(`while a keys file ${what}, known keys stay in force and one warning says so`, async () => {
    await using folder = await temporaryFolder();
    const lines: string[] = [];
    const { keys, codeOf } = await watch(await folder.write('keys.json', only('p256')), lines);
    await using _keys = keys;
    await damage(folder);
    await keys.refresh();
    await keys.refresh();
    assert.equal(await codeOf('p256'), 'accepted');
    assert.equal(lines.filter((line) => line.includes('"event":"keys-unavailable"')).length, 1);
    await folder.write('keys.json', only('rsa'));
    await keys.refresh();
    assert.equal(await codeOf('rsa'), 'accepted');
  });
}

test('a keys file that has no keys when it is opened is an error', async () => {
  await using folder = await temporaryFolder();
  const path = await folder.write('keys.json', '{"keys":[]}');
  await assert.rejects(watch(path), /must have a key that verifies signatures/);
});

test('a keys file that is gone when it is opened is no bug: the error is one for people', async () => {
  await using folder = await temporaryFolder();
  const source = { kind: 'keys-file', path: join(folder.path, 'gone.json') } as const;
  const opened = openWatchedKeys(source, { tell: silent });
  await assert.rejects(opened, {
    name: 'NotUsable',
    message: /^The keys file ".*gone\.json" has changed: /,
  });
});
