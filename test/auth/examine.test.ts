import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticateWith } from '../../src/auth/admit.ts';
import { examineToken } from '../../src/auth/token/examine.ts';
import { draft, forge } from './forge.ts';
import { issuerKeys, TRUST } from './trust.ts';

const keys = issuerKeys();

/** The lines about one token by the name of the check. */
async function examined(token: string, claims = {}) {
  const expected = { ...TRUST, claims, keys, now: Date.now };
  const { verdict, lines } = await examineToken(token, expected);
  return {
    verdict,
    lines: new Map(lines.map(({ check, result, detail }) => [check, `${result}: ${detail}`])),
  };
}

async function lineOf(check: 'issuer' | 'audience' | 'roles', claims: object): Promise<string> {
  return (await examined(forge(draft('p256', { claims })))).lines.get(check) ?? '';
}

test('every check of a good token is ok', async () => {
  const { verdict, lines } = await examined(forge(draft()));
  assert.equal(verdict, 'accepted');
  assert.deepEqual(
    [...lines.keys()],
    ['form', 'key', 'signature', 'issuer', 'audience', 'times', 'name', 'roles', 'may write'],
  );
  assert.equal(lines.get('may write'), 'ok: yes');
});

test('a token with three faults shows all three', async () => {
  const claims = { iss: 'a', aud: 'b', exp: 1 };
  const { verdict, lines } = await examined(forge(draft('p256', { claims })));
  assert.equal(verdict, 'refused');
  for (const check of ['issuer', 'audience', 'times'] as const)
    assert.match(lines.get(check) ?? '', /^failed: /);
});

const OTHER_ISSUER = 'failed: must be "https://login.example.org" (TODO_AUTH_ISSUER), received';
const OTHER_AUDIENCE = 'failed: must be or contain "todo-service", received';

for (const [check, claims, says] of [
  ['issuer', { iss: { toString: 1, valueOf: 1 } }, `${OTHER_ISSUER} {"toString":1,"valueOf":1}`],
  [
    'issuer',
    { iss: 'https://login.example.org/' },
    `${OTHER_ISSUER} "https://login.example.org/": mind the final slash`,
  ],
  [
    'issuer',
    { iss: 'urn:todo-service:development' },
    `${OTHER_ISSUER} "urn:todo-service:development": a development token, which only development accepts`,
  ],
  ['audience', { aud: ['account', 'todo-service'] }, 'ok: ["account","todo-service"]'],
  ['audience', { aud: ['todo-web'] }, `${OTHER_AUDIENCE} ["todo-web"]`],
  [
    'audience',
    { aud: 'todo-web', at_hash: 'lSc0IU_3KmgmFaYhdW_Saw' },
    `${OTHER_AUDIENCE} "todo-web"; it has "at_hash": perhaps an ID token; Dex's access tokens have it too`,
  ],
  [
    'audience',
    { aud: ['todo-service', 7] },
    `${OTHER_AUDIENCE} ["todo-service",7]: a list may hold strings only`,
  ],
] as const) {
  test(`the ${check} is told: ${JSON.stringify(claims)}`, async () => {
    assert.equal(await lineOf(check, claims), says);
  });
}

const unsplit = (role: string, at: string) =>
  `"${role}" in "${at}" is one role: a string is never split, a list has several`;
const PROVIDER = 'Only the provider may be able to set that claim';
const wouldRead = (pointer: string) => `TODO_AUTH_ROLE_CLAIM="${pointer}" would read it`;
const elsewhere = (pointer: string) => `"editor" stands in another claim: ${wouldRead(pointer)}. ${PROVIDER}`;
const EXACT = 'TODO_AUTH_EDITOR_ROLE says what the provider calls "editor"';
const near = (pointer: string) =>
  `roles stand in another claim: ${wouldRead(pointer)}, and ${EXACT}. ${PROVIDER}`;

/** Roles that are not read: the claims, and what is said of them. */
const SHAPES: readonly (readonly [object, string])[] = [
  [{ role: 'reader,editor' }, unsplit('reader,editor', '/role')],
  [{ roles: 'reader editor' }, unsplit('reader editor', '/roles')],
  [{ roles: ['/editor'] }, `roles are compared exactly: ${EXACT}`],
  [{ role: 'todo:editor' }, `roles are compared exactly: ${EXACT}`],
  [{ role: ' Editor' }, `roles are compared exactly: ${EXACT}`],
  [{ groups: ['/a', '/todo/editor'] }, near('/groups')],
  [{ groups: ['c0ffee00-1111-2222-3333-444455556666'] }, near('/groups')],
  [
    { roles: { editor: { org: 'a' } } },
    `"editor" is the name of a member of an object: ${wouldRead('/roles')}. ${PROVIDER}`,
  ],
  [{ realm_access: { roles: ['editor'] } }, elsewhere('/realm_access/roles')],
  [{ 'https://todo.example/roles': 'editor' }, elsewhere('/https:~1~1todo.example~1roles')],
];

