import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDevelopmentSecret, openDevelopmentKey, readDevelopmentKey } from '../../src/auth/development.ts';
import { openKeys } from '../../src/auth/keys/source.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runProgram } from '../support/start.ts';

test('the development key is made once, for its owner alone, with a kid of its own', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'data', 'development-key.json');
  assert.equal(await readDevelopmentKey(path), undefined);
  const made = await openDevelopmentKey(path);
  assert.match(made.keyId, /^development-[0-9a-f]{16}$/);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.equal((await stat(join(folder.path, 'data'))).mode & 0o777, 0o700);
  assert.deepEqual(await openDevelopmentKey(path), made);
  assert.deepEqual(await readdir(join(folder.path, 'data')), ['development-key.json']);
});

test('tokens are verified with the development key alone, and its place is said', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'development-key.json');
  const settings = { source: { kind: 'development', path }, keysCooldownMs: 0, keysRefreshMs: 0 } as const;
  await using keys = await openKeys(settings, () => {});
  const { keyId } = await openDevelopmentKey(path);
  assert.equal(keys.describe(), `development key ${keyId} in ${path}`);
  assert.deepEqual(
    keys.current()?.map((key) => [key.keyId, ...key.algorithms.keys()]),
    [[keyId, 'HS256']],
  );
});

test('of several processes that make the key at once, one wins and all use it', async () => {
  await using folder = await temporaryFolder();
  const data = join(folder.path, 'data');
  const create = ['token', 'create', '--name', 'ada', '--output', 'json', '--data-dir', data];
  const printed = await Promise.all(Array.from({ length: 8 }, () => runProgram(create)));
  const kids = new Set(printed.map(({ stdout }) => JSON.parse(stdout).header.kid));
  assert.deepEqual([...kids], [JSON.parse(await readFile(join(data, 'development-key.json'), 'utf8')).kid]);
  assert.deepEqual(await readdir(data), ['development-key.json']);
});

/** What is no development key: a text, or a key that was made with members changed. */
for (const damage of [
  '',
  '{',
  'null',
  '[]',
  '{}',
  { k: '' },
  { k: 'AAAA' },
  { kid: 'production-1' },
  { kty: 'RSA' },
]) {
  test(`a key file with ${JSON.stringify(damage)} is damaged and stays as it is`, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'development-key.json');
    await openDevelopmentKey(path);
    const made = JSON.parse(await readFile(path, 'utf8'));
    const content = typeof damage === 'string' ? damage : JSON.stringify({ ...made, ...damage });
    await writeFile(path, content);
    await assert.rejects(openDevelopmentKey(path), { name: 'NotUsable', message: /cannot be used/ });
    assert.equal(await readFile(path, 'utf8'), content);
  });
}

test('a key cut short is damaged', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'development-key.json');
  await openDevelopmentKey(path);
  const jwk = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ ...jwk, k: jwk.k.slice(0, -4) }));
  await assert.rejects(readDevelopmentKey(path), { name: 'NotUsable', message: /cannot be used/ });
});

test('a key that cannot be read or written is an error for people', async () => {
  await using folder = await temporaryFolder();
  const inTheWay = await folder.write('data', 'a file where the folder should be');
  await assert.rejects(openDevelopmentKey(join(inTheWay, 'development-key.json')), {
    name: 'NotUsable',
    message: /^The development key "[^"]+" cannot be used: ENOTDIR\. /,
  });
  await assert.rejects(openDevelopmentKey(join(folder.path, 'new', 'x'.repeat(250))), {
    name: 'NotUsable',
    message: /^The development key "[^"]+" cannot be made: ENAMETOOLONG$/,
  });
});

test('a development secret is known as one, as bytes and as base64, and a random one is not', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'development-key.json');
  const { secret } = await openDevelopmentKey(path);
  for (const spelling of [
    secret,
    Buffer.from(secret.toString('base64')),
    Buffer.from(secret.toString('base64url')),
  ]) {
    assert.ok(isDevelopmentSecret(spelling));
  }
  assert.ok(!isDevelopmentSecret(Buffer.alloc(64, 'todo-service')));
});
