import assert from 'node:assert/strict';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDevelopmentKey } from '../../src/auth/development.ts';
import { readAuth } from '../../src/auth/settings.ts';
import { readSettings } from '../../src/settings/read.ts';
import type { Environment, Variable } from '../../src/settings/table.ts';
import { temporaryFolder } from '../support/folder.ts';
import { quoted } from '../support/quoted.ts';
import { runProgram } from '../support/start.ts';
import { jwkOf, jwks, publicKey } from './forge.ts';

type Variables = Readonly<Partial<Record<Variable, string | undefined>>>;

const TRUSTED: Variables = {
  TODO_AUTH_ISSUER: 'https://login.example.org',
  TODO_AUTH_AUDIENCE: 'todo-service',
};

const JWKS_URL = { TODO_AUTH_JWKS_URL: 'https://a.example/jwks' };

/** What is read, and the faults that are found. */
async function read(variables: Variables, environment: Environment = 'production', dataDir = 'nowhere') {
  const settings = readSettings(variables, { 'data-dir': dataDir });
  return { auth: await readAuth(settings, environment), faults: settings.faults };
}

test('an issuer and an audience suffice: the keys are found by discovery', async () => {
  assert.deepEqual(await read(TRUSTED), {
    auth: {
      issuer: 'https://login.example.org',
      audiences: ['todo-service'],
      audienceClaim: undefined,
      requiredClaims: undefined,
      editorRoles: undefined,
      tokenType: undefined,
      source: { kind: 'discovery', proxy: undefined, issuer: 'https://login.example.org' },
      claims: { name: undefined, role: undefined, editorRoles: undefined },
      clockToleranceSeconds: 30,
      keysCooldownMs: 30_000,
      keysRefreshMs: 600_000,
    },
    faults: [],
  });
});

test('every tuning setting is read', async () => {
  const { auth } = await read({
    ...TRUSTED,
    TODO_AUTH_ROLE_CLAIM: '/realm_access/roles',
    TODO_AUTH_NAME_CLAIM: 'preferred_username',
    TODO_AUTH_CLOCK_TOLERANCE: '0',
    TODO_AUTH_KEYS_COOLDOWN_SECONDS: '5',
    TODO_AUTH_KEYS_REFRESH_SECONDS: '60',
  });
  assert.deepEqual(auth?.claims, {
    role: ['realm_access', 'roles'],
    name: ['preferred_username'],
    editorRoles: undefined,
  });
  assert.deepEqual(
    [auth?.clockToleranceSeconds, auth?.keysCooldownMs, auth?.keysRefreshMs],
    [0, 5_000, 60_000],
  );
});

test('development tokens are of the same clock and get no tolerance [A8]', async () => {
  const { auth } = await read({}, 'development', 'data');
  assert.deepEqual(auth?.source, { kind: 'development', path: join('data', 'development-key.json') });
  assert.equal(auth?.clockToleranceSeconds, 0);
});

test('development with an issuer uses that one and not its own key', async () => {
  assert.equal((await read(TRUSTED, 'development')).auth?.source.kind, 'discovery');
});

const ONE_ISSUER =
  'must be one issuer; a second needs a second instance, a placeholder its value, and "/.well-known/…" is no part of it';
const ONE_ADDRESS = 'must be one address; a placeholder needs its value';
const COMMENTED = 'must not have white space before a "#": a comment has a line of its own';
const FINDABLE = 'must be an "https:" address without query and fragment to find its keys from it';
const SOURCES = 'TODO_AUTH_KEYS_FILE, TODO_AUTH_SECRET_FILE and TODO_AUTH_JWKS_URL';
const TRUSTWORTHY =
  'must begin with "https:", or with "http:" on loopback, without user, password and fragment';
const LIST =
  'without white space around an entry; %2C, %3D, %25, %20 and %23 stand for a comma, "=", "%", a blank and "#"';
