import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDevelopmentKey } from '../../src/auth/development.ts';
import { readAuth } from '../../src/auth/settings.ts';
import { readSettings } from '../../src/read-settings.ts';
import type { Variable } from '../../src/settings.ts';
import { type Folder, temporaryFolder } from '../folder.ts';
import { jwkOf, publicKey } from './forge.ts';

type Variables = Readonly<Partial<Record<Variable, string | undefined>>>;

const NOTHING: Variables = {};

const SPKI = publicKey('rsa').export({ type: 'spki', format: 'der' });

const TRUSTED = {
  ...NOTHING,
  TODO_AUTH_ISSUER: 'https://login.example.org',
  TODO_AUTH_AUDIENCE: 'todo-service',
};

async function settingsOf(
  variables: Variables,
  environment: 'development' | 'production' = 'production',
  dataDir = 'nowhere',
) {
  const settings = readSettings(variables, {});
  const read = await readAuth(settings, { environment, dataDir });
  assert.deepEqual(settings.faults, []);
  assert.ok(read);
  return read;
}

async function faultsOf(
  variables: Variables,
  environment: 'development' | 'production' = 'production',
  dataDir = 'nowhere',
) {
  const settings = readSettings(variables, {});
  await readAuth(settings, { environment, dataDir });
  return settings.faults;
}

test('an issuer and an audience suffice: the keys are found by discovery', async () => {
  assert.deepEqual(await settingsOf(TRUSTED), {
    issuer: 'https://login.example.org',
    audience: 'todo-service',
    source: { kind: 'discovery', issuer: 'https://login.example.org' },
    claims: { name: undefined, role: undefined },
    clockToleranceSeconds: 30,
    keysCooldownMs: 30_000,
    keysRefreshMs: 600_000,
  });
});

test('every tuning setting is read', async () => {
  const settings = await settingsOf({
    ...TRUSTED,
    TODO_AUTH_ROLE_CLAIM: '/realm_access/roles',
    TODO_AUTH_NAME_CLAIM: 'preferred_username',
    TODO_AUTH_CLOCK_TOLERANCE: '0',
    TODO_AUTH_KEYS_COOLDOWN_SECONDS: '5',
    TODO_AUTH_KEYS_REFRESH_SECONDS: '60',
  });
  assert.deepEqual(settings.claims, { role: ['realm_access', 'roles'], name: ['preferred_username'] });
  assert.deepEqual(
    [settings.clockToleranceSeconds, settings.keysCooldownMs, settings.keysRefreshMs],
    [0, 5_000, 60_000],
  );
});

test('A8 · development tokens are of the same clock and get no tolerance', async () => {
  const settings = await settingsOf(NOTHING, 'development', 'data');
  assert.deepEqual(settings.source, { kind: 'development', path: join('data', 'development-key.json') });
  assert.equal(settings.clockToleranceSeconds, 0);
});

test('development with an issuer uses that one and not its own key', async () => {
  assert.equal((await settingsOf(TRUSTED, 'development')).source.kind, 'discovery');
});

