import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Folder, temporaryFolder } from '../folder.ts';
import { runProgram, startService } from '../start.ts';
import { privateKey } from './forge.ts';

const TRUSTED = { TODO_AUTH_ISSUER: 'https://login.example.org', TODO_AUTH_AUDIENCE: 'todo-service' };

const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;

/** Configurations that must not start in production, and what the message must name. */
const UNSAFE: readonly (readonly [string, (folder: Folder) => Promise<Record<string, string>>, RegExp])[] = [
  ['nothing', async () => ({}), /TODO_AUTH_ISSUER must be .*\n.*TODO_AUTH_AUDIENCE must be /],
  [
    'a short secret',
    async (folder) => ({ ...TRUSTED, TODO_AUTH_SECRET_FILE: await folder.write('s', 'short') }),
    /TODO_AUTH_SECRET_FILE must .*: it must have at least 32 bytes .*received 5 bytes/,
  ],
  [
    'RSA of 1024 bits',
    async (folder) => ({
      ...TRUSTED,
      TODO_AUTH_KEYS_FILE: await folder.write('k', weak.export({ type: 'spki', format: 'pem' })),
    }),
    /TODO_AUTH_KEYS_FILE must .*at least 2048 bits, received 1024/,
  ],
  [
    'a private key',
    async (folder) => ({
      ...TRUSTED,
      TODO_AUTH_KEYS_FILE: await folder.write(
        'k',
        privateKey('rsa').export({ type: 'pkcs8', format: 'pem' }),
      ),
    }),
    /TODO_AUTH_KEYS_FILE must .*it is a private key/,
  ],
  [
    'an http issuer',
    async () => ({ ...TRUSTED, TODO_AUTH_ISSUER: 'http://login.example.org' }),
    /TODO_AUTH_ISSUER must begin with "https:", or be on loopback/,
  ],
  [
    'two sources',
    async () => ({ ...TRUSTED, TODO_AUTH_JWKS_URL: 'https://a.example/jwks', TODO_AUTH_KEYS_FILE: 'k' }),
    /only one may be set, received TODO_AUTH_KEYS_FILE="k" and TODO_AUTH_JWKS_URL="https/,
  ],
  [
    'the development key',
    async (folder) => ({ ...TRUSTED, TODO_AUTH_SECRET_FILE: await developmentKey(folder) }),
    /TODO_AUTH_SECRET_FILE must .*: it must not be a development key/,
  ],
];

async function developmentKey(folder: Folder): Promise<string> {
  await runProgram(['token', 'create', '--name', 'ada', '--data-dir', folder.path]);
  const path = join(folder.path, 'development-key.json');
  assert.match(await readFile(path, 'utf8'), /"kid": "development-/);
  return path;
}

for (const [what, configure, says] of UNSAFE) {
  test(`A12 · production does not start with ${what}: exit code 78, no stack`, async () => {
    await using folder = await temporaryFolder();
    const env = await configure(folder);
    const { code, stdout, stderr } = await runProgram(['serve', '--port', '0', '--data-dir', folder.path], {
      env,
    });
    assert.equal(code, 78, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, says);
    assert.doesNotMatch(stderr, /\n\s+at |Error:/);
  });
}

test('all faults are in one message', async () => {
  await using folder = await temporaryFolder();
  const env = {
    TODO_AUTH_ISSUER: 'http://login.example.org',
    TODO_AUTH_SECRET_FILE: await folder.write('s', 'short'),
    TODO_AUTH_ROLE_CLAIM: '/~',
    TODO_AUTH_CLOCK_TOLERANCE: '1h',
  };
  const { code, stderr } = await runProgram(['serve', '--port', '0', '--data-dir', folder.path], { env });
  assert.equal(code, 78);
  for (const variable of ['ISSUER', 'AUDIENCE', 'SECRET_FILE', 'ROLE_CLAIM', 'CLOCK_TOLERANCE']) {
    assert.match(stderr, new RegExp(`^ *TODO_AUTH_${variable} must `, 'm'));
  }
});

test('A12 · production refuses a development token', async () => {
  await using folder = await temporaryFolder();
  const { stdout: token } = await runProgram(['token', 'create', '--name', 'ada', '--data-dir', folder.path]);
  const env = {
    ...TRUSTED,
    TODO_AUTH_SECRET_FILE: await folder.write('s', 'a secret of more than thirty-two bytes'),
  };
  await using service = await startService({ dataDir: folder.path, env });
  const response = await fetch(`${service.baseUrl}/todos`, {
    headers: { authorization: `Bearer ${token.trim()}` },
  });
  assert.equal(response.status, 401);
  assert.match(response.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
});

test('the start line says how many bytes a secret has', async () => {
  await using folder = await temporaryFolder();
  const secretFile = await folder.write('s', `${'00ff'.repeat(16)}\n`);
  const env = { ...TRUSTED, TODO_AUTH_SECRET_FILE: secretFile };
  await using service = await startService({ environment: 'development', dataDir: folder.path, env });
  assert.match(service.stdout(), /HMAC secret of 64 bytes from TODO_AUTH_SECRET_FILE/);
});
