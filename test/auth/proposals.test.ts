import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticateWith, canWriteTodos } from '../../src/auth/admit.ts';
import { fixedKeys } from '../../src/auth/keys/keys.ts';
import { fromSecret } from '../../src/auth/keys/verification-key.ts';
import { readAuth } from '../../src/auth/settings.ts';
import { examineToken } from '../../src/commands/explain/examine.ts';
import { readSettings } from '../../src/settings/read.ts';
import { forge, mac, SECRET } from './forge.ts';
import TOKENS from './tokens.json' with { type: 'json' };

type Claims = Readonly<Record<string, unknown>>;
type Settings = Readonly<Record<string, string>>;

interface Provider {
  readonly name: string;
  readonly settings: Settings;
  readonly header: Claims & { readonly alg: string; readonly kid: string };
  readonly claims: Claims;
  readonly refused?: readonly Claims[];
  readonly readers?: readonly Claims[];
  readonly writers?: readonly Claims[];
}

const PROVIDERS: readonly Provider[] = TOKENS.providers;

const now = Math.floor(Date.now() / 1000);

function tokenOf({ header }: Provider, claims: Claims): string {
  return forge({
    header: { ...header, alg: 'HS256' },
    claims: { iat: now, exp: now + 600, ...claims },
    sign: mac('sha256'),
  });
}

/** What a service with these settings trusts that has the key of the test: a secret, whose signatures cost least. */
async function trustOf({ header }: Provider, settings: Settings) {
  const { TODO_AUTH_KEYS_FILE: _, ...named } = settings;
  const read = readSettings({ ...named, TODO_AUTH_JWKS_URL: 'https://id.example.org/jwks' }, {});
  const auth = await readAuth(read, 'production');
  assert.ok(auth && read.faults.length === 0, read.faults.join());
  return { ...auth, keys: fixedKeys([fromSecret(SECRET, header.kid)], 'here'), now: Date.now };
}

type Rank = 'refused' | 'reads' | 'writes';

async function rankOf(trust: Awaited<ReturnType<typeof trustOf>>, token: string): Promise<Rank> {
  const result = await authenticateWith(trust)(`Bearer ${token}`);
  if (!('identity' in result)) return 'refused';
  return canWriteTodos(result.identity) ? 'writes' : 'reads';
}

/** The settings that a line proposes for a token, and the audience that stands in the proposed claim. */
function proposedIn(detail: string, made: Claims): Settings {
  const given = Array.from(
    detail.matchAll(/(TODO_AUTH_\w+)=("(?:[^"\\]|\\.)*")/g),
    ([, name = '', value = '']) => {
      return [name, JSON.parse(value)] as const;
    },
  );
  const claim = new Map(given).get('TODO_AUTH_AUDIENCE_CLAIM');
  return {
    ...Object.fromEntries(given),
    ...(claim !== undefined && { TODO_AUTH_AUDIENCE: String(made[claim]) }),
  };
}

/** Settings from which somebody begins: those of the page, each left out, and the two that every service needs. */
function beginningsOf({ settings }: Provider): readonly Settings[] {
  const { TODO_AUTH_ISSUER = '', TODO_AUTH_AUDIENCE = '' } = settings;
  const without = Object.keys(settings)
    .filter((name) => !/ISSUER|AUDIENCE$|KEYS_FILE|JWKS_URL/.test(name))
    .map((left) => Object.fromEntries(Object.entries(settings).filter(([name]) => name !== left)));
  return [settings, ...without, { TODO_AUTH_ISSUER, TODO_AUTH_AUDIENCE }];
}

/** Tokens that are not in the file: without an audience, and with a client in its place. */
function variantsOf(of: Claims, audience: string): readonly { readonly made: Claims; readonly of: Claims }[] {
  const { aud: _, ...rest } = of;
  const named = ['azp', 'client_id', 'cid', 'appid'].map((name) => ({ ...rest, [name]: audience }));
  return [of, rest, ...named].map((made) => ({ made, of }));
}

/** Every token of the file, of other providers too: signed with the key of the test, their issuer may be the same. */
const OTHERS = PROVIDERS.flatMap((provider) => [
  ...(provider.refused ?? []).map((claims) => ({ provider, claims })),
  ...(provider.readers ?? []).map((claims) => ({ provider, claims, isReader: true })),
  { provider, claims: provider.claims },
]);

for (const provider of PROVIDERS) {
  test(`no proposal for a token of ${provider.name} admits another that was refused, or lets a reader write`, async () => {
    const { settings, claims, refused = [], readers = [], writers = [] } = provider;
    const [audience = ''] = (settings.TODO_AUTH_AUDIENCE ?? '').split(',');
    const all = [claims, ...writers, ...readers, ...refused];
    const others = OTHERS.map((other) => ({ ...other, token: tokenOf(provider, other.claims) }));
    const ranksUnder = async (settingsTried: Settings) => {
      const trust = await trustOf(provider, settingsTried);
      return Promise.all(others.map(({ token }) => rankOf(trust, token)));
    };
    for (const before of beginningsOf(provider)) {
      const trust = await trustOf(provider, before);
      const was = await ranksUnder(before);
      const ranks = new Map<string, readonly Rank[]>();
      for (const { made, of } of all.flatMap((one) => variantsOf(one, audience))) {
        const { lines } = await examineToken(tokenOf(provider, made), trust);
        for (const { detail } of lines) {
          const proposed = proposedIn(detail, made);
          if (Object.keys(proposed).length === 0) continue;
          const key = JSON.stringify(proposed);
          const is = ranks.get(key) ?? (await ranksUnder({ ...before, ...proposed }));
          ranks.set(key, is);
          for (const [at, other] of others.entries()) {
            if (other.claims === of || other.claims === claims || was[at] === is[at]) continue;
            const shown = `${key}, ${JSON.stringify(made)}, ${JSON.stringify(other.claims)}: ${was[at]}, then ${is[at]}`;
            assert.notEqual(was[at], 'refused', shown);
            if (is[at] === 'writes') assert.ok(!isReaderOf(provider, other), shown);
          }
        }
      }
    }
  });
}

function isReaderOf(provider: Provider, other: (typeof OTHERS)[number]): boolean {
  return other.provider === provider && 'isReader' in other;
}

test('an access token of each provider is not told that it looks like an ID token', async () => {
  for (const provider of PROVIDERS) {
    const trust = await trustOf(provider, provider.settings);
    const { lines } = await examineToken(tokenOf(provider, provider.claims), trust);
    assert.doesNotMatch(lines.map(({ detail }) => detail).join(), /looks like an ID token/, provider.name);
  }
});
