import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { temporaryFolder } from '../folder.ts';
import { startService } from '../start.ts';
import { AUDIENCE, draft, ISSUER, jwks, SECRET } from './forge.ts';
import { claimsText } from './hostile/row.ts';
import { HOSTILE } from './hostile-tokens.ts';
import { callerOf } from './trust.ts';

const services = new AsyncDisposableStack();
after(() => services.disposeAsync());

const folder = services.use(await temporaryFolder());
const TODO_AUTH_KEYS_FILE = await folder.write('jwks.json', JSON.stringify(jwks()));
const trust = { TODO_AUTH_ISSUER: ISSUER, TODO_AUTH_AUDIENCE: AUDIENCE };
const [byIssuer, bySecret] = await Promise.all([
  startService({ env: { ...trust, TODO_AUTH_KEYS_FILE } }),
  startService({ auth: { issuer: ISSUER, audience: AUDIENCE, secret: SECRET } }),
]);
const callers = {
  issuer: callerOf(services.use(byIssuer).baseUrl),
  secret: callerOf(services.use(bySecret).baseUrl),
};

/** Every good token and who is to accept it: that each hostile one is refused for its fault alone. */
const TWINS = new Map(HOSTILE.map(({ twin, keys }) => [twin, keys]));

test('the twins of the hostile tokens read and write', async () => {
  for (const [twin, keys] of TWINS) {
    assert.equal((await callers[keys].read(twin)).status, 200, twin);
    assert.equal((await callers[keys].write(twin)).status, 201, twin);
  }
});

for (const { rule, what, says, token, keys } of HOSTILE) {
  test(`${rule} · refuses ${what}, on a read and on a write`, async () => {
    for (const ask of [callers[keys].read, callers[keys].write]) {
      const response = await ask(token);
      assert.equal(response.status, 401);
      const challenge = response.headers.get('www-authenticate') ?? '';
      const form = /^Bearer realm="todo-service", error="invalid_token", error_description="([^"\\]+)"$/;
      const [, description = ''] = form.exec(challenge) ?? [];
      if (typeof says === 'string') assert.equal(description, says, challenge);
      else assert.match(description, says, challenge);
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
  test(`A10, A11 · lets read and not write: ${claims}`, async () => {
    const token = claimsText(claims, ['role'])(draft());
    assert.equal((await callers.issuer.read(token)).status, 200);
    const refused = await callers.issuer.write(token);
    assert.equal(refused.status, 403);
    const challenge = 'Bearer realm="todo-service", error="insufficient_scope"';
    assert.equal(refused.headers.get('www-authenticate'), challenge);
  });
}

test('no refused token has written anything', async () => {
  let written = 0;
  for (const [keys, twin] of new Map([...TWINS].map(([twin, keys]) => [keys, twin]))) {
    const todos: unknown = await (await callers[keys].read(twin)).json();
    written += Array.isArray(todos) ? todos.length : 0;
  }
  assert.equal(written, TWINS.size);
});

test('there are at least 100 hostile tokens', () => {
  assert.ok(HOSTILE.length >= 100, String(HOSTILE.length));
});