for (const [claims, says] of SHAPES) {
  test(`a role in another shape or place is pointed out: ${JSON.stringify(claims)}`, async () => {
    const line = await lineOf('roles', { role: undefined, ...claims });
    assert.equal(line.slice(line.indexOf('; ') + 2), says);
  });
}

test('claims that have nothing to do with the role bring no hint', async () => {
  const claims = {
    role: 'reader',
    groups: ['editors', 'co-editor'],
    name: 'editorial',
    deep: { er: [1, null] },
  };
  assert.equal(await lineOf('roles', claims), 'ok: "reader"');
});

test('claims nested as deep as a token can be are looked through', async () => {
  const { claims } = draft('p256', { claims: { role: 'a' } });
  const deep = `{"x":${'{"a":['.repeat(1000)}"editor"${']}'.repeat(1000)},`;
  const { lines } = await examined(forge(draft(), { claims: deep + JSON.stringify(claims).slice(1) }));
  assert.equal(lines.get('roles'), 'ok: "a"');
});

const OTHER_KIND =
  'is of a kind that is not accepted. Its "typ" must be "JWT" or "at+jwt" when present, received';

/** Headers that are refused, and what is said of them beside the sentence of the answer. */
const HEADERS: readonly (readonly [object, string])[] = [
  [{ jku: 'https://a.example', x5c: [] }, 'has a parameter that is not accepted. It is "jku", "x5c".'],
  [{ crit: ['exp'] }, 'has a parameter that is not accepted. It is "crit".'],
  [{ typ: 'logout+jwt' }, `${OTHER_KIND} "logout+jwt".`],
  [{ typ: null }, `${OTHER_KIND} null.`],
  [{ alg: 'none' }, 'The algorithm of the token is not accepted. Its "alg" is "none".'],
  [{ alg: undefined }, 'The algorithm of the token is not accepted. It has no "alg".'],
];

for (const [header, says] of HEADERS) {
  test(`what is wrong with the header ${JSON.stringify(header)} is named, to who asks and not in the answer`, async () => {
    const token = forge(draft('p256', { header }));
    const line = (await examined(token)).lines.get('form') ?? '';
    assert.equal(line.slice(-says.length), says);
    const answer = await authenticateWith({ ...TRUST, keys, now: Date.now })(`Bearer ${token}`);
    const challenge = 'answer' in answer ? answer.answer.headers?.['www-authenticate'] : undefined;
    assert.doesNotMatch(challenge ?? 'null', /jku|crit|logout|null|none/);
  });
}

test('a configured claim without roles is named', async () => {
  const { lines } = await examined(forge(draft()), { role: ['realm_access', 'roles'] });
  assert.match(lines.get('roles') ?? '', /^ok: none in the claim "\/realm_access\/roles"/);
});

test('an unknown key is told with the known ones', async () => {
  const { lines } = await examined(forge(draft('p256', { header: { kid: 'gone' } })));
  assert.match(
    lines.get('key') ?? '',
    /^failed: no key with kid "gone" in the test issuer: there is .*"p384" for ES384/,
  );
});

test('keys that cannot be had are no fault of the token, and are said', async () => {
  const down = { ...keys, current: () => undefined, describe: () => 'the issuer' };
  const { verdict, lines } = await examineToken(forge(draft()), { ...TRUST, keys: down, now: Date.now });
  assert.equal(verdict, 'unavailable');
  assert.equal(lines.find(({ check }) => check === 'key')?.detail, 'no keys could be had from the issuer');
});

test('a token of another type is refused by the service and here, whether keys can be had or not', async () => {
  const down = { ...keys, current: () => undefined };
  const trust = { ...TRUST, tokenType: 'at+jwt', keys: down, now: Date.now } as const;
  const token = forge(draft());
  assert.equal((await examineToken(token, trust)).verdict, 'refused');
  assert.equal((await authenticateWith(trust)(`Bearer ${token}`)).code, 'kind');
});

const PASTED: readonly (readonly [string, RegExp])[] = [
  ['Bearer abc', /Leave out the word "Bearer"/],
  ['"a.b.c"', /quotation marks/],
  ['a.b\n.c', /white space/],
  ['a.b.c.d.e', /an encrypted token\. Auth0 makes one when nobody has asked for an audience/],
  [
    'ory_at_abc.def',
    /an opaque token of Ory Hydra, whose setting "strategies\.access_token: jwt" makes JWTs/,
  ],
  ['opaque', /not a JWT/],
  ['a.b', /2 parts/],
  ['YWI=.b.c', /padding/],
  ['x'.repeat(20_699), /20699 bytes. Where the head of the request exceeds 16 KiB, the answer is 431/],
];

for (const [token, says] of PASTED) {
  test(`what is wrong with the form of ${JSON.stringify(token)} is explained`, async () => {
    assert.match((await examined(token)).lines.get('form') ?? '', says);
  });
}

test('nothing from a token moves the cursor of a terminal', async () => {
  const name = '\u001b[2J\u009b2J\u202e';
  const claims = { name, iss: name, aud: name, role: name };
  const { lines } = await examined(forge(draft('p256', { claims })));
  assert.doesNotMatch([...lines.values()].join(''), /\p{C}/u);
});
