import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTimes, timesOf } from './checks.ts';
import { type Claims, claimAt, parseClaimPath, readIdentity } from './identity.ts';

test('a configured role claim replaces both default ones [A10]', () => {
  const claims = { role: 'editor', roles: ['editor'], realm_access: { roles: ['reader'] } };
  assert.deepEqual(readIdentity(claims, { role: ['realm_access', 'roles'] }).roles, ['reader']);
});

/** Values of a claim, and the roles that they are when it is configured. */
const ROLES: readonly (readonly [unknown, readonly string[]])[] = [
  ['editor', ['editor']],
  [['editor', 7, null, ['reader'], { editor: true }], ['editor']],
  [{ editor: true }, ['editor']],
  [{ editor: { '260': 'acme.example.org' }, reader: true }, ['editor', 'reader']],
  [{ editor: { '': null } }, ['editor']],
  [JSON.parse('{"__proto__": true}'), ['__proto__']],
  [JSON.parse('{"__proto__": {"editor": true}}'), ['__proto__']],
  ...[false, null, {}, [], ['x'], 'true', '', 1, 'editor'].map((value) => [{ editor: value }, []] as const),
  [{}, []],
  [7, []],
  [null, []],
];

for (const [claim, roles] of ROLES) {
  test(`a configured claim ${JSON.stringify(claim)} has the roles [${roles}] [A10]`, () => {
    assert.deepEqual(readIdentity({ a: { b: claim } }, { role: ['a', 'b'] }).roles, roles);
    assert.deepEqual(readIdentity({ roles: claim }, { role: ['roles'] }).roles, roles);
  });
}

test('an object in the claims that are read by default is no role [A10]', () => {
  const claims = { role: { editor: true }, roles: { editor: { org: 'a' } } };
  assert.deepEqual(readIdentity(claims, {}).roles, []);
});

test('what the provider calls editor is that role, compared exactly, and editor itself means nothing then [A10]', () => {
  const editorRoles = ['CN=Editors,OU=Groups', 'Todo-editors'];
  const rolesOf = (roles: unknown) => readIdentity({ roles }, { editorRoles }).roles;
  assert.deepEqual(rolesOf(['reader', 'Todo-editors']), ['reader', 'editor']);
  assert.deepEqual(rolesOf('CN=Editors,OU=Groups'), ['editor']);
  assert.deepEqual(rolesOf(['editor', 'todo-editors', 'CN=Editors', ' Todo-editors']), [
    'todo-editors',
    'CN=Editors',
    ' Todo-editors',
  ]);
  assert.deepEqual(readIdentity({ roles: 'editor' }, { editorRoles: ['admin', 'editor'] }).roles, ['editor']);
});

test('a configured name claim replaces both default ones [A9]', () => {
  const claims = { name: 'Ada', unique_name: 'ada', email: 'ada@example.org' };
  assert.equal(readIdentity(claims, { name: ['email'] }).name, 'ada@example.org');
  assert.equal(readIdentity(claims, { name: ['nickname'] }).name, null);
});

test('a name that is no string is none, whatever unique_name says, and an empty one is a name [A9]', () => {
  assert.equal(readIdentity({ name: 7, unique_name: 'ada' }, {}).name, null);
  assert.equal(readIdentity({ name: '' }, {}).name, '');
});

test('issuer and subject tell a caller from every other', () => {
  const { caller } = readIdentity({ iss: 'https://a.example', sub: 'ada' }, {});
  assert.deepEqual(caller, ['https://a.example', 'ada']);
});

for (const sub of [undefined, null, '', 7, ['ada'], { id: 'ada' }]) {
  test(`a token whose sub is ${JSON.stringify(sub)} tells nobody from another`, () => {
    assert.equal(readIdentity({ iss: 'https://a.example', sub }, {}).caller, null);
  });
}

test('a configured name claim does not replace the subject', () => {
  const claims = { iss: 'https://a.example', sub: '7', email: 'ada@example.org' };
  assert.deepEqual(readIdentity(claims, { name: ['email'] }).caller, ['https://a.example', '7']);
});

const CLAIMS = JSON.parse(`{
  "roles": ["a", "b"], "realm_access": { "roles": ["editor"] }, "https://todo.example/roles": ["editor"],
  "a/b": 1, "m~n": 2, "": 3, "deep": { "": { "x": 4 } }, "__proto__": { "own": 5 }, "text": "editor"
}`);

/** Configured text, what it finds; the escapes are those of RFC 6901 §5. */
const FINDS: readonly (readonly [string, unknown])[] = [
  ['roles', ['a', 'b']],
  ['/roles', ['a', 'b']],
  ['/roles/1', 'b'],
  ['/roles/01', undefined],
  ['/roles/-', undefined],
  ['/roles/length', undefined],
  ['/roles/2', undefined],
  ['/realm_access/roles', ['editor']],
  ['realm_access/roles', undefined],
  ['realm_access.roles', undefined],
  ['https://todo.example/roles', ['editor']],
  ['/a~1b', 1],
  ['a/b', 1],
  ['/m~0n', 2],
  ['/', 3],
  ['/deep//x', 4],
  ['/__proto__/own', 5],
  ['constructor', undefined],
  ['/constructor/name', undefined],
  ['/text/length', undefined],
  ['/text/0', undefined],
  ['/absent/roles', undefined],
];

for (const [text, expected] of FINDS) {
  test(`the claim ${JSON.stringify(text)} is ${JSON.stringify(expected)} [A10]`, () => {
    const path = parseClaimPath(text);
    assert.ok(path);
    assert.deepEqual(claimAt(CLAIMS, path), expected);
  });
}

for (const text of ['/a~', '/a~2', '/~', '/ok/~x']) {
  test(`${text} is no JSON Pointer`, () => assert.equal(parseClaimPath(text), undefined));
}

/** The fault of a token's times at a moment, with a tolerance, in seconds: RFC 7519 §4.1.4 to §4.1.6 (contract A8). */
const TIMES: readonly (readonly [claims: Claims, now: number, tolerance: number, code?: string])[] = [
  [{ exp: 100 }, 99.999, 0],
  [{ exp: 100 }, 100, 0, 'expired'],
  [{ exp: 100 }, 129.999, 30],
  [{ exp: 100 }, 130, 30, 'expired'],
  [{ exp: 100.5 }, 100.4, 0],
  [{ exp: 100.5 }, 100.5, 0, 'expired'],
  [{ exp: 100, nbf: 50 }, 50, 0],
  [{ exp: 100, nbf: 50 }, 49.999, 0, 'not-yet-valid'],
  [{ exp: 100, nbf: 50 }, 20, 30],
  [{ exp: 100, nbf: 50 }, 19.999, 30, 'not-yet-valid'],
  [{ exp: 100, iat: 50 }, 50, 0],
  [{ exp: 100, iat: 50 }, 49.999, 0, 'issued-later'],
  [{ exp: 100, iat: 50 }, 20, 30],
  [{ exp: 100, nbf: 50, iat: 60 }, 55, 0, 'issued-later'],
  [{ exp: 100, nbf: 200 }, 150, 0, 'expired'],
];

for (const [claims, now, tolerance, code] of TIMES) {
  test(`${JSON.stringify(claims)} at ${now} with ${tolerance} s of tolerance is ${code ?? 'valid'}`, () => {
    assert.equal(checkTimes(timesOf(claims), now, tolerance)?.code, code);
  });
}
