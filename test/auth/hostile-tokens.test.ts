import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticateWith, canWriteTodos } from '../../src/auth/admit.ts';
import type { Trust } from '../../src/auth/token/checks.ts';
import type { Header } from '../../src/auth/token/read-token.ts';
import { examineToken } from '../../src/commands/explain/examine.ts';
import { chapters } from '../../tools/clauses.ts';
import { AUDIENCE, draft } from './forge.ts';
import { claimsText } from './hostile/row.ts';
import { HOSTILE } from './hostile-tokens.ts';
import { issuerKeys, secretKeys, TRUST, verdictsWith } from './trust.ts';

const trusts = {
  issuer: { ...TRUST, keys: issuerKeys(), now: Date.now },
  secret: { ...TRUST, keys: secretKeys(), now: Date.now },
};
const authenticates = { issuer: authenticateWith(trusts.issuer), secret: authenticateWith(trusts.secret) };

/** The challenge that a token is refused with by the service, undefined when it is accepted; `token verify` agrees. */
async function challengeOf(token: string, keys: keyof typeof trusts): Promise<string | undefined> {
  const authentication = await authenticates[keys](`Bearer ${token}`);
  const { verdict, lines } = await examineToken(token, trusts[keys]);
  const isAccepted = authentication.code === 'accepted';
  assert.equal(verdict === 'accepted', isAccepted, 'token verify');
  assert.equal(
    lines.every(({ result }) => result === 'ok'),
    isAccepted,
    'token verify',
  );
  return 'answer' in authentication ? authentication.answer.headers?.['www-authenticate'] : undefined;
}

test('the twins of the hostile tokens are accepted: each token is refused for its fault alone', async () => {
  for (const [twin, keys] of new Map(HOSTILE.map(({ twin, keys }) => [twin, keys]))) {
    assert.equal(await challengeOf(twin, keys), undefined, twin);
  }
});

test('each hostile token names the clauses of the contract, or the sections of RFCs, that it breaks', () => {
  const known = new Set(chapters().flatMap(({ clauses }) => clauses.map(({ name }) => name)));
  const isKnown = (name: string) => known.has(name) || name.startsWith('RFC ');
  assert.deepEqual(
    HOSTILE.filter(({ rule }) => !rule.split('; ').every(isKnown)),
    [],
  );
});

for (const { rule, what, says, token, keys } of HOSTILE) {
  test(`refuses ${what} [${rule}]`, async () => {
    const challenge = (await challengeOf(token, keys)) ?? '';
    const form = /^Bearer realm="todo-service", error="invalid_token", error_description="([^"\\]+)"$/;
    const [, description = ''] = form.exec(challenge) ?? [];
    if (typeof says === 'string') assert.equal(description, says, challenge);
    else assert.match(description, says, challenge);
  });
}

/** Each setting of an issuer's tokens, and the twins that are still good under it. */
const SETTINGS: readonly (readonly [string, Partial<Trust>, admits?: (header: Header) => boolean])[] = [
  ['several audiences', { audiences: ['other-service', AUDIENCE] }],
  ['an audience claim', { audienceClaim: ['aud'] }],
  ['an audience claim that every token has', { audiences: [AUDIENCE, 'ada'], audienceClaim: ['sub'] }],
  [
    'required claims',
    {
      requiredClaims: [
        { name: 'sub', path: ['sub'], value: 'ada' },
        { name: 'nonce', path: ['nonce'], value: undefined },
      ],
    },
  ],
  ['another name for the role', { claims: { editorRoles: ['Todo-editors'] } }],
  ['a type of token', { tokenType: 'jwt' }, ({ typ }) => /^(?:application\/)?jwt$/i.test(String(typ))],
  [
    'the type of access tokens',
    { tokenType: 'at+jwt' },
    ({ typ }) => /^(?:application\/)?at\+jwt$/i.test(String(typ)),
  ],
];

for (const [what, setting, admits = () => true] of SETTINGS) {
  test(`with ${what}, hostile tokens stay refused and their twins good [A5; A13; A14]`, async () => {
    const verdicts = {
      issuer: verdictsWith(issuerKeys(), setting),
      secret: verdictsWith(secretKeys(), setting),
    };
    for (const { twin, token, keys, says } of HOSTILE) {
      const header = JSON.parse(Buffer.from(twin.split('.')[0] ?? '', 'base64url').toString());
      assert.equal((await verdicts[keys](twin)) === 'accepted', admits(header), twin);
      // For a claim in the place of an audience, a token may have none.
      if (setting.audienceClaim?.[0] === 'sub' && says === 'The token is for another audience') continue;
      assert.notEqual(await verdicts[keys](token), 'accepted', token);
    }
  });
}

for (const claims of [
  '"role":"editor\\u0000"',
  '"role":"\\u0435ditor"',
  '"role":"[\\"editor\\"]"',
  '"role":["e","d","i","t","o","r"]',
  '"roles":{"0":"editor","length":1}',
  '"Role":"editor","ROLES":["editor"]',
  '"scp":["editor"]',
  '"name":"editor"',
  '"__proto__":{"role":"editor","roles":["editor"]}',
  '"constructor":{"prototype":{"role":"editor"}}',
]) {
  test(`may read and not write: ${claims} [A10; A11]`, async () => {
    const authentication = await authenticates.issuer(`Bearer ${claimsText(claims, ['role'])(draft())}`);
    assert.ok('identity' in authentication);
    assert.equal(canWriteTodos(authentication.identity), false);
  });
}

test('there are at least 100 hostile tokens', () => {
  assert.ok(HOSTILE.length >= 100, String(HOSTILE.length));
});
