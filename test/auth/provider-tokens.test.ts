import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { authenticateWith, canWriteTodos } from '../../src/auth/admit.ts';
import { fixedKeys, readKeySet } from '../../src/auth/keys/keys.ts';
import type { Trust } from '../../src/auth/token/checks.ts';
import { parseClaimPath } from '../../src/auth/token/identity.ts';
import { examineToken } from '../../src/commands/explain/examine.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startList } from '../support/list.ts';
import { forge, jwks, type KeyName, mac, privateKey, signer } from './forge.ts';
import KEYCLOAK from './keycloak.json' with { type: 'json' };
import { RUN, settingsOf } from './provider-page.ts';
import { callerOf, issuerKeys, TRUST } from './trust.ts';

/** The tokens that a provider's source writes, with names, hosts, times and keys of the test, and what comes of them. */
interface Fixture {
  readonly provider: string;
  /** The key of the test that stands for the provider's. */
  readonly key: KeyName;
  readonly header: Readonly<Record<string, string>> & { readonly alg: string };
  readonly claims: Readonly<Record<string, unknown>>;
  /** Claims of roles, whether their bearer may write, and what `token verify` says of them. */
  readonly roles: readonly (readonly [claims: object, mayWrite: boolean, said: string])[];
}

const now = Math.floor(Date.now() / 1000);

const FIXTURES: readonly Fixture[] = [
  /** 2.7.5 of Debian 12, its OIDC plugin: an access token by RFC 9068, several values of a user joined with commas. */
  {
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
    roles: [
      [{ role: 'editor' }, true, '"editor"'],
      [{ role: 'reader,editor' }, false, '"reader,editor"; a string of "role" is one role, and never split'],
    ],
  },

  /** `makeJWT` of `Portal::Lib::OpenIDConnect`, with claims in access tokens: audiences are always a list, `typ` has capitals. */
  {
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
    },
    roles: [
      [{ roles: ['reader', 'editor'] }, true, '"reader", "editor"'],
      [{}, false, 'none in the claims "role" and "roles"'],
    ],
  },

  /** `signJWT` of the plugin `jwt`: the user of the session, no `typ`, EdDSA; the plugin `admin` keeps roles in one string. */
  {
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
      banned: false,
      banReason: null,
      banExpires: null,
      id: 'Xk2bYcP0Qe7sZr5uVwTn1mLh8gJd4aFi',
      sub: 'Xk2bYcP0Qe7sZr5uVwTn1mLh8gJd4aFi',
      exp: now + 900,
      iss: 'https://app.example.org',
      aud: 'https://app.example.org',
    },
    roles: [
      [{ role: 'editor' }, true, '"editor"'],
      [{ role: 'user,editor' }, false, '"user,editor"; a string of "role" is one role, and never split'],
    ],
  },

  /** `JWTBearerTokenGenerator` of 1.9.10 with a `KeySet`: an access token by RFC 9068, by default for ten days. */
  {
    provider: 'Authlib',
    key: 'rsa',
    header: { typ: 'at+jwt', alg: 'RS256', kid: 'rsa' },
    claims: {
      iss: 'https://id.example.org',
      exp: now + 864_000,
      client_id: 'web',
      iat: now,
      jti: '9oNeBkNlSf5HgjvS',
      scope: 'openid profile',
      sub: '7',
      aud: ['todo-service'],
      name: 'Ada Lovelace',
    },
    roles: [
      [{ roles: ['editor'] }, true, '"editor"'],
      [{ roles: [] }, false, 'none in the claims "role" and "roles"'],
    ],
  },
];

