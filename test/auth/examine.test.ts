import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticateWith } from '../../src/auth/authenticate.ts';
import { examineToken } from '../../src/auth/token/examine.ts';
import { draft, forge, type Part } from './forge.ts';
import { HOSTILE } from './hostile-tokens.ts';
import { issuerKeys, secretKeys, TRUST } from './trust.ts';

const keys = { issuer: issuerKeys(), secret: secretKeys() };

/** The lines about one token by the name of the check. */
async function examined(token: string, claims = {}) {
  const expected = { ...TRUST, claims, keys: keys.issuer, now: Date.now };
  const { verdict, lines } = await examineToken(token, expected);
  return {
    verdict,
    lines: new Map(lines.map(({ check, result, detail }) => [check, `${result}: ${detail}`])),
  };
}

async function lineOf(
  check: 'form' | 'key' | 'issuer' | 'audience' | 'roles',
  claims: Part,
): Promise<string> {
  const made = draft();
  const { lines } = await examined(forge(made, { claims: { ...made.claims, ...Object(claims) } }));
  return lines.get(check) ?? '';
}

test('token verify comes to the verdict of the service for every hostile token and its twin', async () => {
  for (const row of HOSTILE) {
    const trust = { ...TRUST, keys: keys[row.keys], now: Date.now };
    const authenticate = authenticateWith(trust);
    for (const token of [row.twin, row.token]) {
      const { verdict, lines } = await examineToken(token, trust);
      const accepted = verdict === 'accepted';
      const { code } = await authenticate(`Bearer ${token}`);
      assert.equal(accepted, code === 'accepted', row.what);
      assert.equal(
        accepted,
        lines.every(({ result }) => result === 'ok'),
        row.what,
      );
    }
  }
});

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
  const made = draft();
  const claims = { ...made.claims, iss: 'a', aud: 'b', exp: 1 };
  const { verdict, lines } = await examined(forge(made, { claims }));
  assert.equal(verdict, 'refused');
  for (const check of ['issuer', 'audience', 'times'] as const)
    assert.match(lines.get(check) ?? '', /^failed: /);
});

test('an issuer that is no string is refused like any other', async () => {
  const iss = { toString: 1, valueOf: 1 };
  assert.match(await lineOf('issuer', { iss }), /^failed: must be .*received \{"toString":1,"valueOf":1\}/);
});

test('a missing final slash of the issuer is pointed out', async () => {
  assert.match(await lineOf('issuer', { iss: 'https://login.example.org/' }), /mind the final slash/);
});

test('a development token is recognized', async () => {
  assert.match(await lineOf('issuer', { iss: 'urn:todo-service:development' }), /only development accepts/);
});

test('an audience is told with what was expected', async () => {
  assert.equal(
    await lineOf('audience', { aud: ['account'] }),
    'failed: must be or contain "todo-service", received ["account"]',
  );
});

test('an audience list that is accepted is told as it stands', async () => {
  assert.equal(
    await lineOf('audience', { aud: ['account', 'todo-service'] }),
    'ok: ["account","todo-service"]',
  );
});

test('an audience list with anything but strings is told so', async () => {
  assert.equal(
    await lineOf('audience', { aud: ['todo-service', 7] }),
    'failed: must be or contain "todo-service", received ["todo-service",7]: a list may hold strings only',
  );
});

/** Roles in a shape that is not read: the claims, and what is said of them. */
const SHAPES: readonly (readonly [Part, string])[] = [
  [
    { role: 'reader,editor' },
    '"reader,editor" in "/role" is one role: a string is never split, a list has several',
  ],
  [
    { roles: 'reader editor' },
    '"reader editor" in "/roles" is one role: a string is never split, a list has several',
  ],
  [
    { scope: 'openid Editor' },
    '"openid Editor" in "/scope" is one role: a string is never split, a list has several',
  ],
  [{ roles: ['/editor'] }, '"/editor" in "/roles/0" is not "editor": roles are compared exactly'],
  [
    { groups: ['/a', '/todo/editor'] },
    '"/todo/editor" in "/groups/1" is not "editor": roles are compared exactly',
  ],
  [{ role: 'todo:editor' }, '"todo:editor" in "/role" is not "editor": roles are compared exactly'],
  [{ role: ' Editor' }, '" Editor" in "/role" is not "editor": roles are compared exactly'],
  [
    { roles: { editor: { org: 'a' } } },
    '"editor" is the name of a member of "/roles": roles are strings, one or a list of them',
  ],
  [
    { roles: [{ name: 'editor' }] },
    '"editor" stands in "/roles/0/name": roles are strings, one or a list of them',
  ],
  [
    { 'a/b': { c: { editor: 1 } } },
    '"editor" is the name of a member of "/a~1b/c": roles are strings, one or a list of them',
  ],
];

