import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mock, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FileSource, openWatchedKeys, readFileSource } from '../../src/auth/keys/files.ts';
import { openKeys } from '../../src/auth/keys/source.ts';
import { readAuth } from '../../src/auth/settings.ts';
import { asNotUsable } from '../../src/lib/errors.ts';
import { readSettings } from '../../src/settings/read.ts';
import { canaries } from '../canaries/canaries.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runCommand } from '../support/run-command.ts';
import { startService } from '../support/start.ts';
import { AUDIENCE, draft, forge, jwks, type KeyName, mac, privateKey } from './forge.ts';
import { callerOf, keptLog, TRUST, verdictsWith } from './trust.ts';

/** Of one length: the size of a file is not what tells that it has changed. */
const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const LONG = randomBytes(64);

function only(...names: readonly KeyName[]): string {
  return JSON.stringify(jwks(...names));
}

function contentOf(...secrets: readonly Buffer[]): string {
  return secrets.map((secret) => `base64:${secret.toString('base64')}\n`).join('');
}

function tokenOf(secret: Buffer): string {
  return forge(draft('secret'), { sign: mac('sha256', secret) });
}

const ISSUER = { TODO_AUTH_ISSUER: TRUST.issuer, TODO_AUTH_AUDIENCE: AUDIENCE };

// A file is looked at when a test says so.
mock.timers.enable({ apis: ['setInterval'] });