const AUDIENCES = `must be audiences, separated by commas, ${LIST}`;
const ROLES = `must be roles, separated by commas, ${LIST}`;
const REQUIRED = `must be "name=value" or "!name", separated by commas, ${LIST}; a name behind "!" has letters, digits and "_-.:/"`;
const SPLIT = 'must have %2C for the commas of one name, or %3D for the "=" of several names';
const OF_ALL = 'must not be "iss", which every token of the issuer has';
const TYPE = 'must be the "typ" of tokens, "at+jwt" or "JWT"';
const CLAIM = 'must be the name of a claim, or a JSON Pointer like "/realm_access/roles"';

/** What is set beyond a sound issuer and audience: a variable, what it must be, and what is shown of it. */
const UNSAFE: readonly (readonly [Variable, string, wanted: string, received?: string])[] = [
  ['TODO_AUTH_ISSUER', '', 'must be the issuer of your tokens, like "https://login.example.org"', 'nothing'],
  ['TODO_AUTH_ISSUER', 'https://issuer.example ', 'must not end with white space', '"… "'],
  ['TODO_AUTH_ISSUER', '"https://issuer.example"', 'must not stand in quotes', '"\\"…\\""'],
  [
    'TODO_AUTH_ISSUER',
    'http://login.example.org',
    FINDABLE,
    `"http://login.example.org"; or set one of ${SOURCES}`,
  ],
  [
    'TODO_AUTH_ISSUER',
    'HTTP://login.example.org',
    FINDABLE,
    `"HTTP://login.example.org"; or set one of ${SOURCES}`,
  ],
  ['TODO_AUTH_ISSUER', 'todo', FINDABLE, `"…"; or set one of ${SOURCES}`],
  [
    'TODO_AUTH_ISSUER',
    'https://a.example/?x=1',
    FINDABLE,
    `"https://a.example/?…"; or set one of ${SOURCES}`,
  ],
  ['TODO_AUTH_ISSUER', 'https://a.example,https://b.example', ONE_ISSUER, '"https://…"'],
  ['TODO_AUTH_ISSUER', 'https://a.example;https://b.example', ONE_ISSUER, '"https://…"'],
  ['TODO_AUTH_ISSUER', 'https://a.example/{tenantid}/v2.0', ONE_ISSUER],
  ['TODO_AUTH_ISSUER', 'https://a.example/realms/<realm>', ONE_ISSUER],
  ['TODO_AUTH_ISSUER', 'https://a.example/$TENANT', ONE_ISSUER],
  ['TODO_AUTH_ISSUER', 'https://a.example/.well-known/openid-configuration', ONE_ISSUER],
  ['TODO_AUTH_ISSUER', 'https://a.example/.well-known', ONE_ISSUER],
  ['TODO_AUTH_JWKS_URL', 'https://a.example/{tenantid}/keys', ONE_ADDRESS],
  ['TODO_AUTH_JWKS_URL', 'https://a.example/k,https://b.example/k', ONE_ADDRESS],
  ['TODO_AUTH_AUDIENCE', '', 'must be the "aud" of tokens for this service, like "todo-service"', 'nothing'],
  ['TODO_AUTH_AUDIENCE', '  ', 'must not begin with white space', '" …"'],
  ['TODO_AUTH_AUDIENCE', 'todo # ours', COMMENTED, '"… #…"'],
  ['TODO_AUTH_ISSUER', 'https://issuer.example\t#', COMMENTED, '"… #…"'],
  ['TODO_AUTH_AUDIENCE', 'todo-service, api', AUDIENCES, '" api"'],
  ['TODO_AUTH_AUDIENCE_CLAIM', '/o/~', CLAIM],
  ['TODO_AUTH_EDITOR_ROLE', 'a,,b\u202e ,100%', ROLES, '"" and "b\\u202e " and "100%"'],
  ['TODO_AUTH_AUDIENCE_CLAIM', 'iss', OF_ALL],
  ['TODO_AUTH_AUDIENCE_CLAIM', '/iss', OF_ALL],
  ['TODO_AUTH_EDITOR_ROLE', 'CN=Editors,OU=Groups,DC=corp', SPLIT],
  ['TODO_AUTH_EDITOR_ROLE', 'cn=editors, ou=groups', SPLIT],
  ['TODO_AUTH_EDITOR_ROLE', 'editor,OU=a%2CDC=b,CN=a,DC=b', SPLIT],
  ['TODO_AUTH_EDITOR_ROLE', 'team=a,team=b', SPLIT],
  ['TODO_AUTH_EDITOR_ROLE', 'CN=Editors%2COU=Groups,DC=corp', SPLIT],
  ['TODO_AUTH_EDITOR_ROLE', 'CN=Editors,OU=Groups%2CDC=corp', SPLIT],
  ['TODO_AUTH_EDITOR_ROLE', 'CN=Editors\\,All,DC=corp', SPLIT],
  ['TODO_AUTH_EDITOR_ROLE', 'CN=Editors\\,All%2CDC=corp', SPLIT],
  ['TODO_AUTH_TOKEN_TYPE', 'id+jwt', TYPE],
  ['TODO_AUTH_TOKEN_TYPE', 'at+jwt,JWT', TYPE],
  ['TODO_AUTH_AUDIENCE_CLAIM', 'client_id # ours', COMMENTED, '"… #…"'],
  ['TODO_AUTH_JWKS_URL', 'http://a.example/jwks', TRUSTWORTHY],
  ['TODO_AUTH_JWKS_URL', 'https://u:secret@a.example/jwks', TRUSTWORTHY, '"https://…@a.example/jwks"'],
  ['TODO_AUTH_ROLE_CLAIM', '/a~', CLAIM],
  ['TODO_AUTH_NAME_CLAIM', '/a~2', CLAIM],
  ['TODO_AUTH_CLOCK_TOLERANCE', '301', 'must be a whole number of seconds from 0 to 300'],
  ['TODO_AUTH_KEYS_COOLDOWN_SECONDS', '0', 'must be a whole number of seconds from 1 to 3600'],
  ['TODO_AUTH_KEYS_REFRESH_SECONDS', '86401', 'must be a whole number of seconds from 1 to 86400'],
  [
    'TODO_AUTH_KEYS_FILE',
    '/no/file',
    'must name a PEM public key, a JWK or a JWKS',
    'a name: there is no such file',
  ],
  [
    'TODO_AUTH_SECRET_FILE',
    '/no/file',
    'must name a file with HMAC secrets',
    'a name: there is no such file',
  ],
];