/** What is set beyond a sound issuer and audience, what is said about it; one fault each. */
const UNSAFE: readonly (readonly [string, Variables, RegExp])[] = [
  [
    'no issuer',
    { TODO_AUTH_ISSUER: undefined, TODO_AUTH_JWKS_URL: 'https://a.example/jwks' },
    /^TODO_AUTH_ISSUER must be .*, received nothing$/,
  ],
  ['no audience', { TODO_AUTH_AUDIENCE: undefined }, /^TODO_AUTH_AUDIENCE must be .*, received nothing$/],
  [
    'a blank audience',
    { TODO_AUTH_AUDIENCE: '  ' },
    /^TODO_AUTH_AUDIENCE must not begin or end with white space, received " {2}"$/,
  ],
  [
    'an http issuer',
    { TODO_AUTH_ISSUER: 'http://login.example.org' },
    /^TODO_AUTH_ISSUER must begin with "https:", or be on loopback, received "http:\/\/login/,
  ],
  [
    'an http issuer with other keys',
    { TODO_AUTH_ISSUER: 'HTTP://login.example.org', TODO_AUTH_JWKS_URL: 'https://a.example/jwks' },
    /^TODO_AUTH_ISSUER must begin with "https:"/,
  ],
  [
    'an issuer that is no address',
    { TODO_AUTH_ISSUER: 'todo' },
    /^TODO_AUTH_ISSUER must be an "https:" address .*, received "…"; or set one of/,
  ],
  [
    'an issuer with a query',
    { TODO_AUTH_ISSUER: 'https://a.example/?x=1' },
    /^TODO_AUTH_ISSUER must be an "https:" address without query/,
  ],
  [
    'the issuer of development',
    { TODO_AUTH_ISSUER: 'urn:todo-service:development', TODO_AUTH_JWKS_URL: 'https://a.example/jwks' },
    /^TODO_AUTH_ISSUER must not be the issuer of development/,
  ],
  [
    'keys over http',
    { TODO_AUTH_JWKS_URL: 'http://a.example/jwks' },
    /^TODO_AUTH_JWKS_URL must begin with "https:", .*received "http:\/\/a/,
  ],
  [
    'keys with a password',
    { TODO_AUTH_JWKS_URL: 'https://u:secret@a.example/jwks' },
    /^TODO_AUTH_JWKS_URL must .*, received "https:\/\/…@a\.example\/jwks"$/,
  ],
  [
    'a role claim that is no pointer',
    { TODO_AUTH_ROLE_CLAIM: '/a~' },
    /^TODO_AUTH_ROLE_CLAIM must be .*, received "\/a~"$/,
  ],
  [
    'a name claim that is no pointer',
    { TODO_AUTH_NAME_CLAIM: '/a~2' },
    /^TODO_AUTH_NAME_CLAIM must be .*, received "\/a~2"$/,
  ],
  [
    'too much tolerance',
    { TODO_AUTH_CLOCK_TOLERANCE: '301' },
    /^TODO_AUTH_CLOCK_TOLERANCE must be a whole number of seconds from 0 to 300, received "301"$/,
  ],
  ['a negative tolerance', { TODO_AUTH_CLOCK_TOLERANCE: '-1' }, /^TODO_AUTH_CLOCK_TOLERANCE must /],
  ['a tolerance with a unit', { TODO_AUTH_CLOCK_TOLERANCE: '30s' }, /^TODO_AUTH_CLOCK_TOLERANCE must /],
  [
    'a cooldown of nothing',
    { TODO_AUTH_KEYS_COOLDOWN_SECONDS: '0' },
    /^TODO_AUTH_KEYS_COOLDOWN_SECONDS must be .* from 1 to 3600, received "0"$/,
  ],
  [
    'a refresh of once a week',
    { TODO_AUTH_KEYS_REFRESH_SECONDS: '604800' },
    /^TODO_AUTH_KEYS_REFRESH_SECONDS must be .* from 1 to 86400, received "604800"$/,
  ],
  [
    'a keys file that is not there',
    { TODO_AUTH_KEYS_FILE: '/does/not/exist' },
    /^TODO_AUTH_KEYS_FILE must name .*, received "\/does\/not\/exist": there is no such file$/,
  ],
  [
    'a secret file that is not there',
    { TODO_AUTH_SECRET_FILE: '/does/not/exist' },
    /^TODO_AUTH_SECRET_FILE must name .*: there is no such file$/,
  ],
  [
    'an issuer with a space behind it',
    {
      TODO_AUTH_ISSUER: 'https://issuer.example ',
      TODO_AUTH_JWKS_URL: 'https://issuer.example/jwks',
      TODO_AUTH_SECRET_FILE: undefined,
    },
    /^TODO_AUTH_ISSUER must not begin or end with white space, received "https:\/\/issuer.example "$/,
  ],
  [
    'two sources',
    { TODO_AUTH_JWKS_URL: 'https://a.example/jwks', TODO_AUTH_SECRET_FILE: 's' },
    /^Of TODO_AUTH_KEYS_FILE, .* only one may be set, received TODO_AUTH_SECRET_FILE and TODO_AUTH_JWKS_URL="https/,
  ],
];

for (const [what, changed, fault] of UNSAFE) {
  test(`${what} is a fault`, async () => {
    const faults = await faultsOf({ ...TRUSTED, ...changed });
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(faults[0] ?? '', fault);
  });
}

test('a secret of 31 bytes is a fault, which tells its length and nothing else of it', async () => {
  await using folder = await temporaryFolder();
  const secretFile = await folder.write('secret', 'a secret that nobody may ever s');
  const [fault = ''] = await faultsOf({ ...TRUSTED, TODO_AUTH_SECRET_FILE: secretFile });
  assert.match(
    fault,
    /^TODO_AUTH_SECRET_FILE must name .*, received ".*": it must have at least 32 bytes .*received 31 bytes$/,
  );
  assert.doesNotMatch(fault, /nobody/);
});

for (const secret of ['\0'.repeat(32), 'x'.repeat(64), `base64:${Buffer.alloc(48, 1).toString('base64')}`]) {
  test(`a secret of equal bytes is a fault: ${JSON.stringify(secret.slice(0, 10))}`, async () => {
    await using folder = await temporaryFolder();
    const faults = await faultsOf({
      ...TRUSTED,
      TODO_AUTH_SECRET_FILE: await folder.write('secret', secret),
    });
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(
      faults[0] ?? '',
      /^TODO_AUTH_SECRET_FILE must name .*: it must be random bytes, received \d\d times the same byte$/,
    );
  });
}

