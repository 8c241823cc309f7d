import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readIdentity } from './identity.ts';

/** Contract A9 and A10 with nothing configured: claims, name, roles. */
const BY_DEFAULT: readonly (readonly [string, string | null, readonly string[]])[] = [
  ['{}', null, []],
  ['{"name":"Ada"}', 'Ada', []],
  ['{"name":"Ada","unique_name":"ada"}', 'Ada', []],
  ['{"unique_name":"ada"}', 'ada', []],
  ['{"sub":"ada"}', null, []],
  ['{"name":""}', '', []],
  ['{"name":7}', null, []],
  ['{"name":null}', null, []],
  ['{"name":["Ada"]}', null, []],
  ['{"name":7,"unique_name":"ada"}', null, []],
  ['{"Name":"Ada"}', null, []],
  ['{"role":"editor"}', null, ['editor']],
  ['{"roles":"editor"}', null, ['editor']],
  ['{"role":["reader","editor"]}', null, ['reader', 'editor']],
  ['{"role":"reader","roles":["editor"]}', null, ['reader', 'editor']],
  ['{"role":"reader,editor"}', null, ['reader,editor']],
  ['{"role":"reader editor"}', null, ['reader editor']],
  ['{"role":" editor"}', null, [' editor']],
  ['{"role":"Editor"}', null, ['Editor']],
  ['{"role":["editor",7,null,{"a":1},["editor"]]}', null, ['editor']],
  ['{"role":{"editor":true}}', null, []],
  ['{"role":{"0":"editor","length":1}}', null, []],
  ['{"role":null,"roles":true}', null, []],
  ['{"Role":"editor","ROLES":"editor"}', null, []],
  ['{"scope":"editor","realm_access":{"roles":["editor"]}}', null, []],
  ['{"__proto__":{"role":"editor","name":"Eve"}}', null, []],
  ['{"constructor":{"name":"Eve"}}', null, []],
];

for (const [claims, name, roles] of BY_DEFAULT) {
  test(`claims ${claims} are of ${name} with roles [${roles}]`, () => {
    assert.deepEqual(readIdentity(JSON.parse(claims), {}), { name, roles, caller: null });
  });
}

test('A10 · a configured role claim replaces both default ones', () => {
  const claims = { role: 'editor', roles: ['editor'], realm_access: { roles: ['reader'] } };
  assert.deepEqual(readIdentity(claims, { role: ['realm_access', 'roles'] }).roles, ['reader']);
});

test('A9 · a configured name claim replaces both default ones', () => {
  const claims = { name: 'Ada', unique_name: 'ada', email: 'ada@example.org' };
  assert.equal(readIdentity(claims, { name: ['email'] }).name, 'ada@example.org');
  assert.equal(readIdentity(claims, { name: ['nickname'] }).name, null);
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
