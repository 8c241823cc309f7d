import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Trust } from '../../src/auth/token/checks.ts';
import { parseClaimPath } from '../../src/auth/token/identity.ts';
import { examineToken } from '../../src/commands/explain/examine.ts';
import { draft, forge } from './forge.ts';
import { issuerKeys, TRUST } from './trust.ts';

const keys = issuerKeys();

const ONLY =
  'Only a claim that administrators alone set may have roles: docs/identity-providers.md#who-may-set-this-claim';

/** What is said of a role that is missing: behind the roles that are read. */
async function saidOf(claims: object, from: Trust['claims'] = {}): Promise<string> {
  const trust = { ...TRUST, claims: from, keys, now: Date.now };
  const token = forge(draft('p256', { claims: { role: undefined, ...claims } }));
  const { lines } = await examineToken(token, trust);
  const said = lines.find(({ check }) => check === 'roles')?.detail ?? '';
  return /"; (.*)$/s.exec(said)?.[1] ?? '';
}

/** Claims that may have roles, by their path, and their name as the setting takes it. */
const SHOWN: readonly (readonly [path: readonly string[], name: string])[] = [
  ...[
    ...[
      'groups',
      'group',
      'permissions',
      'permission',
      'entitlements',
      'entitlement',
      'Roles',
      'ROLE',
      'GROUPS',
    ],
    ...['cognito:groups', 'custom:role', 'https://todo.example/roles', 'https://todo.example/claims#roles'],
    ...['http://schemas.microsoft.com/ws/2008/06/identity/claims/role', 'urn:zitadel:iam:org:project:roles'],
    ...['realm_roles', 'app-groups', 'todo.permissions', 'USER_ROLES', 'user roles', 'appRoles', 'ADGroups'],
    ...['oauth2Roles', 'überRoles', '用户_roles', 'requested_role'],
  ].map((name) => [[name], name] as const),
  [['/roles'], '/~1roles'],
  [['realm_access', 'roles'], '/realm_access/roles'],
  [['resource_access', 'a/b', 'roles'], '/resource_access/a~1b/roles'],
  [['user_metadata', 'm~n', 'role'], '/user_metadata/m~0n/role'],
  [['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', 'roles'], '/1/2/3/4/5/6/7/8/9/10/roles'],
];

const nested = (path: readonly string[], value: unknown): object =>
  path.reduceRight((inner, name) => ({ [name]: inner }), value as object);

for (const [path, name] of SHOWN) {
  test(`the claim ${name} is shown as the setting takes it, with its value, and nothing is proposed`, async () => {
    for (const value of ['editor', ['reader', 'editor'], { editor: true }]) {
      const said = await saidOf(nested(path, value));
      assert.equal(said, `${JSON.stringify(name)} is ${JSON.stringify(value)}. ${ONLY}`);
    }
    assert.deepEqual(parseClaimPath(name), path);
  });
}

for (const claims of [
  ...[
    'parole',
    'roleplay',
    'subgroup',
    'groupies',
    'roles_',
    'r0les',
    'rоle',
    'äroles',
    'größeroles',
    '',
  ].map((name) => ({ [name]: ['editor'] })),
  { scope: 'editor', wids: ['editor'], nickname: 'editor', preferred_username: 'editor' },
  { realms: [{ roles: ['editor'] }] },
]) {
  test(`claims of other names, and those in a list, are not shown: ${JSON.stringify(claims)}`, async () => {
    assert.equal(await saidOf(claims), '');
  });
}

test('of many claims eight are shown, in the order of the token, and the number of the others', async () => {
  const claims = Object.fromEntries(Array.from({ length: 11 }, (_, at) => [`a${at}_role`, at]));
  const shown = Array.from({ length: 8 }, (_, at) => `"a${at}_role" is ${at}`);
  assert.equal(await saidOf(claims), `${shown.join(', ')}, and 3 more. ${ONLY}`);
});