for (const [what, text] of [
  ['the base64 of a public key', SPKI.toString('base64')],
  ['base64: and a public key', `base64:${SPKI.toString('base64')}\n`],
  ['a public key in DER', SPKI],
  ['a list of JWKs', JSON.stringify([publicKey('ed').export({ format: 'jwk' })])],
  [
    'a PEM public key',
    '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n',
  ],
  ['a JWK', '{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl"}'],
  ['a JWKS', ' { "keys": [ { "kty": "RSA", "n": "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhW" } ] }'],
] as const) {
  test(`RFC 8725 §2.1 · ${what} is no secret`, async () => {
    await using folder = await temporaryFolder();
    const secretFile = await folder.write('secret', text);
    const faults = await faultsOf({ ...TRUSTED, TODO_AUTH_SECRET_FILE: secretFile });
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(
      faults[0] ?? '',
      /^TODO_AUTH_SECRET_FILE must name .*: it must be an HMAC secret, received what looks like a .*TODO_AUTH_KEYS_FILE$/,
    );
  });
}

/** Ways to bring a development key into production. */
const SMUGGLED: readonly (readonly [
  string,
  (folder: Folder, jwk: { kid: string; k: string }) => Promise<Variables>,
])[] = [
  ['its file as secret', async ({ path }) => ({ TODO_AUTH_SECRET_FILE: join(path, 'development-key.json') })],
  [
    'its file as secret, copied',
    async (folder, jwk) => ({ TODO_AUTH_SECRET_FILE: await folder.write('s', JSON.stringify(jwk)) }),
  ],
  [
    'its file as secret, without what is secret in it',
    async (folder, { kid }) => ({
      TODO_AUTH_SECRET_FILE: await folder.write('s', JSON.stringify({ kty: 'oct', kid })),
    }),
  ],
  [
    'its file as secret, in base64',
    async (folder, jwk) => ({
      TODO_AUTH_SECRET_FILE: await folder.write('s', `base64:${btoa(JSON.stringify(jwk))}`),
    }),
  ],
  [
    'its secret',
    async (folder, { k }) => ({
      TODO_AUTH_SECRET_FILE: await folder.write('s', Buffer.from(k, 'base64url')),
    }),
  ],
  [
    'its secret in base64',
    async (folder, { k }) => ({
      TODO_AUTH_SECRET_FILE: await folder.write(
        's',
        `base64:${Buffer.from(k, 'base64url').toString('base64')}`,
      ),
    }),
  ],
  [
    'the text of its secret',
    async (folder, { k }) => ({ TODO_AUTH_SECRET_FILE: await folder.write('s', k) }),
  ],
  [
    'a link to its file',
    async ({ path }) => {
      await symlink(join(path, 'development-key.json'), join(path, 'link'));
      return { TODO_AUTH_SECRET_FILE: join(path, 'link') };
    },
  ],
  ['its file as keys', async ({ path }) => ({ TODO_AUTH_KEYS_FILE: join(path, 'development-key.json') })],
  [
    'its kid',
    async (folder, { kid }) => ({
      TODO_AUTH_KEYS_FILE: await folder.write(
        'k',
        JSON.stringify(jwkOf({ publicKey: publicKey('ed') }, kid)),
      ),
    }),
  ],
];

for (const [what, smuggle] of SMUGGLED) {
  test(`production refuses the development key by ${what}`, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'development-key.json');
    await openDevelopmentKey(path);
    const smuggled = await smuggle(folder, JSON.parse(await readFile(path, 'utf8')));
    const faults = await faultsOf({ ...TRUSTED, ...smuggled }, 'production', folder.path);
    assert.equal(faults.length, 1, faults.join('\n'));
    assert.match(
      faults[0] ?? '',
      /must not (be a development key$|hold a development key in production)|symmetric key/,
    );
  });
}

test('production does not look at a development key that lies around', async () => {
  await using folder = await temporaryFolder();
  await folder.write('development-key.json', 'damaged');
  const secretFile = await folder.write('secret', randomBytes(32));
  assert.deepEqual(
    await faultsOf({ ...TRUSTED, TODO_AUTH_SECRET_FILE: secretFile }, 'production', folder.path),
    [],
  );
});

test('a damaged development key is a fault in development', async () => {
  await using folder = await temporaryFolder();
  await folder.write('development-key.json', '{');
  const [fault = ''] = await faultsOf(NOTHING, 'development', folder.path);
  assert.match(
    fault,
    /^The development key ".*development-key.json" cannot be used: .* Restore the file, or delete it/,
  );
});
