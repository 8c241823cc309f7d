import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticateWith, canWriteTodos } from '../../src/auth/admit.ts';
import { fixedKeys } from '../../src/auth/keys/keys.ts';
import { readAuth } from '../../src/auth/settings.ts';
import { readSettings } from '../../src/settings/read.ts';
import { SETTINGS } from '../../src/settings/table.ts';
import { temporaryFolder } from '../support/folder.ts';
import { forge, jwkOf, jwks, privateKey, publicKey, signer } from './forge.ts';
import { PAGE, ROWS, settingsOf } from './provider-page.ts';
import TOKENS from './tokens.json' with { type: 'json' };
import { usable } from './trust.ts';

type Claims = Readonly<Record<string, unknown>>;

interface Provider {
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly header: { readonly alg: string; readonly kid: string };
  readonly claims: Claims;
  readonly refused?: readonly Claims[];
  readonly readers?: readonly Claims[];
  /** Other tokens that may write: among them ID tokens that nothing tells from access tokens. */
  readonly writers?: readonly Claims[];
}

/** Of no provider: they show what the settings mean. */
const RULES = new Set([
  'an object of roles: only true, or an object with a member',
  'a distinguished name as the role: commas are %2C',
  'an audience claim beside an aud',
]);

const providers: readonly Provider[] = TOKENS.providers.filter(({ name }) => !RULES.has(name));

/** Providers whose settings other tests hold: they read the page too. */
const HELD_ELSEWHERE = [
  ...['Keycloak', 'Authlib', 'better-auth', 'oidc-provider', 'Glewlwyd', 'LemonLDAP::NG'],
  '@jmondi/oauth2-server',
];

/** The page asks for the id of the repository, whose name can pass to a stranger: `octo/todo` has this one. */
const REPOSITORY_ID = '1296269';

/** The row of the page for the tokens of this name, which may say more: `Dex: groups, …`. */
function rowOf({ name }: Provider): string {
  const [row, ...others] = ROWS.filter(({ provider }) =>
    [' ', ':', ','].some((end) => `${name} `.startsWith(provider + end)),
  );
  assert.ok(row, `docs/identity-providers.md has no row for "${name}"`);
  assert.deepEqual(others, []);
  return row.provider;
}

test('docs/identity-providers.md has a row for every provider of tokens.json, and no other row is without a test', () => {
  const rows = ROWS.map(({ provider }) => provider);
  assert.deepEqual([...providers.map(rowOf), ...HELD_ELSEWHERE].sort(), rows.sort());
});

test('every row of docs/identity-providers.md has settings of the service, and says how they were tried', () => {
  for (const { provider, settings, tried } of ROWS) {
    for (const name of Object.keys(settings))
      assert.ok(Object.hasOwn(SETTINGS, name), `${provider}: ${name}`);
    assert.match(tried, /^(?:run(?:$|:)|documentation|its source)/, provider);
  }
});

for (const provider of providers) {
  test(`docs/identity-providers.md has the settings of tokens.json for ${provider.name}`, () => {
    const shown = { ...settingsOf(rowOf(provider)) };
    for (const [name, placeholder, form] of [
      ['TODO_AUTH_JWKS_URL', 'JWKS', /^https:\/\//],
      ['TODO_AUTH_KEYS_FILE', 'JWKS FILE', /^\//],
    ] as const) {
      if (form.test(shown[name] ?? '')) shown[name] = placeholder;
    }
    const required = shown.TODO_AUTH_REQUIRED_CLAIMS?.replace(
      `repository_id=${REPOSITORY_ID}`,
      'repository=octo/todo',
    );
    if (required !== undefined) shown.TODO_AUTH_REQUIRED_CLAIMS = required;
    assert.deepEqual(shown, provider.settings);
  });

  test(`with the settings of docs/identity-providers.md, tokens of ${provider.name} write, read or are refused`, async () => {
    await using folder = await temporaryFolder();
    const shown = settingsOf(rowOf(provider));
    const keysFile = shown.TODO_AUTH_KEYS_FILE && (await folder.write('keys.json', JSON.stringify(jwks())));
    const settings = readSettings({ ...shown, TODO_AUTH_KEYS_FILE: keysFile }, {});
    const auth = await readAuth(settings, 'production');
    assert.deepEqual(settings.faults, []);
    assert.ok(auth);

    const key = provider.header.alg === 'ES256' ? 'p256' : 'rsa';
    const keys = fixedKeys([usable(jwkOf(publicKey(key), provider.header.kid))], 'the provider');
    const authenticate = authenticateWith({ ...auth, keys, now: Date.now });
    const answerTo = async (claims: Claims) => {
      const header = provider.header;
      const token = forge({ header, claims: complete(claims), sign: signer(header.alg, privateKey(key)) });
      const result = await authenticate(`Bearer ${token}`);
      if (!('identity' in result)) return 'refused';
      return canWriteTodos(result.identity) ? 'writes' : 'reads';
    };
    for (const claims of [provider.claims, ...(provider.writers ?? [])]) {
      assert.equal(await answerTo(claims), 'writes');
    }
    for (const claims of provider.readers ?? []) assert.equal(await answerTo(claims), 'reads');
    for (const claims of provider.refused ?? []) assert.equal(await answerTo(claims), 'refused');
  });
}

/** With the times of a good token and, for GitHub Actions, the id that belongs to the name of the repository. */
function complete(claims: Claims): Claims {
  const now = Math.floor(Date.now() / 1000);
  const { repository } = claims;
  const id = repository === 'octo/todo' ? REPOSITORY_ID : '583231';
  return {
    ...claims,
    ...(repository !== undefined && { repository_id: id }),
    iat: now,
    nbf: now,
    exp: now + 600,
  };
}

test('docs/identity-providers.md has at most 2,550 words', () => {
  const words = PAGE.split(/\s+/).filter((word) => word !== '');
  assert.ok(words.length <= 2_550, `${words.length}`);
});