test('claims are shown that are nested as deep as a token can have them', async () => {
  const deep = `{"groups":${'{"a":'.repeat(1000)}{}${'}'.repeat(1000)},"x":`;
  const { claims } = draft('p256', { claims: { role: 'a' } });
  const roles = `${'{"roles":'.repeat(150)}7${'}'.repeat(150)}`;
  const token = forge(draft(), { claims: `${deep}${roles},${JSON.stringify(claims).slice(1)}` });
  const { lines } = await examineToken(token, { ...TRUST, keys, now: Date.now });
  const said = lines.find(({ check }) => check === 'roles')?.detail ?? '';
  assert.match(said, /^"a"; "groups" is \{"a":.*, and 143 more\. Only/);
  assert.ok(said.length < 64 * 1024, String(said.length));
});

test('nothing is shown to who may write', async () => {
  assert.equal(await saidOf({ role: 'editor', groups: ['a'] }), '');
});

const OBJECT = '"roles" is an object, whose members are roles only in a configured claim';
const AS_TEXT = 'has a list that is written as one string: in Keycloak, its mapper lacks "Multivalued"';
const OVERAGE = 'the user has more groups than Entra ID writes into a token (its overage): use app roles';

/** Claims, what is read of them, and what is said of a role that looks right and is not. */
for (const [claims, from, says] of [
  [{ role: 'reader' }, {}, ''],
  [{ roles: [], role: '' }, {}, ''],
  [{ roles: '[editor]' }, {}, `"roles" ${AS_TEXT}`],
  [{ roles: '["editor"]' }, {}, `"roles" ${AS_TEXT}`],
  [{ roles: ['x', { name: 'editor' }] }, {}, '"roles" is ["x",{"name":"editor"}]: only strings are roles'],
  [{ roles: ['[a', 'b]', '{a', 'b}'] }, {}, ''],
  [{ roles: '{"editor":true}' }, {}, '"roles" has an object that is written as one string'],
  [{ a: { roles: ['[editor, x]'] } }, { role: ['a', 'roles'] }, `"/a/roles" ${AS_TEXT}`],
  [{ roles: { editor: true } }, {}, OBJECT],
  [{ roles: { editor: { org: 'a' } }, role: 'x' }, {}, OBJECT],
  [
    { roles: { editor: false, x: {} } },
    { role: ['roles'] },
    '"roles" is an object without roles: no member of it is true or an object with a member',
  ],
  [{ roles: { reader: true } }, { role: ['roles'] }, ''],
  ...['reader editor', 'reader,editor', 'reader; editor', ' editor'].map(
    (role) => [{ role }, {}, 'a string of "role" is one role, and never split'] as const,
  ),
  ...[true, 7, null].map(
    (value) => [{ roles: value }, {}, `"roles" is ${value}: only strings are roles`] as const,
  ),
  [{ roles: [{ name: 'editor' }] }, {}, '"roles" is [{"name":"editor"}]: only strings are roles'],
  [{ roles: { x: true }, role: 'a b' }, {}, `a string of "role" is one role, and never split; ${OBJECT}`],
  [{ hasgroups: true }, {}, OVERAGE],
  [
    { _claim_names: { groups: 'src1' } },
    { role: ['groups'] },
    `${OVERAGE}; "/_claim_names/groups" is "src1". ${ONLY}`,
  ],
  [{ _claim_names: { address: 'src1' } }, {}, ''],
  [{ roles: ['edit\u043er'] }, {}, '"edit\\u043er" is not "editor"'],
  ...['\u200b', '\u202e', '\u2800', '\ufe0f', '\u{e0061}', '\u0000', '\u00ad'].flatMap((unseen) =>
    [`edit${unseen}or`, `${unseen}editor`, `editor${unseen}`].map((role) => {
      const shown = `"${role.replaceAll(/[^a-z]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;
      return [{ roles: [role] }, {}, `${shown} is not "editor"`] as const;
    }),
  ),
  [{ roles: ['\uff45ditor', 'x'] }, {}, '"\\uff45ditor" is not "editor"'],
  [
    { roles: ['E\u0301diteur'] },
    { editorRoles: ['\u00c9diteur'] },
    '"E\\u0301diteur" is not "\\u00c9diteur"',
  ],
  [{ roles: ['a\u00a0b'] }, { editorRoles: ['x', 'a b'] }, '"a\\u00a0b" is not "a b"'],
  [{ roles: ['gr\u00e4\u00dfe', '\u7528\u6237'] }, { editorRoles: ['gr\u00f6\u00dfe', '\u89d2\u8272'] }, ''],
] as const satisfies readonly (readonly [object, Trust['claims'], string])[]) {
  test(`a role that looks right is explained: ${JSON.stringify([claims, from])}`, async () => {
    assert.equal(await saidOf(claims, from), says);
  });
}

/** The detail of a line about a token with these claims. */
async function lineOf(
  check: string,
  claims: object,
  header: object = {},
  trust: Partial<Trust> = {},
): Promise<string> {
  const token = forge(draft('p256', { header, claims }));
  const { lines } = await examineToken(token, { ...TRUST, keys, now: Date.now, ...trust });
  return lines.find((line) => line.check === check)?.detail ?? '';
}

const MUST = 'must be or contain "todo-service", received';

for (const [claims, says] of [
  [
    { aud: undefined, org_id: 'web', azp: 'web' },
    `${MUST} nothing: ask the provider for this audience, or let TODO_AUTH_AUDIENCE_CLAIM="org_id" have it in place of ` +
      '"aud"; to send the ID token is no way',
  ],
  ...['client_id', 'azp', 'cid', 'appid'].flatMap((claim) => [
    [
      { aud: undefined, [claim]: 'web', token_use: 'other', scope: 'openid' },
      `${MUST} nothing: ask the provider for this audience; to send the ID token is no way`,
    ] as const,
    ...['token_use=access', 'token_class=access_token', 'typ=Bearer'].map((mark) => {
      const [name = '', value] = mark.split('=');
      return [
        { aud: undefined, [claim]: 'web', [name]: value },
        `${MUST} nothing: ask the provider for this audience, or let TODO_AUTH_AUDIENCE_CLAIM="${claim}" have it in place ` +
          `of "aud", with TODO_AUTH_REQUIRED_CLAIMS="${mark}"; to send the ID token is no way`,
      ] as const;
    }),
  ]),
  [{ aud: undefined }, `${MUST} nothing: ask the provider for this audience; to send the ID token is no way`],
  [{ aud: [], client_id: 'web' }, `${MUST} []: the client has asked for no audience`],
  [{ aud: '', client_id: 'web' }, `${MUST} "": the client has asked for no audience`],
  [{ aud: null, client_id: 'web' }, `${MUST} null`],
] as const) {
  test(`the next step is said for the audience of ${JSON.stringify(claims)}`, async () => {
    assert.equal(await lineOf('audience', claims), says);
  });
}

test('beside required claims another is proposed in place of "aud" only where one keeps ID tokens out', async () => {
  const claims = { aud: undefined, azp: 'web', token_use: 'access' };
  const [other, access] = ['tenant', 'token_use'].map((name) => ({ name, path: [name], value: 'access' }));
  assert.ok(other && access);
  const beside = (...requiredClaims: (typeof other)[]) => lineOf('audience', claims, {}, { requiredClaims });
  assert.doesNotMatch(await beside(other), /, or let/);
  const proposed = / have it in place of "aud"; to send the ID token is no way$/;
  for (const required of [[access], [other, access]]) assert.match(await beside(...required), proposed);
});

const looksLike = (claim: string) =>
  `"todo-service"; it has "${claim}": looks like an ID token; the audience is perhaps a client's id`;
const perhaps = `it has "at_hash": perhaps an ID token; Dex's access tokens have it too`;

for (const [claims, says] of [
  [{}, '"todo-service"'],
  [{ at_hash: 'x' }, `"todo-service"; ${perhaps}`],
  [{ at_hash: 'x', nonce: 'n' }, `"todo-service"; ${perhaps}`],
  [{ c_hash: 'x', at_hash: 'x', nonce: 'n' }, looksLike('c_hash')],
  [{ nonce: null }, looksLike('nonce')],
  [{ sid: 's' }, '"todo-service"'],
  [{ at_hash: 'x', exp: 1 }, `"todo-service"; ${perhaps}`],
  [{ at_hash: 'x', aud: 'web' }, `${MUST} "web"; ${perhaps}`],
  [{ nonce: 'x', aud: 'web' }, looksLike('nonce').replace('"todo-service"', `${MUST} "web"`)],
] as const) {
  test(`what may be an ID token is said: ${JSON.stringify(claims)}`, async () => {
    assert.equal(await lineOf('audience', claims), says);
    const accessToken = await lineOf('audience', claims, { typ: 'at+jwt' });
    assert.equal(accessToken, says.split('; it has')[0], 'which is no access token by its type');
  });
}

const NOW = Math.floor(Date.now() / 1000);
const LONG = /; it lives for (\d+) s, more than an hour, and nobody can end it sooner$/;

for (const [claims, seconds] of [
  [{ iat: NOW, exp: NOW + 3600 }, undefined],
  [{ iat: NOW, exp: NOW + 3601 }, 3601],
  [{ iat: NOW - 86_400, exp: NOW + 60 }, 86_460],
  [{ iat: NOW - 86_400, exp: NOW - 60 }, 86_340],
  [{ iat: undefined, nbf: NOW, exp: NOW + 7200 }, 7200],
  [{ iat: 'x', exp: NOW + 7200 }, undefined],
] as const) {
  test(`a lifetime above an hour is said: ${JSON.stringify(claims).replaceAll(String(NOW).slice(0, 5), '')}`, async () => {
    const said = await lineOf('times', claims);
    assert.equal(LONG.exec(said)?.[1], seconds?.toString(), said);
  });
}

test('a token without iat and nbf has at least the lifetime that is left', async () => {
  assert.match(await lineOf('times', { iat: undefined, exp: NOW + 86_400 }), LONG);
});

for (const claims of [
  { token_use: 'id' },
  { token_class: 'refresh_token' },
  { token_class: 'authorization_code' },
  { tokenType: 'refresh-token' },
  { TokenType: 'refresh-token' },
  { typ: 'ID' },
]) {
  test(`the claim that makes it another kind of token is named: ${JSON.stringify(claims)}`, async () => {
    const [[name, value] = []] = Object.entries(claims);
    assert.equal(
      await lineOf('form', claims),
      `The token is of a kind that is not accepted. Its claim "${name}" is "${value}": send the access token in its place.`,
    );
  });
}

for (const [check, claims, says] of [
  [
    'audience',
    { aud: ['x', 't\u043edo-service'] },
    `${MUST} ["x","tоdo-service"]; "t\\u043edo-service" is not "todo-service"`,
  ],
  ['audience', { aud: 'other-servic\u00e9' }, `${MUST} "other-servic\u00e9"`],
  [
    'issuer',
    { iss: 'https://login.ex\u0430mple.org' },
    'must be "https://login.example.org" (TODO_AUTH_ISSUER), received "https://login.ex\u0430mple.org"; ' +
      '"https://login.ex\\u0430mple.org" is not "https://login.example.org"',
  ],
] as const) {
  test(`the place is shown where two texts differ that look equal: ${JSON.stringify(claims)}`, async () => {
    assert.equal(await lineOf(check, claims), says);
  });
}

test('no claim is shown of a token that fails another check than that of its times', async () => {
  const claims = { role: undefined, groups: ['editor'] };
  const shows = /"groups" is \["editor"\]/;
  for (const own of [{}, { exp: 1 }]) assert.match(await lineOf('roles', { ...claims, ...own }), shows);
  for (const [own, header] of [
    [{ aud: 'web' }, {}],
    [{ iss: 'https://other.example.org' }, {}],
    [{}, { kid: 'gone' }],
  ] as const) {
    assert.equal(
      await lineOf('roles', { ...claims, ...own }, header),
      'none in the claims "role" and "roles"',
    );
  }
  for (const trust of [
    { tokenType: 'at+jwt' },
    { audienceClaim: ['azp'] },
    { requiredClaims: [{ name: 'groups', path: ['groups'], value: undefined }] },
  ] as const) {
    const { lines } = await examineToken(forge(draft('p256', { claims })), {
      ...TRUST,
      ...trust,
      keys,
      now: Date.now,
    });
    assert.doesNotMatch(lines.map(({ detail }) => detail).join(), shows);
  }
});

test('token verify names required claims as the setting does, and no value of the token [A14]', async () => {
  const requiredClaims = [
    { name: 'token_use', path: ['token_use'], value: 'access' },
    { name: '/o/id', path: ['o', 'id'], value: 'org_1' },
    { name: 'a%2Cb', path: ['a,b'], value: 'x' },
    { name: 'nonce', path: ['nonce'], value: undefined },
  ];
  const trust = { ...TRUST, requiredClaims, keys, now: Date.now };
  const good = { token_use: 'access', o: { id: 'org_1' }, 'a,b': 'x' };
  const said = async (claims: object) => {
    const { lines } = await examineToken(forge(draft('p256', { claims: { ...good, ...claims } })), trust);
    const { result, detail } = lines.find(({ check }) => check === 'required') ?? {};
    assert.doesNotMatch(lines.map((line) => line.detail).join(), /s3cr3t/);
    return `${result}: ${detail}`;
  };
  assert.equal(await said({}), 'ok: "token_use", "/o/id", "a%2Cb", no "nonce"');
  assert.equal(
    await said({ token_use: 's3cr3t', o: 's3cr3t', 'a,b': ['s3cr3t'], nonce: 's3cr3t' }),
    'failed: "token_use" must have another value, "/o/id" is missing, "a%2Cb" must have another value, "nonce" must not be ' +
      'there (TODO_AUTH_REQUIRED_CLAIMS)',
  );
});