for (const [claims, says] of SHAPES) {
  test(`a role in another shape is pointed out: ${JSON.stringify(claims)}`, async () => {
    const line = await lineOf('roles', { role: undefined, ...Object(claims) });
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
  const made = draft();
  const deep = `{"x":${'{"a":['.repeat(1000)}"editor"${']}'.repeat(1000)},`;
  const { lines } = await examined(
    forge(made, { claims: deep + JSON.stringify({ ...made.claims, role: 'a' }).slice(1) }),
  );
  assert.equal(lines.get('roles'), 'ok: "a"');
});

/** Headers that are refused, and what is said of them beside the sentence of the answer. */
const HEADERS: readonly (readonly [Part, string])[] = [
  [{ jku: 'https://a.example', x5c: [] }, 'has a parameter that is not accepted. It is "jku", "x5c".'],
  [{ crit: ['exp'] }, 'has a parameter that is not accepted. It is "crit".'],
  [
    { typ: 'logout+jwt' },
    'of a kind that is not accepted. Its "typ" must be "JWT" or "at+jwt" when present, received "logout+jwt".',
  ],
  [
    { typ: null },
    'of a kind that is not accepted. Its "typ" must be "JWT" or "at+jwt" when present, received null.',
  ],
  [{ alg: 'none' }, 'The algorithm of the token is not accepted. Its "alg" is "none".'],
  [{ alg: undefined }, 'The algorithm of the token is not accepted. It has no "alg".'],
];

for (const [header, says] of HEADERS) {
  test(`what is wrong with the header ${JSON.stringify(header)} is named, to who asks and not in the answer`, async () => {
    const made = draft();
    const token = forge(made, { header: { ...made.header, ...Object(header) } });
    const line = (await examined(token)).lines.get('form') ?? '';
    assert.equal(line.slice(-says.length), says);
    const answer = await authenticateWith({ ...TRUST, keys: keys.issuer, now: Date.now })(`Bearer ${token}`);
    const challenge = 'answer' in answer ? answer.answer.headers?.['www-authenticate'] : undefined;
    assert.doesNotMatch(challenge ?? 'null', /jku|crit|logout|null|none/);
  });
}

test('a role in another claim is found, and the setting that reads it is named', async () => {
  const role = undefined;
  assert.match(
    await lineOf('roles', { role, realm_access: { roles: ['editor'] } }),
    /TODO_AUTH_ROLE_CLAIM="\/realm_access\/roles"/,
  );
  assert.match(
    await lineOf('roles', { role, 'https://todo.example/roles': 'editor' }),
    /TODO_AUTH_ROLE_CLAIM="\/https:~1~1todo.example~1roles"/,
  );
});

test('a configured claim without roles is named', async () => {
  const { lines } = await examined(forge(draft()), { role: ['realm_access', 'roles'] });
  assert.match(lines.get('roles') ?? '', /^ok: none in the claim "\/realm_access\/roles"/);
});

test('an unknown key is told with the known ones', async () => {
  const made = draft();
  const { lines } = await examined(forge(made, { header: { ...made.header, kid: 'gone' } }));
  assert.match(
    lines.get('key') ?? '',
    /^failed: no key with kid "gone" in the test issuer: there is .*"p384" for ES384/,
  );
});

test('keys that cannot be had are no fault of the token, and are said', async () => {
  const down = { ...keys.issuer, current: () => undefined, describe: () => 'the issuer' };
  const { verdict, lines } = await examineToken(forge(draft()), { ...TRUST, keys: down, now: Date.now });
  assert.equal(verdict, 'unavailable');
  assert.equal(lines.find(({ check }) => check === 'key')?.detail, 'no keys could be had from the issuer');
});

const PASTED: readonly (readonly [string, RegExp])[] = [
  ['Bearer abc', /Leave out the word "Bearer"/],
  ['"a.b.c"', /quotation marks/],
  ['a.b\n.c', /white space/],
  ['a.b.c.d.e', /encrypted token/],
  ['opaque', /not a JWT/],
  ['a.b', /2 parts/],
  ['YWI=.b.c', /padding/],
];

for (const [token, says] of PASTED) {
  test(`what is wrong with the form of ${JSON.stringify(token)} is explained`, async () => {
    assert.match((await examined(token)).lines.get('form') ?? '', says);
  });
}

test('nothing from a token moves the cursor of a terminal', async () => {
  const made = draft();
  const name = '\u001b[2J\u009b2J\u202e';
  const { lines } = await examined(
    forge(made, { claims: { ...made.claims, name, iss: name, aud: name, role: name } }),
  );
  assert.doesNotMatch([...lines.values()].join(''), /\p{C}/u);
});
