import assert from 'node:assert/strict';
import { test } from '../check.ts';
import { json } from '../http.ts';
import { assertProblem } from '../problem.ts';
import type { Sign } from '../sign.ts';
import { expecting, makeTodo, readTodo, type SharedList, send } from '../target.ts';
import { assertRefused } from './authentication.ts';

/**
 * What a token must hold, with tokens made at will. The service's configuration is an issuer, an audience and one
 * HMAC secret of at least 64 bytes without `kid` or `alg`; keys of other kinds are tested beside the code.
 */
export function tokens(target: SharedList, sign: Sign): void {
  const { succeeds } = expecting(target);
  const assertAccepted = (token: string, why: string) => succeeds(200, 'GET /todos', { token }, why);

  /** Gives the description of the refusal. */
  async function refused(token: string, why: string): Promise<string> {
    const reply = await succeeds(401, 'GET /todos', { token }, why);
    return String(/error_description="([^"]+)"/.exec(assertRefused(reply))?.[1]);
  }

  async function mayWrite(claims: Readonly<Record<string, unknown>>): Promise<boolean> {
    const { id } = await makeTodo(target);
    const reply = await send(target, `DELETE /todos/${id}`, { token: sign(claims) });
    if (reply.status === 204) return true;
    assertProblem(reply, 403);
    assert.notEqual(await readTodo(target, id), undefined);
    return false;
  }

  test('A2 · the description says what failed, with a time where that helps, and never quotes the token', async () => {
    const now = Math.floor(Date.now() / 1000);
    const past = now - 3600;
    const later = now + 3600;
    const at = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
    assert.equal(await refused(sign({ exp: past }), 'expired'), `The token expired at ${at(past)}`);
    assert.match(await refused(sign({ nbf: later }), 'nbf'), new RegExp(at(later)));
    const secret = 'quoted-back';
    const causes = [
      await refused(sign({ iss: secret }), 'issuer'),
      await refused(sign({ aud: secret }), 'audience'),
      await refused(sign({}, { alg: 'none' }), 'algorithm'),
      await refused(sign({}, { typ: secret }), 'type'),
      await refused(sign({ exp: secret }), 'exp'),
      await refused(`${sign().slice(0, -10)}AAAAAAAAAA`, 'signature'),
      await refused(`${secret}.${secret}.${secret}`, 'form'),
    ];
    assert.equal(new Set(causes).size, causes.length, causes.join('\n'));
    for (const cause of causes) assert.ok(!cause.includes(secret), cause);
  });

  test('A5 · exp, iss and aud are required', async () => {
    for (const claim of ['exp', 'iss', 'aud']) {
      for (const value of [undefined, null]) await refused(sign({ [claim]: value }), `${claim} ${value}`);
    }
  });

  test('A5 · iss and aud are compared exactly; one of several audiences suffices', async () => {
    const { iss, aud } = claimsOf(sign());
    for (const other of ['', `${iss}/`, iss.toUpperCase(), ` ${iss}`, [iss], 5]) {
      await refused(sign({ iss: other }), `iss ${other}`);
    }
    for (const other of ['', `${aud}x`, aud.toUpperCase(), ['x'], [], [[aud]], 5, { [aud]: 1 }]) {
      await refused(sign({ aud: other }), `aud ${JSON.stringify(other)}`);
    }
    for (const several of [[aud], ['x', aud], [aud, 'x', 'y']])
      await assertAccepted(sign({ aud: several }), 'aud');
  });

  test('A5 · nbf and iat are checked when present', async () => {
    const now = Math.floor(Date.now() / 1000);
    await assertAccepted(sign({ nbf: undefined, iat: undefined }), 'neither is required');
    await assertAccepted(sign({ nbf: now - 60, iat: now - 60 }), 'both in the past');
    await refused(sign({ nbf: now + 120 }), 'nbf');
    await refused(sign({ iat: now + 120 }), 'iat');
  });

  test('A5 · numeric dates are finite numbers', async () => {
    const { iss, aud, exp } = claimsOf(sign());
    for (const claim of ['exp', 'nbf', 'iat']) {
      for (const value of ['"1"', `"${exp}"`, 'null', 'true', '[1]', '{}', '1e999', '-1e999']) {
        const rest = claim === 'exp' ? '' : `"exp":${exp},`;
        await refused(
          sign(`{"iss":"${iss}","aud":"${aud}",${rest}"${claim}":${value}}`),
          `${claim} ${value}`,
        );
      }
    }
    await assertAccepted(sign({ exp: exp + 0.5, nbf: exp - 700.25 }), 'fractions of a second');
  });

  test('A8 · an external issuer is forgiven 30 s of clock difference, not more', async () => {
    const now = Math.floor(Date.now() / 1000);
    await assertAccepted(sign({ exp: now - 15 }), 'expired 15 s ago');
    await assertAccepted(sign({ nbf: now + 25, iat: now + 25 }), 'valid in 25 s');
    await refused(sign({ exp: now - 31 }), 'expired 31 s ago');
    await refused(sign({ nbf: now + 60 }), 'valid in 60 s');
  });

  test('A5 · typ is absent, JWT or at+jwt', async () => {
    for (const typ of [
      ...[undefined, 'JWT', 'jwt', 'at+jwt'],
      ...['AT+JWT', 'application/jwt', 'application/at+jwt'],
    ]) {
      await assertAccepted(sign({}, { typ }), `typ ${typ}`);
    }
    for (const typ of [
      '',
      'id+jwt',
      'dpop+jwt',
      'logout+jwt',
      'secevent+jwt',
      'JOSE',
      'at',
      5,
      null,
      ['JWT'],
    ]) {
      await refused(sign({}, { typ }), `typ ${typ}`);
    }
  });

  test('A5 · a header that brings its own key, extension or compression is refused', async () => {
    const parameters: readonly (readonly [string, unknown])[] = [
      ['crit', ['exp']],
      ['crit', []],
      ['b64', false],
      ['b64', true],
      ['zip', 'DEF'],
      ['jwk', { kty: 'oct', k: 'AAAA' }],
      ['jku', 'https://attacker.example/keys'],
      ['x5u', 'https://attacker.example/cert'],
      ['x5c', ['AAAA']],
    ];
    for (const [name, value] of parameters) await refused(sign({}, { [name]: value }), name);
  });

  test('A5 · only canonical base64url without padding is read', async () => {
    const token = sign({ name: 'canonical' });
    const [head = '', payload = '', signature = ''] = token.split('.');
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(signature.at(-1) ?? '');
    const sameBytes = `${signature.slice(0, -1)}${alphabet[last + 1]}`;
    assert.deepEqual(Buffer.from(sameBytes, 'base64url'), Buffer.from(signature, 'base64url'));
    await assertAccepted(token, 'as it was made');
    await refused(`${head}.${payload}.${sameBytes}`, 'bits that stand for nothing');
    await refused(`${head}.${payload}.${signature}=`, 'padding');
    const plain = sign({ name: '\u00fb\u00ff\u00fe~~~???>>>' });
    const standard = plain.replaceAll('-', '+').replaceAll('_', '/');
    assert.notEqual(standard, plain);
    await assertAccepted(plain, 'the URL alphabet');
    await refused(standard, 'the standard alphabet');
  });

  test('A5 · header and claims are JSON objects in UTF-8', async () => {
    for (const part of ['', 'x', 'null', '[]', '"a"', '{', '\u{feff}{}', '{"alg":"HS256"']) {
      await refused(sign(part), `claims ${part}`);
    }
    const [, payload, signature] = sign().split('.');
    for (const part of ['x', 'null', '[]', '{', '{"alg":"HS256"', '{}']) {
      await refused(`${Buffer.from(part).toString('base64url')}.${payload}.${signature}`, `header ${part}`);
    }
  });

  test('A5 · a token may have 12 KiB, not more', async () => {
    const ofLength = (wanted: number) => {
      let size = 8_000;
      while (sign({ pad: 'a'.repeat(size) }).length < wanted) size += 1;
      return sign({ pad: 'a'.repeat(size) });
    };
    const longest = [12_285, 12_286, 12_287, 12_288].map(ofLength).filter(({ length }) => length <= 12_288);
    await assertAccepted(longest.at(-1) ?? '', 'up to 12 KiB');
    const tooLong = ofLength(12_289);
    assert.ok(tooLong.length < 12_295);
    await refused(tooLong, 'longer than 12 KiB');
  });

  test('A6 · the algorithm is one of the configured key, and never none', async () => {
    for (const alg of ['HS256', 'HS384', 'HS512']) await assertAccepted(sign({}, { alg }), alg);
    const token = sign();
    const none = sign({}, { alg: 'none' });
    await refused(none, 'none');
    await refused(`${none}${token.slice(token.lastIndexOf('.') + 1)}`, 'none with a signature');
    for (const alg of ['None', 'NONE', 'hs256', 'RS256', 'PS256', 'ES256', 'EdDSA', '', 'HS1']) {
      await refused(sign({}, { alg }), alg);
    }
  });

  test('A6 · a token signed with another secret, or changed after signing, is refused', async () => {
    const [head, , signature] = sign({ role: 'reader' }).split('.');
    const [, promoted] = sign({ role: 'editor' }).split('.');
    await refused(`${head}.${promoted}.${signature}`, 'claims changed');
    const [other] = sign({}, { kid: 'other' }).split('.');
    await refused(`${other}.${promoted}.${signature}`, 'header changed');
  });

  test('A7 · a key without kid is tried for any token', async () => {
    for (const kid of [undefined, 'any', '', '../../etc/passwd'])
      await assertAccepted(sign({}, { kid }), `kid ${kid}`);
  });

  test('A9 · the name is the claim name, else unique_name, else null', async () => {
    const cases: readonly (readonly [Readonly<Record<string, unknown>>, string | null])[] = [
      [{ name: 'Ada' }, 'Ada'],
      [{ unique_name: 'ada' }, 'ada'],
      [{ unique_name: 'ada', name: 'Ada' }, 'Ada'],
      [{ name: 'Zoë 👩‍💻 "quoted"' }, 'Zoë 👩‍💻 "quoted"'],
      [{}, null],
      [{ preferred_username: 'x', email: 'x@y.example' }, null],
      [{ name: 5 }, null],
      [{ name: ['Ada'] }, null],
      [{ name: { first: 'Ada' } }, null],
      [{ name: null }, null],
    ];
    for (const [claims, name] of cases) {
      const reply = await succeeds(200, 'GET /me', { token: sign(claims) });
      assert.deepEqual(json(reply), { name }, JSON.stringify(claims));
    }
  });

  test('A10 · the role editor comes from the claims role and roles together', async () => {
    const editors = [
      { role: 'editor' },
      { roles: 'editor' },
      { role: ['editor'] },
      { roles: ['reader', 'editor'] },
      { role: 'reader', roles: ['editor'] },
      { role: [5, null, 'editor'] },
    ];
    for (const claims of editors) assert.ok(await mayWrite(claims), JSON.stringify(claims));
  });

  test('A10 · roles are compared exactly and never split', async () => {
    const others = [
      ...['Editor', 'EDITOR', 'editor ', ' editor', 'editors', 'reader editor', 'editor,reader', ''],
      ...[null, true, 5, {}, { editor: true }, [], ['Editor'], [['editor']], [{ role: 'editor' }]],
    ];
    for (const role of others) {
      assert.ok(!(await mayWrite({ role })), JSON.stringify({ role }));
      assert.ok(!(await mayWrite({ roles: role })), JSON.stringify({ roles: role }));
    }
    for (const claims of [
      { groups: ['editor'] },
      { scope: 'editor' },
      { realm_access: { roles: ['editor'] } },
      {},
    ]) {
      assert.ok(!(await mayWrite(claims)), JSON.stringify(claims));
    }
  });
}

function claimsOf(token: string): { readonly iss: string; readonly aud: string; readonly exp: number } {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as ReturnType<
    typeof claimsOf
  >;
}
