import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canWriteTodos } from '../../src/auth/admit.ts';
import { claimAt, type IdentityClaims, parseClaimPath, readIdentity } from '../../src/auth/token/identity.ts';
import { examineToken } from '../../src/commands/explain/examine.ts';
import { explainMissingRole } from '../../src/commands/explain/missing-role.ts';
import { draft, forge } from './forge.ts';
import { issuerKeys, TRUST } from './trust.ts';

const keys = issuerKeys();

/** What is said of a role that is missing. */
function adviceOn(claims: object, from: IdentityClaims = {}): string {
  return explainMissingRole(JSON.parse(JSON.stringify(claims)), {
    claims: from,
    audiences: ['todo', '9876'],
  });
}

function proposed(said: string): readonly string[] {
  return Array.from(said.matchAll(/TODO_AUTH_ROLE_CLAIM=("[^"]*")/g), ([, pointer = '']) =>
    JSON.parse(pointer),
  );
}

/** Claims by their path in which `editor` may be, and the pointer to it. */
const PROPOSED: readonly (readonly [readonly string[], string])[] = [
  [['groups'], '/groups'],
  [['group'], '/group'],
  [['permissions'], '/permissions'],
  [['entitlements'], '/entitlements'],
  [['Roles'], '/Roles'],
  [['cognito:groups'], '/cognito:groups'],
  [['https://todo.example/roles'], '/https:~1~1todo.example~1roles'],
  [
    ['http://schemas.microsoft.com/ws/2008/06/identity/claims/role'],
    '/http:~1~1schemas.microsoft.com~1ws~12008~106~1identity~1claims~1role',
  ],
  [['urn:zitadel:iam:org:project:9876:roles'], '/urn:zitadel:iam:org:project:9876:roles'],
  [['https://todo.example/claims#roles'], '/https:~1~1todo.example~1claims#roles'],
  [['https://custom.example.org/roles'], '/https:~1~1custom.example.org~1roles'],
  [['https://todo.example/role'], '/https:~1~1todo.example~1role'],
  [['realm_roles'], '/realm_roles'],
  [['app-groups'], '/app-groups'],
  [['todo.permissions'], '/todo.permissions'],
  [['appRoles'], '/appRoles'],
  [['ADGroups'], '/ADGroups'],
  [['LDAPRoles'], '/LDAPRoles'],
  [['oauth2Roles'], '/oauth2Roles'],
  [['Größe:groups'], '/Größe:groups'],
  [['überRoles'], '/überRoles'],
  [['用户_roles'], '/用户_roles'],
  [['my-app_roles'], '/my-app_roles'],
  [['realm_access', 'roles'], '/realm_access/roles'],
  [['resource_access', 'todo', 'roles'], '/resource_access/todo/roles'],
  [['app_metadata', 'role'], '/app_metadata/role'],
  [['public_metadata', 'roles'], '/public_metadata/roles'],
  [['trusted_metadata', 'role'], '/trusted_metadata/role'],
  [['metadata', 'user', 'role'], '/metadata/user/role'],
  [['ext', 'roles'], '/ext/roles'],
  [['1', '2', '3', '4', '5', '6', '7', 'roles'], '/1/2/3/4/5/6/7/roles'],
];

/** Claims in which nothing is said of `editor`. */
const NEVER: readonly (readonly string[])[] = [
  ...'preferred_username nickname name sub email environment scope scp permission wids resource_access'.split(
    ' ',
  ),
  ...'parole paroles roleplay groupies subgroup subgroups role_ roles_ _roles roles/ roles/editor r0les'.split(
    ' ',
  ),
  ...'requested_role requested_roles requestedRole requestedRoles requested-groups requested:role'.split(' '),
  ...'desired_role selfRoles wanted.permissions preferred:roles pending_roles'.split(' '),
  ...'custom:role custom:roles custom:groups CUSTOM:role dev:custom:role urn:custom:roles customRole'.split(
    ' ',
  ),
  ...'custom_roles Custom-Roles aud_role user_role userRole x:role cognito:preferred_role rоle rоles äroles İroles größeroles ADrole oauth2Role'.split(
    ' ',
  ),
  ...'https://a.example/user_metadata/role https://a.example/user-metadata#role user_metadata:roles'.split(
    ' ',
  ),
  ...'https://a.example/requested/role https://a.example/roles/'.split(' '),
  // Each word for what nobody has granted.
  ...[
    ...['custom', 'self', 'request', 'requested', 'desired', 'wanted', 'preferred', 'proposed', 'suggested'],
    ...['claimed', 'selected', 'chosen', 'pending', 'unverified', 'untrusted', 'unsafe'],
    ...[
      'possible',
      'eligible',
      'available',
      'optional',
      'candidate',
      'invited',
      'former',
      'expired',
      'revoked',
    ],
    ...[
      'denied',
      'excluded',
      'blocked',
      'inactive',
      'interest',
      'favorite',
      'favourite',
      'followed',
      'signup',
    ],
  ].map((word) => `${word}_roles`),
  // Of a project that is not the audience: any client of Zitadel may have written them.
  ...['urn:zitadel:iam:org:project:roles', 'urn:zitadel:iam:org:project:555:roles'],
  ...['URN:ZITADEL:iam:org:project:9876:roles', 'urn:zitadel:iam:org:project:98765:roles'],
  ...['urn:zitadel:iam:org:project:9876:x:roles', 'urn:zitadel:iam:org:project::roles'],
  ...['urn:zitadel:iam:org:roles', 'urn:zitadel:iam:user:roles', 'urn:zitadel:9876:roles'],
  ...[
    'profile_roles',
    'https://a.example/profile/roles',
    'https://a.example/roles#nickname',
    'settings:groups',
  ],
  'roles ',
  '',
].map((name) => [name]);

/** Names of metadata that users set, as providers spell them and others might. */
const OF_USERS = [
  ...[
    'user_metadata',
    'userMetadata',
    'UserMetadata',
    'USER_METADATA',
    'user-metadata',
    'user metadata',
    'user.metadata',
  ],
  ...[
    'raw_user_meta_data',
    'users_metadata',
    'user_meta',
    'https://a.example/user_metadata',
    'urn:a:usermetadata',
  ],
  ...['unsafe_metadata', 'unsafeMetadata', 'unsafe-metadata', 'untrusted_metadata', 'untrustedMetadata'],
  ...[
    'ｕｓｅｒ_metadata',
    'user\u2010metadata',
    'user_\u200bmetadata',
    'end_user_metadata',
    'USER_META-DATA',
  ],
];

function nested(path: readonly string[], value: unknown): object {
  return path.reduceRight((inner, name) => ({ [name]: inner }), value as object);
}

const VALUES = ['editor', ['reader', 'editor'], { editor: true }, { editor: { org: 'a' } }];

for (const [path, pointer] of PROPOSED) {
  test(`the claim ${pointer} is proposed, with what must be so`, () => {
    for (const value of VALUES) {
      const said = adviceOn(nested(path, value));
      assert.deepEqual(proposed(said), [pointer]);
      assert.match(said, /Only the provider may be able to set that claim$/);
    }
  });
}

const UNDER_USERS = OF_USERS.flatMap((name) => [
  [name, 'role'],
  [name, 'app', 'roles'],
  ['app', name, 'groups'],
]);

for (const path of [
  ...NEVER,
  ...UNDER_USERS,
  ['user', 'metadata', 'role'],
  ['requested', 'role'],
  ['traits', 'role'],
  ['wanted', 'roles'],
  ['desired', 'roles'],
  ['preferred', 'roles'],
  ['custom:a', 'roles'],
  // What users edit: OpenID Connect Core §5.1, and what applications let them.
  ...[
    'address',
    'nickname',
    'profile',
    'preferences',
    'name',
    'preferred_username',
    'website',
    'picture',
    ...['gender', 'birthdate', 'zoneinfo', 'locale', 'avatar', 'bio', 'about', 'alias', 'contact', 'label'],
    ...['nicknames', 'pictures', 'phone_numbers', 'contacts', 'aliases', 'tags', 'notes', 'registration'],
  ].flatMap((name) => [
    [name, 'role'],
    [name, 'app', 'roles'],
    ['app', name, 'groups'],
    [`user_${name}`, 'roles'],
    [`https://a.example/${name.toUpperCase()}`, 'permissions'],
  ]),
  ...[
    'userProfile',
    'userprofile',
    'userpreferences',
    'user_attributes',
    'userinfo',
    'user_info',
    'userData',
  ].map((name) => [name, 'roles']),
  ['ui-preferences', 'role'],
  ['urn:zitadel:iam:org:project:roles', 'app', 'roles'],
  ['app', 'urn:zitadel:iam:org:project:9876:roles'],
  ['1', '2', '3', '4', '5', '6', '7', '8', 'roles'],
]) {
  test(`nothing is said of "editor" in ${JSON.stringify(path)}`, () => {
    for (const value of [...VALUES, 'Editor', ['/editor'], 'reader,editor']) {
      const said = adviceOn(nested(path, value));
      assert.doesNotMatch(said, /editor|TODO_AUTH/i, JSON.stringify(value));
    }
  });
}

/** Places in a list, and members that are not granted. */
for (const claims of [
  { roles: [{ name: 'editor' }] },
  { roles: [{ role: 'editor', roles: ['editor'] }] },
  { groups: [['editor']] },
  { realms: [{ roles: ['editor'] }] },
  { roles: { editor: false } },
  { roles: { editor: {} } },
  { groups: { editor: null } },
  { roles: { reader: 'editor' } },
  { resource_access: { editor: { roles: ['manager'] } } },
]) {
  test(`nothing is said of "editor" in ${JSON.stringify(claims)}`, () => {
    assert.doesNotMatch(adviceOn(claims), /editor|TODO_AUTH/i);
  });
}

/** Claims in an order in which the first is not the best, and the pointer that is proposed. */
for (const [claims, pointer] of [
  [
    { entitlements: 'editor', group: 'editor', groups: 'editor', x: { role: 'editor', roles: 'editor' } },
    '/x/roles',
  ],
  [{ entitlements: 'editor', group: 'editor', groups: 'editor', x: { role: 'editor' } }, '/x/role'],
  [{ entitlements: 'editor', group: 'editor', x: { y: { groups: 'editor' } } }, '/x/y/groups'],
  [{ permissions: 'editor', x: { group: 'editor' } }, '/x/group'],
  [{ x: { y: { roles: 'editor' } }, z: { roles: 'editor' } }, '/z/roles'],
  [{ x: { permissions: 'editor' }, 'a:entitlements': 'editor' }, '/a:entitlements'],
  [{ roles: 'reader', x: { groups: 'editor' }, groups: ['a'] }, '/x/groups'],
] as const) {
  test(`of several claims ${pointer} is proposed: ${JSON.stringify(claims)}`, () => {
    assert.deepEqual(proposed(adviceOn(claims)), [pointer]);
  });
}

const NEAR = 'TODO_AUTH_EDITOR_ROLE says what the provider calls "editor"';

/** Claims, what is read of them, and whether a role is near to `editor`, in a claim that would be proposed. */
const NEAR_ROLES: readonly (readonly [object, IdentityClaims, pointer: string | undefined])[] = [
  ...[
    'Editor',
    'EDITOR',
    ' editor',
    '/editor',
    '/todo/editor',
    'todo:editor',
    'acme/Editor',
    'CORP\\editor',
  ].flatMap((role) => [
    [{ role }, {}, undefined] as const,
    [{ roles: ['a', role] }, {}, undefined] as const,
    [{ environment: role }, { role: ['environment'] }, undefined] as const,
    [{ groups: [role] }, {}, '/groups'] as const,
    [{ roles: { [role]: true } }, {}, '/roles'] as const,
  ]),
  [{ groups: ['CN=editor,OU=Groups,DC=corp'] }, { role: ['groups'] }, undefined],
  [{ groups: ['c0ffee00-1111-2222-3333-444455556666'] }, { role: ['groups'] }, undefined],
  [{ groups: ['C0FFEE00-1111-2222-3333-444455556666'], roles: [] }, {}, '/groups'],
  [{ roles: ['editor'] }, { editorRoles: ['Todo-editors'] }, undefined],
  [{ roles: ['todo-editors'] }, { editorRoles: ['Todo-editors'] }, undefined],
];

for (const [claims, from, pointer] of NEAR_ROLES) {
  test(`a role that is near names the setting without a value: ${JSON.stringify([claims, from])}`, () => {
    const said = adviceOn(claims, from);
    assert.ok(said.includes(NEAR), said);
    assert.doesNotMatch(said, /TODO_AUTH_EDITOR_ROLE=|c0ffee/i);
    assert.deepEqual(proposed(said), pointer === undefined ? [] : [pointer]);
  });
}

for (const [claims, from] of [
  [{ groups: ['editors', 'co-editor', 'editorial', 'Todo-editors'] }, {}],
  [{ roles: ['c0ffee00-1111-2222-3333-444455556666'] }, {}],
  [{ groups: ['c0ffee00-1111-2222-3333-444455556666'] }, { role: ['groups'], editorRoles: ['x'] }],
  [{ groups: ['c0ffee00-1111-2222-3333-44445555666', 'xc0ffee00-1111-2222-3333-444455556666'] }, {}],
  [{ groups: ['c0ffee00-1111-2222-3333-4444555566667', 'c0ffee0-1111-2222-3333-444455556666'] }, {}],
  [{ groups: ['c0ffee00-1111-2222-444455556666', 'g0ffee00-1111-2222-3333-444455556666'] }, {}],
  [{ groups: { roles: ['c0ffee00-1111-2222-3333-444455556666'] } }, {}],
  [{ groups: ['cn=editor', 'cn=editors,dc=corp', 'ou=x,cn=editor,dc=corp', 'editor:x', 'a.editor'] }, {}],
  [{ roles: [], groups: [] }, {}],
] as const satisfies readonly (readonly [object, IdentityClaims])[]) {
  test(`nothing is said of other roles: ${JSON.stringify([claims, from])}`, () => {
    assert.equal(adviceOn(claims, from), '');
  });
}

for (const [claims, pointer] of [
  [{ roles: { reader: true } }, '/roles'],
  [
    { 'urn:zitadel:iam:org:project:9876:roles': { 'todo.write': { 260: 'acme' } } },
    '/urn:zitadel:iam:org:project:9876:roles',
  ],
  [{ role: [], realm: { groups: { writers: { id: 7 } } } }, '/realm/groups'],
] as const) {
  test(`roles that are the names of an object name the setting that reads them: ${JSON.stringify(claims)}`, () => {
    const said = `; roles are the names of members of an object: TODO_AUTH_ROLE_CLAIM="${pointer}" would read it. `;
    assert.equal(adviceOn(claims), `${said}Only the provider may be able to set that claim`);
    assert.equal(adviceOn(claims, { role: parseClaimPath(pointer) }), '');
  });
}

for (const claims of [
  { roles: {} },
  { roles: { reader: false } },
  { user_metadata: { roles: { reader: true } } },
  { role: 'reader', groups: { staff: { id: 7 } } },
]) {
  test(`an object names no setting where it has no role, is a user's, or roles are read elsewhere: ${JSON.stringify(claims)}`, () => {
    assert.doesNotMatch(adviceOn(claims), /TODO_AUTH/);
  });
}

test('what the provider calls editor is looked for in its place', () => {
  const from = { editorRoles: ['Todo-editors'] };
  const said = adviceOn({ groups: ['Todo-editors'], roles: ['x'] }, from);
  assert.deepEqual(proposed(said), ['/groups']);
  assert.match(said, /^; "Todo-editors" stands in another claim/);
});

const NO_CLAIM = '; the token has no claim of roles: the client may have to ask for the scope "groups"';
const OVERAGE = '; the user has more groups than Entra ID writes into a token (its overage): use app roles';

for (const [claims, from, says] of [
  [{}, {}, NO_CLAIM],
  [{ scope: 'openid', user_metadata: { role: 'editor' } }, {}, NO_CLAIM],
  [{ sub: 'ada' }, { role: ['realm_access', 'roles'] }, NO_CLAIM],
  [{ hasgroups: true }, {}, OVERAGE],
  [{ _claim_names: { groups: 'src1' }, _claim_sources: { src1: {} } }, { role: ['groups'] }, OVERAGE],
  [{ _claim_names: { groups: 'src1' }, roles: ['reader'] }, {}, OVERAGE],
  [{ _claim_names: { address: 'src1' }, roles: ['reader'] }, {}, ''],
] as const satisfies readonly (readonly [object, IdentityClaims, string])[]) {
  test(`a token without a claim of roles gets the reason: ${JSON.stringify([claims, from])}`, () => {
    assert.equal(adviceOn(claims, from), says);
  });
}

/** Names that claims have, of roles and of others. */
const name = fc.constantFrom(
  ...[
    'role',
    'roles',
    'groups',
    'permissions',
    'a:roles',
    'https://a/roles',
    'custom:role',
    'requested_role',
    'x',
  ],
  ...[
    'user_metadata',
    'unsafeMetadata',
    'app_metadata',
    'editor',
    'Editor',
    'a/b',
    'm~n',
    '',
    '__proto__',
    '0',
  ],
);
const leaf = fc.constantFrom<unknown>('editor', 'Editor', 'reader,editor', 'reader', true, null, 7, {}, []);
const { claim } = fc.letrec<{ claim: unknown }>((tie) => ({
  claim: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie('claim'), { maxLength: 3 }),
    fc.dictionary(name, tie('claim'), { maxKeys: 4 }),
  ),
}));