for (const [variable, value, wanted, received = JSON.stringify(value)] of UNSAFE) {
  test(`${variable}=${quoted(value)} is a fault`, async () => {
    const { faults } = await read({ ...TRUSTED, [variable]: value });
    assert.deepEqual(faults, [`${variable} ${wanted}, received ${received}`]);
  });
}

test('the issuer of development tokens is a fault in production with an address for its keys too', async () => {
  const issuer = 'urn:todo-service:development';
  const { faults } = await read({ ...TRUSTED, ...JWKS_URL, TODO_AUTH_ISSUER: issuer });
  const wanted = 'must not be the issuer of development tokens in production';
  assert.deepEqual(faults, [`TODO_AUTH_ISSUER ${wanted}, received "${issuer}"`]);
});

for (const issuer of [
  ...[
    'http://sts.example.org/adfs/services/trust',
    'HTTP://sts.example.org',
    'acme.com',
    'accounts.google.com',
  ],
  ...['CN=STS,O=Example,C=DE', 'CN=STS, O=Example', 'urn:example:sts', 'https://a.example/?realm=/x'],
  ...['https://a.example/realms/a,b', 'https://a.example/realms/a%2Cb', 'https://[::1]:8443/a;b'],
]) {
  test(`the issuer ${issuer} is a text that is compared where its keys come from elsewhere [A12]`, async () => {
    await using folder = await temporaryFolder();
    const secret = await folder.write('secret', 'text:a secret of more than thirty-two bytes');
    const keys = await folder.write('keys.json', JSON.stringify(jwks()));
    for (const source of [
      JWKS_URL,
      { TODO_AUTH_SECRET_FILE: secret },
      { TODO_AUTH_KEYS_FILE: keys },
    ] satisfies Variables[]) {
      const { auth, faults } = await read({ ...TRUSTED, ...source, TODO_AUTH_ISSUER: issuer });
      assert.deepEqual(faults, []);
      assert.equal(auth?.issuer, issuer);
    }
  });
}