/** A file of one's own with this content, which is watched. */
async function watch(kind: FileSource['kind'], content: string) {
  const folder = await temporaryFolder();
  const path = await folder.write('file', content);
  const { logEvent, lines } = keptLog();
  const keys = await openWatchedKeys({ kind, path }, logEvent);
  return {
    path,
    keys,
    replaceBy: (text: string) => folder.write('file', text),
    codeOf: verdictsWith(keys),
    timesTold: (event: string) => lines.filter((line) => line.event === event).length,
    async [Symbol.asyncDispose]() {
      await keys[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Files by kind: before, after, and what comes of a token of each side when only the other counts. */
const KINDS = [
  {
    kind: 'keys-file',
    before: only('p256'),
    after: only('rsa'),
    tokens: [forge(draft('p256')), forge(draft('rsa'))],
    unknown: 'key-unknown',
    damages: [
      ['is broken', '{"keys":['],
      ['holds a private key', privateKey('p256').export({ type: 'pkcs8', format: 'pem' }).toString()],
    ],
  },
  {
    kind: 'secret-file',
    before: contentOf(OLD),
    after: contentOf(NEW),
    tokens: [tokenOf(OLD), tokenOf(NEW)],
    unknown: 'signature',
    damages: [
      ['is empty', ''],
      ['is cut off in the middle of a secret', contentOf(NEW).slice(0, -4)],
      ['holds a bad secret beside a new one', `${contentOf(NEW)}base64:AAAA\n`],
    ],
  },
] as const;

for (const { kind, before, after, tokens, unknown, damages } of KINDS) {
  const name = kind.replace('-', ' ');

  for (const [what, damaged] of [...damages, ['is gone', undefined]] as const) {
    test(`while a ${name} ${what}, the old keys stay in force and one warning says so; then the new ones count alone`, async () => {
      await using file = await watch(kind, before);
      const codes = async () => [await file.codeOf(tokens[0]), await file.codeOf(tokens[1])];
      const described = file.keys.describe();
      if (damaged === undefined) await rm(file.path);
      else await file.replaceBy(damaged);
      await file.keys.refresh();
      await file.keys.refresh();
      assert.deepEqual(await codes(), ['accepted', unknown]);
      assert.equal(file.keys.describe(), described);
      assert.equal(file.timesTold('keys-unavailable'), 1);
      await file.replaceBy(after);
      await file.keys.refresh();
      assert.deepEqual(await codes(), [unknown, 'accepted'], 'also of a token that was remembered');
      assert.equal(file.timesTold('keys-available'), 1);
    });
  }
}

test('a token with an unknown key makes the file be looked at', async () => {
  await using file = await watch('keys-file', only('p256'));
  await file.replaceBy(only('p256', 'rsa'));
  assert.equal(await file.codeOf(forge(draft('rsa'))), 'accepted');
});

test('a file is looked at by itself, every half a second', async () => {
  await using file = await watch('keys-file', only('p256'));
  const before = file.keys.current();
  await file.replaceBy(only('p256', 'rsa'));
  mock.timers.tick(500);
  while (file.keys.current() === before) await sleep(5);
  assert.equal(file.keys.current()?.length, 2);
});

test('a file is looked at no more when its keys are closed', async () => {
  await using file = await watch('keys-file', only('p256'));
  const before = file.keys.current();
  await file.keys[Symbol.asyncDispose]();
  await file.replaceBy(only('p256', 'rsa'));
  mock.timers.tick(500);
  // As long as a look takes.
  for (let look = 0; look < 3; look += 1) await readFileSource({ kind: 'keys-file', path: file.path });
  assert.equal(file.keys.current(), before);
});

for (const [kind, content, said] of [
  ['keys-file', only('p256'), '1 public key from TODO_AUTH_KEYS_FILE'],
  ['keys-file', only('p256', 'rsa'), '2 public keys from TODO_AUTH_KEYS_FILE'],
  ['secret-file', contentOf(LONG), 'HMAC secret of 64 bytes from TODO_AUTH_SECRET_FILE'],
  ['secret-file', contentOf(OLD, LONG), 'HMAC secrets of 32, 64 bytes from TODO_AUTH_SECRET_FILE'],
] as const) {
  test(`the start line says "${said}"`, async () => {
    await using file = await watch(kind, content);
    assert.equal(file.keys.describe(), said);
  });
}

test('a token of any secret of a file is good, whatever its place [A7]', async () => {
  const secrets = Array.from({ length: 5 }, () => randomBytes(32));
  await using file = await watch('secret-file', contentOf(...secrets));
  for (const secret of secrets) assert.equal(await file.codeOf(tokenOf(secret)), 'accepted');
  assert.equal(await file.codeOf(tokenOf(randomBytes(32))), 'signature');
});

test('the order of the secrets means nothing to those who send tokens, and is no change of the set', async () => {
  await using file = await watch('secret-file', contentOf(OLD, NEW));
  const before = file.keys.current();
  await file.replaceBy(contentOf(NEW, OLD));
  await file.keys.refresh();
  assert.equal(file.keys.current(), before);
});

test('a secret file that every user of the machine may read gets a line in the log, others do not', async () => {
  await using file = await watch('secret-file', contentOf(OLD));
  for (const [mode, times] of [
    [0o644, 1],
    [0o640, 0],
    [0o400, 0],
  ] as const) {
    await chmod(file.path, mode);
    const { logEvent, lines } = keptLog();
    await using _keys = await openWatchedKeys({ kind: 'secret-file', path: file.path }, logEvent);
    const told = lines.filter(({ event }) => event === 'secret-file-readable');
    assert.equal(told.length, times, mode.toString(8));
  }
});

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
  const source = { kind: 'secret-file', path: at('secret') } as const;
  await using keys = await openWatchedKeys(source, () => {});
  const codeOf = verdictsWith(keys);
  await symlink('..2', at('..data_tmp'));
  await rename(at('..data_tmp'), at('..data'));
  await rm(at('..1'), { recursive: true });
  await keys.refresh();
  assert.deepEqual([await codeOf(tokenOf(OLD)), await codeOf(tokenOf(NEW))], ['signature', 'accepted']);
});

/** Settings whose file was found sound, as a start has them while it waits for its database. */
async function settingsWith(variable: 'TODO_AUTH_KEYS_FILE' | 'TODO_AUTH_SECRET_FILE', path: string) {
  const settings = await readAuth(readSettings({ ...ISSUER, [variable]: path }, {}), 'production');
  assert.ok(settings);
  return settings;
}

test('a secret that was taken out while a start waited for its database is never trusted', async () => {
  await using folder = await temporaryFolder();
  const path = await folder.write('secret', contentOf(OLD));
  const settings = await settingsWith('TODO_AUTH_SECRET_FILE', path);
  await folder.write('secret', contentOf(NEW));
  await chmod(path, 0o644);
  const { logEvent, lines } = keptLog();
  await using keys = await openKeys(settings, logEvent);
  const codeOf = verdictsWith(keys);
  assert.deepEqual([await codeOf(tokenOf(OLD)), await codeOf(tokenOf(NEW))], ['signature', 'accepted']);
  assert.deepEqual(
    lines.map(({ event, level }) => [event, level]),
    [
      ['secret-file-readable', 40],
      ['keys-loaded', 20],
    ],
    'the log says what is so now, as of a file that nobody has changed',
  );
});

for (const [variable, name, content] of [
  ['TODO_AUTH_KEYS_FILE', 'keys file', only('p256')],
  ['TODO_AUTH_SECRET_FILE', 'secret file', contentOf(OLD)],
] as const) {
  for (const [what, damage, reason] of [
    ['gone', rm, 'there is no such file'],
    ['larger than it may be', (path: string) => writeFile(path, 'x'.repeat(524_289)), 'it is larger than'],
  ] as const) {
    test(`a ${name} that is ${what} after a start has waited ends the start: what it held is not trusted`, async () => {
      await using folder = await temporaryFolder();
      const path = await folder.write('file', content);
      const settings = await settingsWith(variable, path);
      await damage(path);
      const message = `The ${name} "${path}" has changed: ${reason}`;
      const failed = await openKeys(settings, () => {}).then(() => assert.fail('it was opened'), asNotUsable);
      assert.ok(failed.message.startsWith(message), failed.message);
    });
  }
}

test('a secret is changed in three steps, under requests, without one 401', async () => {
  await using folder = await temporaryFolder();
  for (const secret of [OLD, NEW]) canaries.keepSecret(secret.toString('base64'));
  const path = await folder.write('secret', contentOf(OLD));
  const env = { ...ISSUER, TODO_AUTH_SECRET_FILE: path };
  await using service = await startService({ env });
  const { read } = callerOf(service.baseUrl);
  const statusOf = async (token: string) => (await read(token, '/me')).status;
  const created = async () => {
    const { stdout, stderr } = await runCommand(['token', 'create', '--name', 'ada'], { env });
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
  // The client may have a request with the old token under way: the one after it has another.
  const before = asked.length;
  while (asked.length < before + 2) await sleep(5);
  await replaceBy(NEW);
  while ((await statusOf(old)) !== 401) await sleep(20);
  over = true;
  await client;
  assert.deepEqual(new Set(asked), new Set([200]));
});
