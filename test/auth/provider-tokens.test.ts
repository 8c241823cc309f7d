import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { temporaryFolder } from '../folder.ts';
import { startList } from '../operations/list.ts';
import { runProgram } from '../start.ts';
import { forge, jwks, type KeyName, privateKey, signer } from './forge.ts';

/** A token as a provider's source writes it, with names, hosts, times and keys of the test, and what comes of it. */
interface Fixture {
  readonly provider: string;
  readonly what: string;
  /** The key of the test that stands for the provider's. */
  readonly key: KeyName;
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly settings: Readonly<Record<string, string>>;
  readonly name: string | null;
  readonly mayWrite: boolean;
  /** What `token verify` says of the audience and of the roles. */
  readonly verify: readonly [audience: string, roles: string];
}

const now = Math.floor(Date.now() / 1000);

/** 2.7.5 of Debian 12, its OIDC plugin: an access token by RFC 9068, several values of a user joined with commas. */
const GLEWLWYD = {
  provider: 'Glewlwyd',
  key: 'rsa',
  header: { typ: 'at+jwt', alg: 'RS256', kid: 'rsa' },
  claims: {
    iss: 'https://glewlwyd.example.org/api/oidc',
    sub: '4321zyxdcba',
    aud: 'https://todo.example.org/',
    client_id: 'todo-web',
    jti: 'wD3PpS8uT2bEoX5yLxJq1cRk0aGh7mVn',
    type: 'access_token',
    iat: now,
    exp: now + 3600,
    nbf: now,
    scope: 'openid g_profile',
    claims: {},
    name: 'Ada Lovelace',
  },
  settings: {
    TODO_AUTH_ISSUER: 'https://glewlwyd.example.org/api/oidc',
    TODO_AUTH_AUDIENCE: 'https://todo.example.org/',
  },
  name: 'Ada Lovelace',
} as const;

/** `makeJWT` of `Portal::Lib::OpenIDConnect`, with claims in access tokens: audiences are always a list, `typ` has capitals. */
const LEMONLDAP = {
  provider: 'LemonLDAP::NG',
  key: 'rsa',
  header: { alg: 'RS256', kid: 'rsa', typ: 'at+JWT', x5t: 'Tv8v3N3yZ2U1jWUfPqkUZ9yQ0u8' },
  claims: {
    iss: 'https://auth.example.org/',
    exp: now + 3600,
    aud: ['todo-web', 'todo-service'],
    client_id: 'todo-web',
    iat: now,
    jti: '6c3a54e27fd2b6e4b5f3a0c7d1e98f60a7b2c4d5e6f708192a3b4c5d6e7f8091',
    scope: 'openid profile email',
    sid: 'q0o9hGJ6uRrZk0bJ8m1tZcV7yXw',
    sub: 'ada',
    name: 'Ada Lovelace',
    email: 'ada@example.org',
    roles: ['reader', 'editor'],
  },
  settings: { TODO_AUTH_ISSUER: 'https://auth.example.org/', TODO_AUTH_AUDIENCE: 'todo-service' },
  name: 'Ada Lovelace',
} as const;

/** `signJWT` of the plugin `jwt`: the user of the session, no `typ`, EdDSA; the plugin `admin` keeps roles in one string. */
const BETTER_AUTH = {
  provider: 'better-auth',
  key: 'ed',
  header: { alg: 'EdDSA', kid: 'ed' },
  claims: {
    iat: now,
    name: 'Ada Lovelace',
    email: 'ada@example.org',
    emailVerified: true,
    image: null,
    createdAt: '2026-11-21T07:57:06.123Z',
    updatedAt: '2026-11-21T07:57:06.123Z',
    role: 'editor',
    banned: false,
    banReason: null,
    banExpires: null,
    id: 'Xk2bYcP0Qe7sZr5uVwTn1mLh8gJd4aFi',
    sub: 'Xk2bYcP0Qe7sZr5uVwTn1mLh8gJd4aFi',
    exp: now + 900,
    iss: 'https://app.example.org',
    aud: 'https://app.example.org',
  },
  settings: { TODO_AUTH_ISSUER: 'https://app.example.org', TODO_AUTH_AUDIENCE: 'https://app.example.org' },
  name: 'Ada Lovelace',
} as const;

const FIXTURES: readonly Fixture[] = [
  {
    ...GLEWLWYD,
    what: 'one role',
    claims: { ...GLEWLWYD.claims, role: 'editor' },
    mayWrite: true,
    verify: ['"https://todo.example.org/"', '"editor"'],
  },
  {
    ...GLEWLWYD,
    what: 'several roles in one string',
    claims: { ...GLEWLWYD.claims, role: 'reader,editor' },
    mayWrite: false,
    verify: [
      '"https://todo.example.org/"',
      '"reader,editor"; "reader,editor" in "/role" is one role: a string is never split, a list has several',
    ],
  },
  {
    ...LEMONLDAP,
    what: 'a list of roles',
    mayWrite: true,
    verify: ['["todo-web","todo-service"]', '"reader", "editor"'],
  },
  {
    ...LEMONLDAP,
    what: 'no claims but the subject',
    claims: { ...LEMONLDAP.claims, name: undefined, email: undefined, roles: undefined },
    name: null,
    mayWrite: false,
    verify: ['["todo-web","todo-service"]', 'none in the claims "role" and "roles"'],
  },
  {
    ...BETTER_AUTH,
    what: 'one role',
    mayWrite: true,
    verify: ['"https://app.example.org"', '"editor"'],
  },
  {
    ...BETTER_AUTH,
    what: 'several roles in one string',
    claims: { ...BETTER_AUTH.claims, role: 'user,editor' },
    mayWrite: false,
    verify: [
      '"https://app.example.org"',
      '"user,editor"; "user,editor" in "/role" is one role: a string is never split, a list has several',
    ],
  },
];

for (const { provider, what, key, header, claims, settings, name, mayWrite, verify } of FIXTURES) {
  test(`a token of ${provider} with ${what} reads${mayWrite ? ' and writes' : ' and does not write'}`, async () => {
    await using folder = await temporaryFolder();
    const keysFile = await folder.write('keys.json', JSON.stringify(jwks()));
    const env = { ...settings, TODO_AUTH_KEYS_FILE: keysFile };
    const token = forge({ header, claims, sign: signer(String(header.alg), privateKey(key)) });

    await using list = await startList({ env: { ...env, TODO_AUTH_SECRET_FILE: '' } });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    assert.deepEqual(await (await fetch(`${list.url}/me`, { headers })).json(), { name });
    const body = '{"title":"Water the plants","categoryId":1}';
    const { status } = await fetch(`${list.url}/todos`, { method: 'POST', headers, body });
    assert.equal(status, mayWrite ? 201 : 403);

    const { code, stdout } = await runProgram(['token', 'verify', '-'], { env, input: token });
    assert.equal(code, 0, stdout);
    const said = ['audience', 'roles'].map(
      (check) => new RegExp(`^ok {5}${check} *(.*)$`, 'm').exec(stdout)?.[1],
    );
    assert.deepEqual(said, verify);
  });
}

test('docs/identity-providers.md has the settings with which these tokens are read', () => {
  const page = readFileSync('docs/identity-providers.md', 'utf8');
  const wanted = FIXTURES.flatMap(({ provider, settings }) => [
    `## ${provider}`,
    ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
  ]);
  assert.deepEqual(
    wanted.filter((text) => !page.includes(text)),
    [],
  );
});