/** Entries of required claims that are malformed. */
const MALFORMED = [
  '',
  ' a=b',
  'a=b ',
  'a',
  'a=',
  '=b',
  '=',
  'a=b=c',
  'a==b',
  'a =b',
  'a= b',
  '!',
  '!a=b',
  '!a=',
  '! a',
  '!!a',
  '!!a=b',
  '!a #b',
  // A name that no provider writes would be missing in every token.
  ...[
    '!at_hash !nonce',
    '!at_hash;!nonce',
    '!at_hash|nonce',
    '!nonce!at_hash',
    '!at_hash&nonce',
    '!a+b',
    '!a\nb',
  ],
  ...[
    '!"nonce"',
    "!'nonce'",
    '!`nonce`',
    '!“nonce”',
    '!(nonce)',
    '![nonce]',
    '!{nonce}',
    '!<nonce>',
    '!nonce?',
    '!*',
  ],
  ...[
    '!/nonce/',
    '!//nonce',
    '!/',
    '!//',
    '!/a//b',
    '!nonce/',
    '!a//b',
    '!a:///b',
    '!://a',
    '!https://',
    '!https:///a',
  ],
  ...[
    '!#/nonce',
    '!$.nonce',
    '!$nonce',
    '!@nonce',
    '!~nonce',
    '!~0',
    '!a~1b',
    '!/a~',
    '!/~2',
    '!\\nonce',
    '!^a',
  ],
  ...[
    '!nonce%2C!at_hash',
    '!nonce%20',
    '!a%3Db',
    '!a%25',
    '!%2523',
    '!nonce\u200b',
    '!no\u00adnce',
    '!n\u00a0x',
    '!a b',
  ],
  ...['!nоnce', '!größe', '!\uff4eonce', '!/!a', '!-!a', '!a\u0000'],
  '/a~=b',
  '!/a~2',
  'a%=b',
  'a=%2c',
  'a=%2',
  'a=%2F',
  'a=%%2C%',
  '%0a=b',
  '!%',
];

for (const entry of MALFORMED) {
  test(`${quoted(entry)} is no required claim, and the fault quotes it alone [A13; A14]`, async () => {
    for (const text of [`x=y,${entry},!z`, `x=y,z=1,${entry},!u`]) {
      const { faults } = await read({ ...TRUSTED, TODO_AUTH_REQUIRED_CLAIMS: text });
      const wanted = `TODO_AUTH_REQUIRED_CLAIMS ${REQUIRED}`;
      // Of what may hold a credential less is shown.
      const shown = /[@:]/.test(entry) ? '"…"' : asciiOf(entry);
      assert.deepEqual(faults, [`${wanted}, received ${shown}`]);
    }
  });
}

/** JSON in printable ASCII. */
function asciiOf(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(text).replaceAll(/[^ -~]/g, escaped);
}

/** Required claims as they are written, and what is read: name, path and value. */
const REQUIREMENTS: readonly (readonly [string, string, readonly string[], string | undefined])[] = [
  ['token_use=access', 'token_use', ['token_use'], 'access'],
  ['/o/id=org_1', '/o/id', ['o', 'id'], 'org_1'],
  ['!at_hash', 'at_hash', ['at_hash'], undefined],
  ['!/a/b', '/a/b', ['a', 'b'], undefined],
  ['!x5t%23S256', 'x5t%23S256', ['x5t#S256'], undefined],
  ['!cognito:groups', 'cognito:groups', ['cognito:groups'], undefined],
  ['!/a.b-c/0/_x', '/a.b-c/0/_x', ['a.b-c', '0', '_x'], undefined],
  ['!/https:~1~1a.example~1r/~0', '/https:~1~1a.example~1r/~0', ['https://a.example/r', '~'], undefined],
  ['!kubernetes.io/pod/name', 'kubernetes.io/pod/name', ['kubernetes.io/pod/name'], undefined],
  [
    '!https://a.example:8443/b%23c',
    'https://a.example:8443/b%23c',
    ['https://a.example:8443/b#c'],
    undefined,
  ],
  ['https://a.example/b=c', 'https://a.example/b', ['https://a.example/b'], 'c'],
  ['a%3Db=c%3Dd', 'a%3Db', ['a=b'], 'c=d'],
  ['a=%20b%2C%23', 'a', ['a'], ' b,#'],
  ['a=%252C', 'a', ['a'], '%2C'],
  ['a=!b', 'a', ['a'], '!b'],
  ['a=b #c', 'a', ['a'], 'b #c'],
  ['/%25~1~01=b', '/%25~1~01', ['%/~1'], 'b'],
  ['__proto__=b', '__proto__', ['__proto__'], 'b'],
];