for (const { provider, key, header, claims, roles } of FIXTURES) {
  test(`with the settings of the page, tokens of ${provider} read, and write as their roles say`, async () => {
    await using folder = await temporaryFolder();
    const keysFile = await folder.write('keys.json', JSON.stringify(jwks()));
    const source = { TODO_AUTH_JWKS_URL: '', TODO_AUTH_KEYS_FILE: keysFile, TODO_AUTH_SECRET_FILE: '' };
    const settings = settingsOf(provider);
    await using list = await startList({ env: { ...settings, ...source } });
    const { read, write } = callerOf(list.url);
    for (const [roleClaims, mayWrite, said] of roles) {
      const signed = signer(header.alg, privateKey(key));
      const token = forge({ header, claims: { ...claims, ...roleClaims }, sign: signed });
      assert.deepEqual(await (await read(token, '/me')).json(), { name: 'Ada Lovelace' });
      assert.equal((await write(token)).status, mayWrite ? 201 : 403);

      const { TODO_AUTH_ISSUER: issuer = '', TODO_AUTH_AUDIENCE: audience = '' } = settings;
      const trust = { ...TRUST, issuer, audiences: [audience], keys: issuerKeys(), now: Date.now };
      const { verdict, lines } = await examineToken(token, trust);
      assert.equal(verdict, 'accepted');
      assert.equal(lines.find(({ check }) => check === 'roles')?.detail, said);
    }
  });
}

/** Libraries that sign with a shared secret: their access token, and the refresh token that comes with it. */
const SHARED: readonly (readonly [provider: string, access: object, refresh: object])[] = [
  [
    '@jmondi/oauth2-server',
    { cid: 'web', scope: '', sub: 'ada', exp: now + 300, nbf: now, jti: 'b014cbcb0e7d11dd' },
    {
      ...{ client_id: 'web', access_token_id: 'b014cbcb0e7d11dd', refresh_token_id: '5abb5eaf62644201' },
      ...{ iss: undefined, aud: undefined, name: undefined, scope: '', user_id: 'ada' },
      expire_time: now + 10_000,
    },
  ],
  /** 5.5.1, with a `get_token` that adds name and roles: to the refresh token, whose claims the access token takes over. */
  [
    'djangorestframework-simplejwt',
    { token_type: 'access', exp: now + 300, jti: '61406863aee843d79c698276fa4ab184', sub: '1' },
    { token_type: 'refresh', exp: now + 86_400, jti: 'cc253eebcb134da89e4ade04131bed01', sub: '1' },
  ],
  /** 4.7.4, with an `additional_claims_loader`, which is asked for both. */
  [
    'Flask-JWT-Extended',
    { fresh: true, type: 'access', sub: 'ada', nbf: now, csrf: '85cb46ce', exp: now + 900 },
    { fresh: false, type: 'refresh', sub: 'ada', nbf: now, csrf: 'd80e4f1c', exp: now + 2_592_000 },
  ],
];

for (const [provider, access, refresh] of SHARED) {
  test(`tokens of ${provider} read, and write as their roles say, and its refresh tokens do not [A5]`, async () => {
    await using folder = await temporaryFolder();
    const secret = 'a secret of more than thirty-two bytes';
    const file = await folder.write('secret', `text:${secret}`);
    await using list = await startList({ env: { ...settingsOf(provider), TODO_AUTH_SECRET_FILE: file } });
    const { read, write } = callerOf(list.url);
    const tokenOf = (claims: object, roles: readonly string[]) =>
      forge({
        header: { alg: 'HS256', typ: 'JWT' },
        claims: {
          ...{ iss: 'https://id.example.org', aud: 'todo-service', iat: now, name: 'Ada', roles },
          ...claims,
        },
        sign: mac('sha256', secret),
      });
    assert.equal((await write(tokenOf(access, ['editor']))).status, 201);
    assert.equal((await write(tokenOf(access, ['reader']))).status, 403);
    assert.deepEqual(await (await read(tokenOf(access, ['reader']), '/me')).json(), { name: 'Ada' });
    assert.equal((await read(tokenOf(refresh, ['editor']))).status, 401);
  });
}

