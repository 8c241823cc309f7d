import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BY_DOCUMENTATION, PAGE, RUN, sectionFor, settingsOf } from './provider-page.ts';
import TOKENS from './tokens.json' with { type: 'json' };

/** Of no provider: they show what the settings mean. */
const RULES = [
  'an object of roles: only true, or an object with a member',
  'a distinguished name as the role: commas are %2C',
  'an audience claim beside an aud',
];

const providers = TOKENS.providers.filter(({ name }) => !RULES.includes(name));

/** Providers of which `tokens.json` has no token: those of other tests start from their settings. */
const HELD_ELSEWHERE = [
  ...['Keycloak', 'Authlib', 'better-auth', 'oidc-provider', 'Glewlwyd', 'LemonLDAP::NG'],
  ...['@jmondi/oauth2-server', 'djangorestframework-simplejwt', 'Flask-JWT-Extended'],
];

const SECTIONS = [...RUN, ...BY_DOCUMENTATION];

test('the pages of providers have one section for each provider of tokens.json, and no other that no test holds', () => {
  const named = providers.map(({ name }) => sectionFor(name)?.provider ?? name);
  const sections = SECTIONS.map(({ provider }) => provider);
  assert.deepEqual([...named, ...HELD_ELSEWHERE].sort(), sections.sort());
});

test('docs/identity-providers.md has the providers that were run, with version and date, and lists the others, whose page has no other', () => {
  assert.deepEqual(
    RUN.filter(({ run = '' }) => !/^.+, \d{4}-\d{2}-\d{2}/.test(run)),
    [],
  );
  assert.deepEqual(
    BY_DOCUMENTATION.filter(({ run }) => run !== undefined),
    [],
  );
  const [, list = ''] = /^(- \*\*Run\*\*.*?)^- \*\*Not listed/ms.exec(PAGE) ?? [];
  const names = list.replaceAll('\n  ', ' ');
  assert.deepEqual(
    SECTIONS.filter(({ provider }) => !names.includes(`[${provider.replace(/^(Entra ID), .*/, '$1')}](`)),
    [],
  );
});

test('Node.js, systemd, Docker and a shell read the settings of the pages alike, as they are written', () => {
  for (const { provider, block, settings } of SECTIONS) {
    // Without a quote, a blank, `#`, `$` and `\\`, which each of them reads in a way of its own.
    assert.match(block, /^(?:TODO_AUTH_[A-Z_]+=[\w:/.@+,=!%-]+\n)+$/, provider);
    const read = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
    assert.deepEqual(read.sort(), block.trimEnd().split('\n').sort(), provider);
  }
});

for (const { name, settings } of providers) {
  test(`the page has the settings of tokens.json for ${name}`, () => {
    const shown = { ...settingsOf(name) };
    for (const [variable, placeholder, form] of [
      ['TODO_AUTH_JWKS_URL', 'JWKS', /^https:\/\//],
      ['TODO_AUTH_KEYS_FILE', 'JWKS FILE', /^\//],
    ] as const) {
      if (form.test(shown[variable] ?? '')) shown[variable] = placeholder;
    }
    assert.deepEqual(shown, settings);
  });
}

test('docs/identity-providers.md has at most 2,400 words', () => {
  const words = PAGE.split(/\s+/).filter((word) => word !== '');
  assert.ok(words.length <= 2_400, `${words.length}`);
});