for (const [text, name, path, value] of REQUIREMENTS) {
  test(`${quoted(text)} requires ${quoted(path)}: ${quoted(value)} [A13; A14]`, async () => {
    const { auth, faults } = await read({ ...TRUSTED, TODO_AUTH_REQUIRED_CLAIMS: text });
    assert.deepEqual(faults, []);
    assert.deepEqual(auth?.requiredClaims, [{ name, path, value }]);
  });
}

test('audiences and roles are lists, whose entries are decoded once [A10; A13]', async () => {
  const { auth, faults } = await read({
    ...TRUSTED,
    TODO_AUTH_AUDIENCE: 'api://todo,a%2Cb',
    TODO_AUTH_AUDIENCE_CLAIM: '/o/id',
    TODO_AUTH_EDITOR_ROLE: 'CN=Editors%2COU=Groups,CN=A%2COU=B,team%3Da,team%3Db,c=d,%2525,a b,!c',
    TODO_AUTH_TOKEN_TYPE: 'application/AT+JWT',
  });
  assert.deepEqual(faults, []);
  assert.deepEqual(auth?.audiences, ['api://todo', 'a,b']);
  assert.deepEqual(auth?.audienceClaim, ['o', 'id']);
  const roles = ['CN=Editors,OU=Groups', 'CN=A,OU=B', 'team=a', 'team=b', 'c=d', '%25', 'a b', '!c'];
  assert.deepEqual(auth?.claims.editorRoles, roles);
  assert.equal(auth?.tokenType, 'at+jwt');
});

/** Settings that are of tokens of an issuer alone. */
const OF_ISSUER: Variables = {
  TODO_AUTH_AUDIENCE_CLAIM: 'client_id',
  TODO_AUTH_REQUIRED_CLAIMS: 'token_use=access',
  TODO_AUTH_EDITOR_ROLE: 'Todo-editors',
  TODO_AUTH_TOKEN_TYPE: 'at+jwt',
};

test('in development without an issuer the settings of an issuer are looked at, and hold for nothing [A15]', async () => {
  const { auth, faults } = await read(OF_ISSUER, 'development');
  assert.deepEqual(faults, []);
  assert.deepEqual(auth?.audiences, ['todo-service']);
  const { audienceClaim, requiredClaims, tokenType, claims } = auth ?? {};
  assert.deepEqual(
    [audienceClaim, requiredClaims, tokenType, claims?.editorRoles],
    [undefined, undefined, undefined, undefined],
  );
  const wrong = await read({ ...OF_ISSUER, TODO_AUTH_REQUIRED_CLAIMS: 'a' }, 'development');
  assert.deepEqual(wrong.faults, [`TODO_AUTH_REQUIRED_CLAIMS ${REQUIRED}, received "a"`]);
});

test('of several sources only one may be set; no value is shown, for one may be the secret itself', async () => {
  const files = { TODO_AUTH_KEYS_FILE: 'k', TODO_AUTH_SECRET_FILE: 's3cr3t' };
  const { faults } = await read({ ...TRUSTED, ...JWKS_URL, ...files });
  const received = 'TODO_AUTH_KEYS_FILE and TODO_AUTH_SECRET_FILE and TODO_AUTH_JWKS_URL';
  assert.deepEqual(faults, [`Of ${SOURCES} only one may be set, received ${received}`]);
});

test('of a source with a final line break nothing else is said, though it is one of several [D18]', async () => {
  const { faults } = await read({ ...TRUSTED, ...JWKS_URL, TODO_AUTH_KEYS_FILE: 'k\n' });
  assert.deepEqual(faults, ['TODO_AUTH_KEYS_FILE must not end with white space, received "…\\n"']);
});