test('who follows the advice that "editor" stands in a claim may write, and the claim is no user\'s', () => {
  let followed = 0;
  fc.assert(
    fc.property(fc.dictionary(name, claim, { maxKeys: 6 }), (made) => {
      const claims = JSON.parse(JSON.stringify(made));
      if (canWriteTodos(readIdentity(claims, {}))) return;
      const said = adviceOn(claims);
      for (const pointer of proposed(said)) {
        const path = parseClaimPath(pointer);
        assert.ok(path);
        assert.match(path.at(-1) ?? '', /^(?:a:|https:\/\/a\/)?(?:roles?|groups|permissions)$/);
        assert.doesNotMatch(pointer, /user|unsafe|custom|requested/i);
        for (const at of path.keys()) assert.ok(!Array.isArray(claimAt(claims, path.slice(0, at))), pointer);
        if (!said.startsWith('; "editor" ')) continue;
        followed += 1;
        assert.ok(canWriteTodos(readIdentity(claims, { role: path })), said);
      }
      assert.doesNotMatch(said, /TODO_AUTH_EDITOR_ROLE=/);
    }),
    { numRuns: 5000 },
  );
  assert.ok(followed > 200, String(followed));
});

const WOULD_READ_GROUPS =
  'TODO_AUTH_ROLE_CLAIM="/groups" would read it. Only the provider may be able to set that claim';
