import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { authenticateWith } from '../../src/auth/authenticate.ts';
import { signToken } from '../../src/auth/development.ts';
import { openWatchedKeys } from '../../src/auth/keys/files.ts';
import { tellBy } from '../../src/observe/log.ts';
import { canaries } from '../canaries/canaries.ts';
import { type Folder, temporaryFolder } from '../folder.ts';
import { runProgram, startService } from '../start.ts';
import { TRUST } from './trust.ts';

const OLD = randomBytes(32);
const NEW = randomBytes(64);

function contentOf(...secrets: readonly Buffer[]): string {
  return secrets.map((secret) => `base64:${secret.toString('base64')}\n`).join('');
}

function tokenOf(secret: Buffer, lifetimeSeconds = 3600): string {
  const { issuer, audience } = TRUST;
  const claims = { name: 'ada', roles: ['editor'], lifetimeSeconds, claims: [] };
  return signToken(claims, { issuer, audience, secret }, Date.now() / 1000).token;
}

/** Opens a watched file, looked at when the test says so. */
async function watch(path: string) {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) });
  const keys = await openWatchedKeys({ kind: 'secret-file', path }, { tell: tellBy(log), intervalMs: 1e9 });
  const authenticate = authenticateWith({ ...TRUST, keys, now: Date.now });
  return {
    keys,
    eventsOf: (event: string) => lines.filter((line) => JSON.parse(line).event === event),
    codeOf: async (token: string) => (await authenticate(`Bearer ${token}`)).code,
  };
}

test('A7 · a token of any secret of a file is good, whatever its place', async () => {
  await using folder = await temporaryFolder();
  const secrets = Array.from({ length: 5 }, () => randomBytes(32));
  const { keys, codeOf } = await watch(await folder.write('secret', contentOf(...secrets)));
  await using _keys = keys;
  for (const secret of secrets) assert.equal(await codeOf(tokenOf(secret)), 'accepted');
  assert.equal(await codeOf(tokenOf(randomBytes(32))), 'signature');
});

test('a token that was remembered is refused when its secret has left the file', async () => {
  await using folder = await temporaryFolder();
  const { keys, codeOf } = await watch(await folder.write('secret', contentOf(OLD, NEW)));
  await using _keys = keys;
  const [old, next] = [tokenOf(OLD), tokenOf(NEW)];
  assert.deepEqual([await codeOf(old), await codeOf(next)], ['accepted', 'accepted']);
  await folder.write('secret', contentOf(NEW));
  await keys.refresh();
  assert.deepEqual([await codeOf(old), await codeOf(next)], ['signature', 'accepted']);
});

test('the order of the secrets means nothing to those who send tokens, and is no change of the set', async () => {
  await using folder = await temporaryFolder();
  const { keys } = await watch(await folder.write('secret', contentOf(OLD, NEW)));
  await using _keys = keys;
  const before = keys.current();
  await folder.write('secret', contentOf(NEW, OLD));
  await keys.refresh();
  assert.equal(keys.current(), before);
});

const good = contentOf(NEW);