test('nothing is said of the development key in a folder whose name ends with a blank [D18]', async () => {
  await using folder = await temporaryFolder();
  await folder.write('development-key.json', '{');
  await symlink(folder.path, `${folder.path}/ `);
  const { faults } = await read({}, 'development', `${folder.path}/ `);
  assert.deepEqual(faults, ['--data-dir must not end with white space, received "… "']);
});

test('what is wrong with a secret is told with the name of its file, and with nothing of it', async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write('secret', 'text:a secret that nobody may ever s');
  const { faults } = await read({ ...TRUSTED, TODO_AUTH_SECRET_FILE: file });
  assert.deepEqual(faults, [
    `TODO_AUTH_SECRET_FILE must name a file with HMAC secrets, received "${file}": ` +
      'line 1 must have at least 32 bytes (RFC 7518 §3.2), received 31 bytes',
  ]);
});

/** Ways to bring a development key into production: the variable that names a file, and what the file holds. */
const SMUGGLED: readonly (readonly [string, Variable, (key: { kid: string; k: string }) => string])[] = [
  ['its file as secret', 'TODO_AUTH_SECRET_FILE', (key) => `text:${JSON.stringify(key)}`],
  ['its file as secret, in base64', 'TODO_AUTH_SECRET_FILE', (key) => `base64:${btoa(JSON.stringify(key))}`],
  [
    'its secret in base64',
    'TODO_AUTH_SECRET_FILE',
    ({ k }) => `base64:${Buffer.from(k, 'base64url').toString('base64')}`,
  ],
  ['the text of its secret', 'TODO_AUTH_SECRET_FILE', ({ k }) => `text:${k}`],
  ['its file as keys', 'TODO_AUTH_KEYS_FILE', (key) => JSON.stringify(key)],
  ['its kid', 'TODO_AUTH_KEYS_FILE', ({ kid }) => JSON.stringify(jwkOf(publicKey('ed'), kid))],
];

for (const [what, variable, contentOf] of SMUGGLED) {
  test(`production refuses the development key by ${what}, also by a link`, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'development-key.json');
    await openDevelopmentKey(path);
    const file = await folder.write('file', contentOf(JSON.parse(await readFile(path, 'utf8'))));
    await symlink(file, join(folder.path, 'link'));
    for (const named of [file, join(folder.path, 'link')]) {
      const { faults } = await read({ ...TRUSTED, [variable]: named });
      assert.equal(faults.length, 1, faults.join('\n'));
      assert.match(
        faults[0] ?? '',
        /must not (be a development key$|hold a development key in production)|symmetric key/,
      );
    }
  });
}

test('production does not look at a development key that lies around', async () => {
  await using folder = await temporaryFolder();
  await folder.write('development-key.json', 'damaged');
  assert.deepEqual((await read(TRUSTED, 'production', folder.path)).faults, []);
});

test('a damaged development key is a fault in development', async () => {
  await using folder = await temporaryFolder();
  await folder.write('development-key.json', '{');
  const { faults } = await read({}, 'development', folder.path);
  assert.match(
    faults.join(),
    /^The development key ".*development-key.json" cannot be used: .* Restore the file, or delete it/,
  );
});

test('production does not start with a development key, and all faults are in one message: 78, no stack [A12]', async () => {
  await using folder = await temporaryFolder();
  const { secret } = await openDevelopmentKey(join(folder.path, 'development-key.json'));
  const env = {
    TODO_AUTH_ISSUER: 'https://login.example.org ',
    TODO_AUTH_SECRET_FILE: await folder.write('secret', `base64:${secret.toString('base64')}`),
    TODO_AUTH_ROLE_CLAIM: '/~',
    TODO_AUTH_CLOCK_TOLERANCE: '1h',
  };
  const { code, stdout, stderr } = await runProgram(['serve', '--port', '0'], { env });
  assert.deepEqual([code, stdout], [78, '']);
  for (const variable of ['ISSUER', 'AUDIENCE', 'SECRET_FILE', 'ROLE_CLAIM', 'CLOCK_TOLERANCE']) {
    assert.match(stderr, new RegExp(`^ {2}TODO_AUTH_${variable} must `, 'm'));
  }
  assert.match(stderr, /: line 1 must not be a development key$/m);
  assert.doesNotMatch(stderr, /\n\s+at |Error:/);
});