const OF_ZITADEL =
  '; those of Zitadel are of the project of the client: ask for the scope "urn:zitadel:iam:org:projects:roles"';

/** The detail of a line about a token with these claims. */
async function lineOf(check: string, claims: object, header: object = {}): Promise<string> {
  const token = forge(draft('p256', { header, claims }));
  const { lines } = await examineToken(token, { ...TRUST, keys, now: Date.now });
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

const STRINGS = 'and only strings are roles';
const COMMAS = '%2C for each comma of a distinguished name';

/** Claims, what is read of them, and what is said of a role that looks right and is not. */
for (const [claims, from, says] of [
  ...[true, false, 7, null].map(
    (value) => [{ editor: value }, { role: ['editor'] }, `; "/editor" is ${value}, ${STRINGS}`] as const,
  ),
  [{ roles: [{ name: 'editor' }] }, {}, `; "/roles" is a list without strings, ${STRINGS}`],
  [{ roles: [['editor'], 7], role: [] }, {}, `; "/roles" is a list without strings, ${STRINGS}`],
  [{ roles: [{ toString: 1 }], role: 'reader' }, {}, ''],
  [{ a: { roles: [] } }, { role: ['a', 'roles'] }, ''],
  [{ role: true, groups: ['editor'] }, {}, `; "editor" stands in another claim: ${WOULD_READ_GROUPS}`],
  [{ roles: ['edit\u043er'] }, {}, '; "edit\\u043er" is not "editor"'],
  ...['\u200b', '\u202e', '\u2800', '\ufe0f', '\u{e0061}', '\u0000', '\u00ad'].flatMap((unseen) =>
    [`edit${unseen}or`, `${unseen}editor`, `editor${unseen}`].map((role) => {
      const shown = `"${role.replaceAll(/[^a-z]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;
      return [{ roles: [role] }, {}, `; ${shown} is not "editor"`] as const;
    }),
  ),
  [{ roles: ['\uff45ditor', 'x'] }, {}, '; "\\uff45ditor" is not "editor"'],
  [
    { roles: ['E\u0301diteur'] },
    { editorRoles: ['\u00c9diteur'] },
    '; "E\\u0301diteur" is not "\\u00c9diteur"',
  ],
  [{ roles: ['a\u00a0b'] }, { editorRoles: ['x', 'a b'] }, '; "a\\u00a0b" is not "a b"'],
  [{ roles: ['gr\u00e4\u00dfe', '\u7528\u6237'] }, { editorRoles: ['gr\u00f6\u00dfe', '\u89d2\u8272'] }, ''],
  [
    { roles: ['CN=Editors,OU=Groups,DC=corp'] },
    { editorRoles: ['CN=Editors'] },
    `; "CN=Editors,OU=Groups,DC=corp" in "/roles" is one role: TODO_AUTH_EDITOR_ROLE names all of it, with ${COMMAS}`,
  ],
  [
    { roles: ['cn=editors,ou=groups'] },
    { editorRoles: ['CN=Editors,OU=Groups'] },
    `; roles are compared exactly: ${NEAR}, with ${COMMAS}`,
  ],
  [{ 'urn:zitadel:iam:org:project:roles': { editor: { 7: 'a' } } }, {}, OF_ZITADEL],
] as const satisfies readonly (readonly [object, IdentityClaims, string])[]) {
  test(`a role that looks right is explained: ${JSON.stringify([claims, from])}`, () => {
    assert.equal(adviceOn(claims, from), says);
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

test('no role is proposed of a token that fails another check than that of its times', async () => {
  const claims = { role: undefined, groups: ['editor'] };
  const proposes = /TODO_AUTH_ROLE_CLAIM="\/groups"/;
  for (const own of [{}, { exp: 1 }]) assert.match(await lineOf('roles', { ...claims, ...own }), proposes);
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
    assert.doesNotMatch(lines.map(({ detail }) => detail).join(), proposes);
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
