import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticateWith, canWriteTodos } from '../../src/auth/admit.ts';
import { examineToken } from '../../src/auth/token/examine.ts';
import { draft } from './forge.ts';
import { claimsText } from './hostile/row.ts';
import { HOSTILE } from './hostile-tokens.ts';
import { issuerKeys, secretKeys, TRUST } from './trust.ts';

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

for (const { rule, what, says, token, keys } of HOSTILE) {
  test(`${rule} · refuses ${what}`, async () => {
    const challenge = (await challengeOf(token, keys)) ?? '';
    const form = /^Bearer realm="todo-service", error="invalid_token", error_description="([^"\\]+)"$/;
    const [, description = ''] = form.exec(challenge) ?? [];
    if (typeof says === 'string') assert.equal(description, says, challenge);
    else assert.match(description, says, challenge);
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
  test(`A10, A11 · may read and not write: ${claims}`, async () => {
    const authentication = await authenticates.issuer(`Bearer ${claimsText(claims, ['role'])(draft())}`);
    assert.ok('identity' in authentication);
    assert.equal(canWriteTodos(authentication.identity), false);
  });
}

test('there are at least 100 hostile tokens', () => {
  assert.ok(HOSTILE.length >= 100, String(HOSTILE.length));
});