for (const [what, damage] of [
  ['is empty', (folder: Folder) => folder.write('secret', '')],
  ['holds a bad secret beside a new one', (folder: Folder) => folder.write('secret', `${good}base64:AAAA\n`)],
  ['is cut off in the middle of a secret', (folder: Folder) => folder.write('secret', good.slice(0, -4))],
  ['is huge', (folder: Folder) => folder.write('secret', `${good}${'\n'.repeat(70_000)}`)],
  ['has a byte order mark', (folder: Folder) => folder.write('secret', `\uFEFF${good}`)],
  ['is gone', (folder: Folder) => rm(join(folder.path, 'secret'))],
  [
    'is a folder',
    async (folder: Folder) => {
      await rm(join(folder.path, 'secret'));
      await mkdir(join(folder.path, 'secret'));
    },
  ],
  [
    'is the development key',
    (folder: Folder) =>
      folder.write('secret', Buffer.concat([Buffer.from('todo-service development'), randomBytes(32)])),
  ],
] as const) {
  test(`while a secret file ${what}, the old secrets stay in force and one warning says so`, async () => {
    await using folder = await temporaryFolder();
    const { keys, eventsOf, codeOf } = await watch(await folder.write('secret', contentOf(OLD)));
    await using _keys = keys;
    await damage(folder);
    await keys.refresh();
    await keys.refresh();
    assert.deepEqual([await codeOf(tokenOf(OLD)), await codeOf(tokenOf(NEW))], ['accepted', 'signature']);
    assert.equal(eventsOf('keys-unavailable').length, 1);
    await rm(join(folder.path, 'secret'), { recursive: true, force: true });
    await folder.write('secret', good);
    await keys.refresh();
    assert.deepEqual([await codeOf(tokenOf(OLD)), await codeOf(tokenOf(NEW))], ['signature', 'accepted']);
    assert.equal(eventsOf('keys-available').length, 1);
  });
}

test('a secret that Kubernetes replaces through its links is read again', async () => {
  await using folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  for (const [version, secret] of [
    ['..1', OLD],
    ['..2', NEW],
  ] as const) {
    await mkdir(at(version));
    await writeFile(join(at(version), 'secret'), contentOf(secret));
  }
  await symlink('..1', at('..data'));
  await symlink('..data/secret', at('secret'));
  const { keys, codeOf } = await watch(at('secret'));
  await using _keys = keys;
  await symlink('..2', at('..data_tmp'));
  await rename(at('..data_tmp'), at('..data'));
  await rm(at('..1'), { recursive: true });
  await keys.refresh();
  assert.deepEqual([await codeOf(tokenOf(OLD)), await codeOf(tokenOf(NEW))], ['signature', 'accepted']);
});

test('the start line has the lengths of all secrets', async () => {
  await using folder = await temporaryFolder();
  const { keys } = await watch(await folder.write('secret', contentOf(OLD, NEW)));
  await using _keys = keys;
  assert.equal(keys.describe(), 'HMAC secrets of 32, 64 bytes from TODO_AUTH_SECRET_FILE');
});

test('a secret is changed in three steps, under requests, without one 401', async () => {
  await using folder = await temporaryFolder();
  for (const secret of [OLD, NEW]) canaries.keepSecret(secret.toString('base64'));
  const path = await folder.write('secret', contentOf(OLD));
  const env = {
    TODO_AUTH_ISSUER: TRUST.issuer,
    TODO_AUTH_AUDIENCE: TRUST.audience,
    TODO_AUTH_SECRET_FILE: path,
  };
  await using service = await startService({ env });
  const statusOf = async (token: string) =>
    (await fetch(`${service.baseUrl}/me`, { headers: { authorization: `Bearer ${token}` } })).status;
  const created = async () => {
    const { stdout, stderr } = await runProgram(['token', 'create', '--name', 'ada'], { env });
    assert.equal(stderr, '');
    return stdout.trim();
  };
  const replaceBy = async (...secrets: readonly Buffer[]) => {
    await folder.write('next', contentOf(...secrets));
    await rename(join(folder.path, 'next'), path);
  };

  const old = await created();
  const asked: number[] = [];
  let signed = old;
  let over = false;
  const client = (async () => {
    while (!over) {
      asked.push(await statusOf(signed));
      await sleep(5);
    }
  })();

  await replaceBy(OLD, NEW);
  const probe = tokenOf(NEW);
  while ((await statusOf(probe)) !== 200) await sleep(20);
  await replaceBy(NEW, OLD);
  signed = await created();
  assert.equal(await statusOf(old), 200);
  await replaceBy(NEW);
  while ((await statusOf(old)) !== 401) await sleep(20);
  over = true;
  await client;
  assert.deepEqual(new Set(asked), new Set([200]));
});
