import assert from 'node:assert/strict';
import { json } from '../http.ts';
import { assertProblem, it } from '../problem.ts';
import type { Sign } from '../sign.ts';
import { expecting, makeTodo, readTodo, type SharedList, send } from '../target.ts';
import { assertRefused } from './authentication.ts';

/**
 * The rules of a token, with tokens made at will. The service's configuration is an issuer, an audience and one HMAC
 * secret of at least 64 bytes without `kid` or `alg`; keys of other kinds are tested beside the code.
 */
export function tokens(target: SharedList, sign: Sign): void {
  const { succeeds } = expecting(target);

  async function accepted(tokens: readonly string[]): Promise<void> {
    for (const token of tokens) await succeeds(200, 'GET /todos', { token }, contentOf(token));
  }

  /** Sends tokens that must be refused. Gives the descriptions of the refusals. */
  async function refused(tokens: readonly string[]): Promise<readonly string[]> {
    const descriptions: string[] = [];
    for (const token of tokens) {
      const reply = await succeeds(401, 'GET /todos', { token }, contentOf(token));
      descriptions.push(String(/error_description="([^"]+)"/.exec(assertRefused(reply))?.[1]));
    }
    return descriptions;
  }

  async function mayWrite(claims: Readonly<Record<string, unknown>>): Promise<boolean> {
    const { id } = await makeTodo(target);
    const reply = await send(target, `DELETE /todos/${id}`, { token: sign(claims) });
    if (reply.status === 204) return true;
    assertProblem(reply, 403);
    assert.notEqual(await readTodo(target, id), undefined);
    return false;
  }

  it('the description says what failed, with a time where that helps, and never quotes the token [A2]', async () => {
    const now = Math.floor(Date.now() / 1000);
    const at = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
    const [expired, early] = await refused([sign({ exp: now - 3600 }), sign({ nbf: now + 3600 })]);
    assert.equal(expired, `The token expired at ${at(now - 3600)}`);
    assert.match(String(early), new RegExp(at(now + 3600)));
    const secret = 'quoted-back';
    const causes = await refused([
      ...[sign({ iss: secret }), sign({ aud: secret }), sign({ exp: secret })],
      ...[sign({}, { alg: 'none' }), sign({}, { typ: secret })],
      ...[`${sign().slice(0, -10)}AAAAAAAAAA`, `${secret}.${secret}.${secret}`],
    ]);
    assert.equal(new Set(causes).size, causes.length, causes.join('\n'));
    for (const cause of causes) assert.ok(!cause.includes(secret), cause);
  });

  it('exp, iss and aud are required [A5]', async () => {
    for (const claim of ['exp', 'iss', 'aud']) {
      await refused([sign({ [claim]: undefined }), sign({ [claim]: null })]);
    }
  });

  it('iss and aud are compared exactly; one of several audiences suffices [A5]', async () => {
    const { iss, aud } = claimsOf(sign());
    const issuers = ['', `${iss}/`, iss.toUpperCase(), ` ${iss}`, [iss], 5];
    await refused(issuers.map((other) => sign({ iss: other })));
    const audiences = ['', `${aud}x`, aud.toUpperCase(), ['x'], [], [[aud]], 5, { [aud]: 1 }];
    await refused(audiences.map((other) => sign({ aud: other })));
    await accepted([[aud], ['x', aud], [aud, 'x', 'y']].map((several) => sign({ aud: several })));
  });

  it('nbf and iat are checked when present [A5]', async () => {
    const now = Math.floor(Date.now() / 1000);
    await accepted([sign({ nbf: undefined, iat: undefined }), sign({ nbf: now - 60, iat: now - 60 })]);
    await refused([sign({ nbf: now + 120 }), sign({ iat: now + 120 })]);
  });

  it('numeric dates are finite numbers [A5]', async () => {
    const { iss, aud, exp } = claimsOf(sign());
    for (const claim of ['exp', 'nbf', 'iat']) {
      const values = ['"1"', `"${exp}"`, 'null', 'true', '[1]', '{}', '1e999', '-1e999'];
      const start = `{"iss":"${iss}","aud":"${aud}",${claim === 'exp' ? '' : `"exp":${exp},`}`;
      await refused(values.map((value) => sign(`${start}"${claim}":${value}}`)));
    }
    await accepted([sign({ exp: exp + 0.5, nbf: exp - 700.25 })]);
  });

  it('an external issuer is forgiven 30 s of clock difference, not more [A8]', async () => {
    const now = Math.floor(Date.now() / 1000);
    await accepted([sign({ exp: now - 15 }), sign({ nbf: now + 25, iat: now + 25 })]);
    await refused([sign({ exp: now - 31 }), sign({ nbf: now + 60 })]);
  });

  it('typ is absent, JWT or at+jwt [A5]', async () => {
    const good = [undefined, 'JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/jwt', 'application/at+jwt'];
    await accepted(good.map((typ) => sign({}, { typ })));
    const others = ['', 'id+jwt', 'dpop+jwt', 'logout+jwt', 'secevent+jwt', 'JOSE', 'at', 5, null, ['JWT']];
    await refused(others.map((typ) => sign({}, { typ })));
  });

  it('no claim names another kind of token, however it is spelled [A5]', async () => {
    const names = ['typ', 'type', 'token_type', 'tokenUse', 'TOKEN-CLASS', 'token_name', 'TokenType'];
    const kinds = [
      ...['ID', 'Id', 'id_token', 'IdToken', 'Refresh', 'refresh', 'REFRESH_TOKEN', 'refresh-token'],
      ...[
        'Offline',
        'offline_token',
        'Logout',
        'logout+jwt',
        'logout-token',
        'application/logout+jwt',
        'urn:ietf:params:oauth:token-type:refresh_token',
        'urn:ietf:params:oauth:token-type:id_token',
        'authorization_code',
        'auth_code',
      ],
    ];
    await refused(names.flatMap((name) => kinds.map((kind) => sign({ [name]: kind }))));
    const good = [
      'Bearer',
      'access',
      'access_token',
      'urn:ietf:params:oauth:token-type:access_token',
      'at+jwt',
      'JWT',
      'DPoP',
      'sliding',
      'user',
      'token',
      '',
      5,
      null,
    ];
    await accepted(names.flatMap((name) => good.map((kind) => sign({ [name]: kind }))));
    const others = ['grant_type', 'authenticationType', 'event_type', 'use', 'kind', 'types'];
    await accepted(others.map((name) => sign({ [name]: 'refresh_token' })));
    await accepted([
      sign({ type: ['refresh'] }),
      sign({ type: { refresh: true } }),
      sign({ act: { typ: 'ID' } }),
    ]);
  });

  it('a header that brings its own key, extension or compression is refused [A5]', async () => {
    const headers = [
      ...[{ crit: ['exp'] }, { crit: [] }, { b64: false }, { b64: true }, { zip: 'DEF' }],
      ...[{ jwk: { kty: 'oct', k: 'AAAA' } }, { jku: 'https://attacker.example/keys' }],
      ...[{ x5u: 'https://attacker.example/cert' }, { x5c: ['AAAA'] }],
    ];
    await refused(headers.map((header) => sign({}, header)));
  });

  it('only canonical base64url without padding is read [A5]', async () => {
    const token = sign({ name: 'canonical' });
    const [head = '', payload = '', signature = ''] = token.split('.');
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(signature.at(-1) ?? '');
    const sameBytes = `${signature.slice(0, -1)}${alphabet[last + 1]}`;
    assert.deepEqual(Buffer.from(sameBytes, 'base64url'), Buffer.from(signature, 'base64url'));
    const plain = sign({ name: '\u00fb\u00ff\u00fe~~~???>>>' });
    const standard = plain.replaceAll('-', '+').replaceAll('_', '/');
    assert.notEqual(standard, plain);
    await accepted([token, plain]);
    await refused([`${head}.${payload}.${sameBytes}`, `${token}=`, standard]);
  });

  it('a token may have 12 KiB, not more [A5]', async () => {
    const ofLength = (wanted: number) => {
      let size = 8_000;
      while (sign({ pad: 'a'.repeat(size) }).length < wanted) size += 1;
      return sign({ pad: 'a'.repeat(size) });
    };
    const longest = [12_285, 12_286, 12_287, 12_288].map(ofLength).filter(({ length }) => length <= 12_288);
    await accepted([longest.at(-1) ?? '']);
    const tooLong = ofLength(12_289);
    assert.ok(tooLong.length < 12_295);
    await refused([tooLong]);
  });

  it('the algorithm is one of the configured key, and never none [A6]', async () => {
    await accepted(['HS256', 'HS384', 'HS512'].map((alg) => sign({}, { alg })));
    const none = sign({}, { alg: 'none' });
    const others = ['None', 'NONE', 'hs256', 'RS256', 'PS256', 'ES256', 'EdDSA', '', 'HS1'];
    const signature = sign().split('.')[2];
    await refused([none, `${none}${signature}`, ...others.map((alg) => sign({}, { alg }))]);
  });

  it('a token signed with another secret, or changed after signing, is refused [A6]', async () => {
    const [head, , signature] = sign({ role: 'reader' }).split('.');
    const [, promoted] = sign({ role: 'editor' }).split('.');
    const [other] = sign({}, { kid: 'other' }).split('.');
    await refused([head, other].map((each) => `${each}.${promoted}.${signature}`));
  });

  it('a key without kid is tried for any token [A7]', async () => {
    await accepted([undefined, 'any', '', '../../etc/passwd'].map((kid) => sign({}, { kid })));
  });

  it('the name is the claim name, else unique_name, else null [A9]', async () => {
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

  it('the role editor comes from the claims role and roles together [A10]', async () => {
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

  it('roles are compared exactly and never split [A10]', async () => {
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

/** Header and claims of a token, without its signature, for the message of a failure. */
function contentOf(token: string): string {
  const parts = token.split('.').slice(0, 2);
  return parts.map((part) => Buffer.from(part, 'base64url').toString().slice(0, 300)).join(' ');
}
