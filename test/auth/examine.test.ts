import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticateWith } from '../../src/auth/admit.ts';
import { fixedKeys, type Keys } from '../../src/auth/keys/keys.ts';
import { fromSecret } from '../../src/auth/keys/verification-key.ts';
import type { Trust } from '../../src/auth/token/checks.ts';
import { examineToken } from '../../src/commands/explain/examine.ts';
import { draft, forge, jwks, type KeyName, SECRET } from './forge.ts';
import { issuerKeys, TRUST, usable } from './trust.ts';

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

test('claims that have nothing to do with the role bring no hint', async () => {
  const claims = {
    role: 'reader',
    teams: ['editors', 'co-editor'],
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

const OTHER_ALGORITHM =
  'The algorithm of the token is not accepted. Its "alg" must be one of RS256, RS384, RS512, PS256, PS384, PS512, ' +
  'ES256, ES384, ES512, EdDSA, received';

/** Headers that are refused, and what is said of them beside the sentence of the answer. */
const HEADERS: readonly (readonly [object, string])[] = [
  [{ jku: 'https://a.example', x5c: [] }, 'has a parameter that is not accepted. It is "jku", "x5c".'],
  [{ crit: ['exp'] }, 'has a parameter that is not accepted. It is "crit".'],
  [{ typ: 'logout+jwt' }, `${OTHER_KIND} "logout+jwt".`],
  [{ typ: null }, `${OTHER_KIND} null.`],
  [{ alg: 'none' }, `${OTHER_ALGORITHM} "none".`],
  [{ alg: 'ES256K' }, `${OTHER_ALGORITHM} "ES256K".`],
  [{ alg: undefined }, `${OTHER_ALGORITHM} nothing.`],
  [{ kid: 7 }, 'The header of the token cannot be read. Its "kid" must be a string, received 7.'],
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

test('a refused algorithm is said with those that the keys have, or that keys may have while there are none', async () => {
  const token = forge(draft('p256', { header: { alg: 'none' } }));
  const saidWith = async (known: Keys) => {
    const { lines } = await examineToken(token, { ...TRUST, keys: known, now: Date.now });
    return /one of (.*), received/.exec(lines[0]?.detail ?? '')?.[1];
  };
  const fixed = fixedKeys(jwks('p256', 'fixed').keys.map(usable), 'here');
  assert.equal(await saidWith(fixed), 'RS256, ES256');
  let isAsked = false;
  const refresh = async () => {
    isAsked = true;
  };
  const first = { ...fixed, current: () => (isAsked ? fixed.current() : undefined), refresh };
  assert.equal(await saidWith(first), 'RS256, ES256');
  const all = 'RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, HS256, HS384, HS512';
  assert.equal(await saidWith({ ...keys, current: () => undefined }), all);
});

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

const NO_FORM = 'failed: The token is not a signed token in compact form.';
const TOO_LONG = 'failed: The token is longer than 12 KiB.';

const ONE_PART = 'It has one part: not a JWT. Ask the issuer for an access token for this audience.';
const TWO_PARTS = 'It has 2 parts, and a signed token has three.';
const NO_TOKEN = 'the program had no token when it made the request.';
const leaveOut = (words: string) =>
  `Leave out "${words}": a request has the token behind "Authorization: Bearer" and a blank.`;

const PASTED: readonly (readonly [string, string])[] = [
  ['Bearer abc', `${NO_FORM} ${leaveOut('Bearer')} ${ONE_PART}`],
  ['bearer', `${NO_FORM} ${leaveOut('bearer')} There is no token behind it.`],
  ['Bearer a.b.c', `${NO_FORM} ${leaveOut('Bearer')}`],
  ['JWT a.b.c', `${NO_FORM} ${leaveOut('JWT')}`],
  ['Token a.b.c', `${NO_FORM} ${leaveOut('Token')}`],
  ['Bearer:a.b.c', `${NO_FORM} ${leaveOut('Bearer:')}`],
  ['Bearer%20a.b.c', `${NO_FORM} ${leaveOut('Bearer%20')}`],
  ['Authorization: Bearer Bearer a.b', `${NO_FORM} ${leaveOut('Authorization: Bearer Bearer')} ${TWO_PARTS}`],
  ['Bearer undefined', `${NO_FORM} ${leaveOut('Bearer')} It is the word "undefined": ${NO_TOKEN}`],
  ['undefined', `${NO_FORM} It is the word "undefined": ${NO_TOKEN}`],
  ['null', `${NO_FORM} It is the word "null": ${NO_TOKEN}`],
  ['None', `${NO_FORM} It is the word "None": ${NO_TOKEN}`],
  [
    '[object Object]',
    `${NO_FORM} It is "[object Object]": the program has sent an object, and the token is a member of it.`,
  ],
  [
    '{"access_token":"a.b.c"}',
    `${NO_FORM} It is the whole answer of the provider: the token is its member "access_token".`,
  ],
  ['', `${NO_FORM} It is empty: the program had no token.`],
  ['[object Promise]', `${NO_FORM} It is "[object Promise]": the program has not waited for the token.`],
  ['{"error":"invalid_grant"}', `${NO_FORM} It is JSON without "access_token".`],
  ['{\n  "error": "invalid_grant"\n}', `${NO_FORM} It is JSON without "access_token".`],
  ...['<!DOCTYPE html>', '<html lang="en">'].map(
    (text) => [text, `${NO_FORM} It is a page, as of an error or a login.`] as const,
  ),
  ...['{{token}}', '{token}', '$TOKEN', '<ACCESS_TOKEN>', '%TOKEN%'].map(
    (text) => [text, `${NO_FORM} It is "${text}": a placeholder that no token has replaced.`] as const,
  ),
  ['bearers', `${NO_FORM} ${ONE_PART}`],
  ['bearer.b.c', NO_FORM],
  ['“a.b.c”', `${NO_FORM} It has quotation marks in it.`],
  ['a.bearer', `${NO_FORM} It has 2 parts, and a signed token has three.`],
  ['"a.b.c"', `${NO_FORM} It has quotation marks in it.`],
  ["'a.b.c'", `${NO_FORM} It has quotation marks in it.`],
  ['x={"access_token":"a"}', `${NO_FORM} It has quotation marks in it.`],
  ['a.b\n.c', `${NO_FORM} It has white space in it.`],
  ['x[object Promise]', `${NO_FORM} It has white space in it.`],
  ['token_undefined', `${NO_FORM} ${ONE_PART}`],
  [
    'a.b.c.d.e',
    `${NO_FORM} It has five parts: an encrypted token, as refresh tokens may be. Auth0 makes one when nobody asks for an audience.`,
  ],
  [
    'ory_at_abc.def',
    `${NO_FORM} It is an opaque token of Ory Hydra, whose setting "strategies.access_token: jwt" makes JWTs.`,
  ],
  ['opaque', `${NO_FORM} It has one part: not a JWT. Ask the issuer for an access token for this audience.`],
  ['opaque.ory_at_', `${NO_FORM} It has 2 parts, and a signed token has three.`],
  ['a.b', `${NO_FORM} It has 2 parts, and a signed token has three.`],
  ['a.b.c.d', `${NO_FORM} It has 4 parts, and a signed token has three.`],
  ['YWI=.b.c', `${NO_FORM} It has padding ("="), which RFC 7515 §2 leaves out.`],
  ['a.b.c', NO_FORM],
  ['a-_Z9.b.c', NO_FORM],
  ['a.b.c\u200b', `${NO_FORM} It has the character "\\u200b", which no token has.`],
  ['a.b.c\u{e0061}', `${NO_FORM} It has the character "\\udb40\\udc61", which no token has.`],
  ['a.b+/.c', `${NO_FORM} It has the character "+", which no token has.`],
  ['a.b.', `${NO_FORM} Its third part is empty: the token is not signed.`],
  ['.b.c', `${NO_FORM} Its first part is empty.`],
  ['a..c', `${NO_FORM} Its second part is empty.`],
  [
    'x'.repeat(12_289),
    `${TOO_LONG} It has 12289 bytes. Where the head of the request exceeds 16 KiB, the answer is 431.`,
  ],
  [
    'x'.repeat(12_288),
    `${NO_FORM} It has one part: not a JWT. Ask the issuer for an access token for this audience.`,
  ],
];

for (const [token, says] of PASTED) {
  test(`what is wrong with the form of ${JSON.stringify(token.slice(0, 40))} (${token.length}) is explained`, async () => {
    assert.equal((await examined(token)).lines.get('form'), says);
  });
}

for (const [what, text, says] of [
  ['claims that are a list', '[1]', 'The claims of the token cannot be read'],
  ['two claims of one name', '{"iss":"a","iss":"b"}', 'The claims of the token cannot be read'],
  ['a header that is no JSON', 'alg: ES256', 'The header of the token cannot be read'],
]) {
  test(`${what} cannot be read, and are shown`, async () => {
    const part = says?.includes('claims') ? { claims: text ?? '' } : { header: text ?? '' };
    const said = (await examined(forge(draft(), part))).lines.get('form');
    const must = 'Each must be a JSON object in UTF-8 in which no name stands twice, received';
    assert.equal(said, `failed: ${says}. ${must} ${JSON.stringify(text)}.`);
  });
}

test('of a token without a form nothing else is reached, and each check is said that a setting asks for', async () => {
  const setting = {
    tokenType: 'at+jwt',
    audienceClaim: ['client_id'],
    requiredClaims: [{ name: 'nonce', path: ['nonce'], value: undefined }],
  } as const;
  const checks = ['type', 'key', 'signature', 'issuer', 'audience', 'audience claim', 'required', 'times'];
  for (const [trust, names] of [
    [{}, ['key', 'signature', 'issuer', 'audience', 'times']],
    [setting, checks],
  ] as const) {
    const { verdict, lines } = await examineToken('a.b.c', { ...TRUST, ...trust, keys, now: Date.now });
    assert.equal(verdict, 'refused');
    assert.deepEqual(
      lines.slice(1),
      [...names, 'name', 'roles', 'may write'].map((check) => ({
        check,
        result: 'unknown',
        detail: 'not reached',
      })),
    );
  }
});

/** Seconds. 2027-01-15T08:00:00Z. */
const NOW = 1_800_000_000;

/** All lines about a token at that time. */
async function linesAt(
  claims: object,
  {
    trust = {},
    header = {},
    name = 'p256',
  }: { trust?: Partial<Trust>; header?: object; name?: KeyName } = {},
) {
  const token = forge(draft(name, { header, claims: { iat: NOW - 5, exp: NOW + 600, ...claims } }));
  const { verdict, lines } = await examineToken(token, { ...TRUST, keys, now: () => NOW * 1000, ...trust });
  const said = new Map(lines.map(({ check, result, detail }) => [check, `${result}: ${detail}`]));
  return { token, verdict, said };
}

test('the lines about a good token', async () => {
  const { token, verdict, said } = await linesAt({ name: 'Ada' });
  assert.equal(verdict, 'accepted');
  assert.deepEqual(Object.fromEntries(said), {
    form: `ok: a signed token of ${token.length} bytes, algorithm ES256, kid "p256"`,
    key: 'ok: known, from the test issuer',
    signature: 'ok: made with that key',
    issuer: 'ok: "https://login.example.org"',
    audience: 'ok: "todo-service"',
    times: 'ok: valid until 2027-01-15T08:10:00Z; now it is 2027-01-15T08:00:00Z, 30 s of tolerance',
    name: 'ok: "Ada"',
    roles: 'ok: "editor"',
    'may write': 'ok: yes',
  });
});

const NOT_A_NUMBER = 'failed: The token has a time that is not a number';
const CLOCK = 'now it is 2027-01-15T08:00:00Z, 30 s of tolerance';

for (const [claims, says] of [
  [
    { exp: 1e15, iat: 1e15 - 1, nbf: 0 },
    'failed: The token was issued in the future: "iat" is 999999999999999; CLOCK',
  ],
  [{ iat: undefined, exp: NOW + 1 }, 'ok: valid until 2027-01-15T08:00:01Z; CLOCK'],
  [{ exp: NOW - 30 }, 'failed: The token expired at 2027-01-15T07:59:30Z; CLOCK'],
  [{ nbf: NOW + 31 }, 'failed: The token is not valid before 2027-01-15T08:00:31Z; CLOCK'],
  [{ exp: undefined }, 'failed: The token has no expiration time'],
  [{ exp: 'soon' }, `${NOT_A_NUMBER}: "exp" must be seconds since 1970, received "soon"`],
  [
    { exp: { toString: 1, valueOf: 1 } },
    `${NOT_A_NUMBER}: "exp" must be seconds since 1970, received {"toString":1,"valueOf":1}`,
  ],
  [
    { exp: [1], nbf: null, iat: '1' },
    `${NOT_A_NUMBER}: "exp" must be seconds since 1970, received [1], "nbf" must be seconds since 1970, received null, ` +
      '"iat" must be seconds since 1970, received "1"',
  ],
  [
    { exp: 1e15 },
    `ok: valid until the end of time; CLOCK; it lives for ${1e15 - NOW + 5} s, more than an hour, and nobody can end it sooner`,
  ],
  [
    { exp: NOW - 30, iat: NOW - 7230 },
    'failed: The token expired at 2027-01-15T07:59:30Z; CLOCK; it lives for 7200 s, more than an hour, and nobody can end it sooner',
  ],
] as const) {
  test(`the line about the times ${JSON.stringify(claims)}`, async () => {
    assert.equal((await linesAt(claims)).said.get('times'), says.replace('CLOCK', CLOCK));
  });
}

test('a time that is written as more than any number is said to be that', async () => {
  const claims = JSON.stringify(draft().claims).replace(/"exp":\d+/, '"exp":1e999');
  const said = (await examined(forge(draft(), { claims }))).lines.get('times');
  assert.equal(said, `${NOT_A_NUMBER}: "exp" must be seconds since 1970, received a number without end`);
});

test('a token that is bound to a key is said to be taken without proof, and one that another key has made is not [A16]', async () => {
  const { said } = await linesAt({ cnf: { jkt: 'x' } });
  assert.equal(
    said.get('signature'),
    'ok: made with that key; the token is bound to a key or a certificate ("cnf"), and taken without proof of it',
  );
  const other = await linesAt({ cnf: {} }, { header: { kid: 'p256', alg: 'ES256' }, name: 'p384' });
  assert.equal(other.said.get('key'), 'ok: known, from the test issuer');
  const changed = 'failed: made with another key, or the token was changed after it was signed';
  assert.equal(other.said.get('signature'), changed);
});

test('of a token that another key has made, the published keys that were skipped are said', async () => {
  const skipped = ['p256', 'b'].map((keyId) => ({ keyId, reason: `bad ${keyId}`, kind: 'unfit' as const }));
  const trust = { keys: { ...keys, skipped: () => skipped } };
  const said = async (kid: string | undefined) => {
    const options = { header: { kid, alg: 'ES256' }, name: 'p384', trust } as const;
    return (await linesAt({}, options)).said.get('signature')?.split('; ').slice(1).join('; ');
  };
  assert.equal(await said('p256'), 'kid "p256" is published, but bad p256');
  assert.equal(await said(undefined), 'skipped: the key "p256": bad p256; the key "b": bad b');
});

test('who may write is said, by what the provider calls the role, and nobody with a token that is refused', async () => {
  const { said } = await linesAt({ role: 'reader' });
  assert.equal(said.get('may write'), 'ok: no, only the role "editor" may; reading is allowed');
  const trust = { claims: { editorRoles: ['a', 'b'] } };
  assert.equal(
    (await linesAt({ role: 'reader' }, { trust })).said.get('may write'),
    'ok: no, only the role "a" or "b" (TODO_AUTH_EDITOR_ROLE) may; reading is allowed',
  );
  assert.equal((await linesAt({ exp: 1 })).said.get('may write'), 'failed: no, the token is refused');
});

test('a token without a name, and without roles, says so', async () => {
  const { said } = await linesAt({ role: undefined, teams: ['x'] });
  assert.equal(said.get('name'), 'ok: null: no claim of the token is a name');
  assert.equal(said.get('roles'), 'ok: none in the claims "role" and "roles"');
  assert.equal((await linesAt({ role: ['a', 'b'] })).said.get('roles'), 'ok: "a", "b"');
});

for (const [iss, trust, says] of [
  [
    'https://login.example.org/',
    {},
    'failed: must be "https://login.example.org" (TODO_AUTH_ISSUER), received "https://login.example.org/": mind the final slash',
  ],
  [
    'https://login.example.org',
    { issuer: 'https://login.example.org/' },
    'failed: must be "https://login.example.org/" (TODO_AUTH_ISSUER), received "https://login.example.org": mind the final slash',
  ],
  [
    'https://login.example.com',
    {},
    'failed: must be "https://login.example.org" (TODO_AUTH_ISSUER), received "https://login.example.com"',
  ],
  [undefined, {}, 'failed: must be "https://login.example.org" (TODO_AUTH_ISSUER), received nothing'],
  [
    'x',
    { issuer: 'urn:todo-service:development' },
    'failed: must be "urn:todo-service:development", received "x": no TODO_AUTH_ISSUER is set',
  ],
] as const) {
  test(`the line about the issuer ${iss} where ${JSON.stringify(trust)} is trusted`, async () => {
    assert.equal((await linesAt({ iss }, { trust })).said.get('issuer'), says);
  });
}

test('the type of a token is said, where one is asked for', async () => {
  const trust = { tokenType: 'at+jwt' } as const;
  assert.equal((await linesAt({}, { trust, header: { typ: 'AT+JWT' } })).said.get('type'), 'ok: "at+jwt"');
  for (const [typ, received] of [
    ['JWT', '"jwt"'],
    [undefined, 'nothing'],
  ]) {
    const says = `failed: must be "at+jwt" (TODO_AUTH_TOKEN_TYPE), received ${received}`;
    assert.equal((await linesAt({}, { trust, header: { typ } })).said.get('type'), says);
  }
  assert.equal((await linesAt({})).said.has('type'), false);
});

test('the claim in the place of an audience is said, and that an audience is not needed', async () => {
  const trust = { audiences: ['a', 'b'], audienceClaim: ['o', 'id'] };
  const good = await linesAt({ aud: undefined, o: { id: 'b' } }, { trust });
  assert.equal(good.verdict, 'accepted');
  assert.equal(good.said.get('audience'), 'ok: none, and none is needed');
  assert.equal(good.said.get('audience claim'), 'ok: "/o/id" is "b"');
  const other = await linesAt({ aud: 'c', o: {} }, { trust });
  assert.equal(other.said.get('audience'), 'failed: must be or contain "a" or "b", received "c"');
  assert.equal(
    other.said.get('audience claim'),
    'failed: "/o/id" must be or contain "a" or "b", received nothing',
  );
  assert.equal((await linesAt({})).said.has('audience claim'), false);
});

test('an audience beside the claim in its place is said, and a list with one of several and no string', async () => {
  const audiences = ['a', 'b'];
  const both = await linesAt(
    { aud: 'a', o: { id: 'b' } },
    { trust: { audiences, audienceClaim: ['o', 'id'] } },
  );
  assert.equal(both.said.get('audience'), 'ok: "a"');
  const mixed = await linesAt({ aud: ['b', 7] }, { trust: { audiences } });
  assert.equal(
    mixed.said.get('audience'),
    'failed: must be or contain "a" or "b", received ["b",7]: a list may hold strings only',
  );
});

test('an audience that Keycloak writes into most tokens is warned of', async () => {
  const account =
    '; Keycloak writes "account" into most tokens of a realm: never trust it, add a mapper "Audience"';
  const trusted = await linesAt({ aud: 'account' }, { trust: { audiences: ['account'] } });
  assert.equal(trusted.said.get('audience'), `ok: "account"${account}`);
  const received = await linesAt({ aud: ['account', 'x'] });
  assert.equal(
    received.said.get('audience'),
    `failed: must be or contain "todo-service", received ["account","x"]${account}`,
  );
});

const RSA = '"rsa" for RS256, RS384, RS512, PS256, PS384, PS512; "fixed" for RS256';

test('which keys there are is said where none fits', async () => {
  const set = (...names: readonly KeyName[]) => ({
    trust: { keys: fixedKeys(jwks(...names).keys.map(usable), 'here') },
  });
  const keyLine = async (header: object, options: object) =>
    (await linesAt({}, { header, ...options })).said.get('key');
  assert.equal(
    await keyLine({ kid: 'gone' }, set('rsa', 'fixed')),
    `failed: no key with kid "gone" in here: there is ${RSA}`,
  );
  assert.equal(
    await keyLine({ kid: 'fixed', alg: 'ES256' }, set('rsa', 'fixed')),
    `failed: no key with kid "fixed" is for ES256 in here: there is ${RSA}`,
  );
  const none = { trust: { keys: fixedKeys([], 'here') } };
  assert.equal(await keyLine({ kid: undefined }, none), 'failed: no key with no kid in here: there are none');
  assert.equal(
    await keyLine({ alg: 'HS256' }, none),
    'failed: no key with kid "p256" in here: there are none',
  );
  assert.equal(
    await keyLine({ alg: 'HS256' }, set('p256')),
    'failed: no key with kid "p256" is for HS256 in here: a provider publishes no key for HMAC; let it sign with RS256 or ES256',
  );
  const secret = { trust: { keys: fixedKeys([fromSecret(SECRET)], 'here') } };
  assert.equal(
    await keyLine({ alg: 'ES256', kid: undefined }, secret),
    'failed: no key with no kid is for ES256 in here: there is one without kid for HS256, HS384, HS512',
  );
  const short = { trust: { keys: fixedKeys([fromSecret(SECRET.subarray(32))], 'here') } };
  assert.equal(
    await keyLine({ alg: 'HS512', kid: undefined }, short),
    'failed: no key with no kid is for HS512 in here: there is one without kid for HS256',
  );
});

test('why no keys could be had is said, and of a shared secret that no issuer publishes it', async () => {
  const down = (lastFailure?: string) => ({
    trust: {
      keys: {
        ...keys,
        current: () => undefined,
        describe: () => 'here',
        figures: () => ({ attempts: { read: 0, unusable: 0, failed: 0 }, lastFailure }),
      },
    },
  });
  const none = 'failed: no keys could be had from here';
  const { verdict, said } = await linesAt({}, down());
  assert.equal(verdict, 'unavailable');
  assert.equal(said.get('key'), none);
  assert.equal(said.get('signature'), 'unknown: not reached');
  assert.equal((await linesAt({}, down('a\n\u001bb'))).said.get('key'), `${none}: a\\n\\u001bb`);
  const shared =
    '; the token is signed with a shared secret: TODO_AUTH_SECRET_FILE names a file with it ("text:" for a secret that ' +
    'is used as it is written)';
  assert.equal(
    (await linesAt({}, { ...down('x'), header: { alg: 'HS256' } })).said.get('key'),
    `${none}: x${shared}`,
  );
  assert.equal((await linesAt({ exp: 1 }, down())).verdict, 'unavailable');
  assert.equal((await linesAt({}, { trust: { ...down().trust, tokenType: 'at+jwt' } })).verdict, 'refused');
});

test('nothing from a token moves the cursor of a terminal', async () => {
  const name = '\u001b[2J\u009b2J\u202e';
  const claims = { name, iss: name, aud: name, role: name };
  const { lines } = await examined(forge(draft('p256', { claims })));
  assert.doesNotMatch([...lines.values()].join(''), /\p{C}/u);
});