test('docs/identity-providers.md names the version of oidc-provider that the tests use, and settings that no token above misses', () => {
  const [audience, roleClaim] = KEYCLOAK.settings[0] ?? [];
  const keycloak = settingsOf('Keycloak');
  assert.deepEqual([keycloak.TODO_AUTH_AUDIENCE, keycloak.TODO_AUTH_ROLE_CLAIM], [audience, roleClaim]);

  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const run = Object.fromEntries(RUN.map((section) => [section.provider, section.run]));
  assert.equal(run['oidc-provider']?.split(', ')[0], devDependencies['oidc-provider']);
  assert.equal(settingsOf('Authlib').TODO_AUTH_TOKEN_TYPE, 'at+jwt');
});

/** The tokens of `keycloak.json`, which a real one made, with its keys; at a time when most of them are valid. */
const keycloak = {
  ...TRUST,
  issuer: KEYCLOAK.issuer,
  keys: fixedKeys(readKeySet(KEYCLOAK.jwks).keys, 'Keycloak'),
  now: () => Date.parse('2026-11-23T12:00:00Z'),
};

for (const [at, [audience = '', roleClaim = '']] of KEYCLOAK.settings.entries()) {
  test(`tokens of Keycloak ${KEYCLOAK.keycloak}, for ${audience}, role in "${roleClaim}": who may write [A5; A10]`, async () => {
    const claims = roleClaim === '' ? {} : { role: parseClaimPath(roleClaim) };
    const authenticate = authenticateWith({ ...keycloak, audiences: [audience], claims });
    const answers: [string, string][] = [];
    for (const { name, token } of KEYCLOAK.tokens) {
      const result = await authenticate(`Bearer ${token}`);
      const may = 'identity' in result && (canWriteTodos(result.identity) ? 'writes' : 'reads');
      answers.push([name, may || result.code]);
    }
    assert.deepEqual(
      answers,
      KEYCLOAK.tokens.map(({ name, answers: wanted }) => [name, wanted[at]]),
    );
  });
}

/** What `token verify` says as the next step, by the token of Keycloak and the check. */
for (const [name, check, says] of [
  [
    'other-client-no-audience',
    'audience',
    'must be or contain "todo-service", received "account"; Keycloak writes "account" into most tokens of a realm: never ' +
      'trust it, add a mapper "Audience"',
  ],
  [
    'dpop-bound',
    'signature',
    'made with that key; the token is bound to a key or a certificate ("cnf"), and taken without proof of it',
  ],
  [
    'id-token',
    'form',
    'The token is of a kind that is not accepted. Its claim "typ" is "ID": send the access token in its place.',
  ],
  [
    'alg-HS256',
    'key',
    'no key with kid "d9ba3050-b4d9-46bd-8f36-e70409eb3ec2" in Keycloak: a provider publishes no key for HMAC; let it sign ' +
      'with RS256 or ES256',
  ],
] as const) {
  test(`examineToken says the next step for the token ${name} of Keycloak`, async () => {
    const { token = '' } = KEYCLOAK.tokens.find((one) => one.name === name) ?? {};
    const { lines } = await examineToken(token, keycloak);
    assert.equal(lines.find((line) => line.check === check)?.detail, says);
  });
}

for (const name of ['dpop-bound', 'mtls-bound']) {
  test(`the token ${name} of Keycloak is good without proof, unless "cnf" is forbidden [A16]`, async () => {
    const { token = '' } = KEYCLOAK.tokens.find((one) => one.name === name) ?? {};
    const codeWith = async (trust: Partial<Trust>, scheme = 'Bearer') => {
      const { code } = await authenticateWith({ ...keycloak, ...trust })(`${scheme} ${token}`);
      return code;
    };
    const requiredClaims = [{ name: 'cnf', path: ['cnf'], value: undefined }];
    assert.equal(await codeWith({}), 'accepted');
    assert.equal(await codeWith({ requiredClaims }), 'required-claim');
    assert.equal(await codeWith({}, 'DPoP'), 'bearer-missing');
  });
}
