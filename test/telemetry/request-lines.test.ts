import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AUDIENCE, draft, forge, ISSUER, jwks, STRANGERS, signer } from '../auth/forge.ts';
import { type Demo, startDemo } from '../support/demo.ts';
import { temporaryFolder } from '../support/folder.ts';
import { startList } from '../support/list.ts';
import { assertRefused, converse } from '../support/raw.ts';

/** The lines of requests, as soon as there are so many. */
async function requestLines({ log }: Demo, count: number): Promise<readonly Record<string, unknown>[]> {
  for (;;) {
    const lines = log.filter(({ event }) => event === 'request');
    if (lines.length >= count) return lines;
    await new Promise(setImmediate);
  }
}

for (const [environment, route] of [
  ['production', '/todos/:id'],
  ['development', '/Todos/001'],
] as const) {
  test(`in ${environment} the line of a request shows ${route}, the traceId, and neither a query nor an unmatched path`, async () => {
    await using demo = await startDemo({ environment, logLevel: 'debug' });
    await fetch(`${demo.url}/Todos/001?secret`);
    const unmatched = (await (await fetch(`${demo.url}/no/such/secret`)).json()) as { traceId: string };
    const lines = await requestLines(demo, 2);
    assert.deepEqual(
      lines.map((line) => [line.method, line.route, line.status]),
      [
        ['GET', route, 200],
        ['GET', '(no route)', 404],
      ],
    );
    assert.equal(lines[1]?.traceId, unmatched.traceId);
    assert.doesNotMatch(JSON.stringify(demo.log), /secret/);
  });
}

for (const [name, bytes, status] of [
  ['is not HTTP', 'x\r\n\r\n', 400],
  [
    'passes no validation',
    'GET / HTTP/1.1\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n',
    400,
  ],
  ['expects what nobody knows', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n', 417],
  ['has too large a head', `GET / HTTP/1.1\r\n${'X: y\r\n'.repeat(101)}\r\n`, 431],
  ['is a CONNECT', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
] as const) {
  test(`what ${name} has one line, with status, detail and traceId of its answer (P5)`, async () => {
    await using list = await startList({ logLevel: 'debug', env: { TODO_ADMIN_PORT: '0' } });
    const answers = await Promise.all([list.url, list.adminUrl].map((url) => converse(url, bytes)));
    const told = answers.map((ofOne) => {
      const { title, detail = title, traceId } = assertRefused(ofOne, status);
      return { status, reason: detail, traceId };
    });
    const lines = list
      .lines(/^request-refused$/)
      .map(({ status, reason, traceId }) => ({ status, reason, traceId }));
    assert.deepEqual(new Set(lines), new Set(told));
    assert.deepEqual(list.lines(/^request$/), []);
  });
}

for (const logLevel of ['trace', 'debug']) {
  test(`the level ${logLevel} has a line for each request`, async () => {
    await using list = await startList({ logLevel });
    assert.equal((await list.send('GET /todos')).status, 200);
    while (list.lines(/^request$/).length === 0) await new Promise(setImmediate);
    const lines = list
      .lines(/^request$/)
      .map(({ level, method, route, status }) => [level, method, route, status]);
    assert.deepEqual(lines, [[20, 'GET', '/todos', 200]]);
  });
}

const CHUNKED = 'POST /todos/1/complete HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';

for (const [fault, body, status] of [
  ['a body turns malformed', 'zz\r\n\r\n', 400],
  ['a trailer is no header', '0\r\nbad\r\n\r\n', 400],
  ['a body has too many trailer lines', `0\r\n${'X: y\r\n'.repeat(101)}\r\n`, 431],
  ['a body has more trailer lines than Node.js takes', `0\r\n${'X: y\r\n'.repeat(102)}\r\n`, 431],
] as const) {
  test(`where ${fault}, the problem, the line of the request and that of its reason have one traceId (P5)`, async () => {
    await using demo = await startDemo({ logLevel: 'debug' });
    const { traceId } = assertRefused(await converse(demo.url, CHUNKED + body), status);
    const [line] = await requestLines(demo, 1);
    assert.equal(line?.traceId, traceId);
    const refused = demo.log.filter(({ event }) => event === 'request-refused');
    assert.deepEqual(
      refused.map((one) => [one.status, one.traceId]),
      [[status, traceId]],
    );
  });
}

/** Tokens that are refused, by what has to happen before. */
const REFUSED_TOKENS: readonly (readonly [
  what: string,
  token: string,
  line: { code: string; kid?: string },
])[] = [
  ['nothing', 'x', { code: 'token-form' }],
  [
    'a signature is verified at once',
    forge(draft('p256'), { sign: signer('ES256', STRANGERS.p256.privateKey) }),
    { code: 'signature', kid: 'p256' },
  ],
  [
    'another thread verifies a signature',
    forge(draft('ed'), { sign: signer('EdDSA', STRANGERS.ed.privateKey) }),
    { code: 'signature', kid: 'ed' },
  ],
  [
    'the keys are read again for a kid',
    forge(draft(), { header: { alg: 'ES256', kid: 'gone' } }),
    { code: 'key-unknown', kid: 'gone' },
  ],
];

test('the line of a refused token has the traceId of its 401, whatever the verdict waits for, and is info for the first of its reason', async () => {
  await using folder = await temporaryFolder();
  const TODO_AUTH_KEYS_FILE = await folder.write('keys.json', JSON.stringify(jwks()));
  const trust = { TODO_AUTH_ISSUER: ISSUER, TODO_AUTH_AUDIENCE: AUDIENCE };
  const env = { ...trust, TODO_AUTH_KEYS_FILE, TODO_AUTH_SECRET_FILE: '' };
  await using list = await startList({ logLevel: 'debug', env });
  const seen = new Set<string>();
  for (const [what, token, line] of REFUSED_TOKENS) {
    const { status, body } = await list.send('GET /todos', { token });
    assert.equal(status, 401, what);
    const { traceId } = JSON.parse(body.toString());
    const last = list.lines(/^token-refused$/).at(-1);
    const { level, time: _, pid: _pid, hostname: _hostname, msg, ...fields } = last ?? {};
    assert.deepEqual(
      { level, msg, fields },
      {
        level: seen.has(line.code) ? 20 : 30,
        msg: 'token refused',
        fields: { event: 'token-refused', ...line, traceId },
      },
      what,
    );
    seen.add(line.code);
    assert.ok(!token.split('.').some((segment) => segment.length > 1 && list.log.join('').includes(segment)));
  }
  assert.equal((await fetch(`${list.url}/todos`)).status, 401);
  assert.equal(list.lines(/^token-refused$/).at(-1)?.code, 'credentials-missing');
  const token = forge(draft());
  for (const authorization of [token, `JWT ${token}`, `Bearer%20${token}`]) {
    assert.equal((await fetch(`${list.url}/todos`, { headers: { authorization } })).status, 401);
    assert.equal(list.lines(/^token-refused$/).at(-1)?.code, 'bearer-missing');
  }
  assert.ok(!list.log.join('').includes(token.slice(0, 20)));
});

test('the line of a token that lacks a required claim names it by the setting, and has no value of the token [A14]', async () => {
  await using folder = await temporaryFolder();
  const TODO_AUTH_KEYS_FILE = await folder.write('keys.json', JSON.stringify(jwks()));
  const trust = { TODO_AUTH_ISSUER: ISSUER, TODO_AUTH_AUDIENCE: AUDIENCE };
  const required = 'token_use=access,!nonce,/o/id=org%2C1,%25=b';
  const env = {
    ...trust,
    TODO_AUTH_KEYS_FILE,
    TODO_AUTH_SECRET_FILE: '',
    TODO_AUTH_REQUIRED_CLAIMS: required,
  };
  await using list = await startList({ logLevel: 'debug', env });
  const good = { token_use: 'access', o: { id: ['org_2', 'org,1'] }, '%': 'b' };
  const send = (claims: object) =>
    list.send('GET /todos', { token: forge(draft('p256', { claims: { ...good, ...claims } })) });
  assert.equal((await send({})).status, 200);
  for (const [claims, claim] of [
    [{ token_use: 's3cr3t' }, 'token_use'],
    [{ nonce: 's3cr3t' }, 'nonce'],
    [{ o: { id: 's3cr3t' } }, '/o/id'],
    [{ '%': 's3cr3t' }, '%25'],
  ] as const) {
    const { status, headers } = await send(claims);
    assert.equal(status, 401);
    assert.equal(
      headers.find(([name]) => name.toLowerCase() === 'www-authenticate')?.[1],
      'Bearer realm="todo-service", error="invalid_token", error_description="The token does not have the required claims"',
    );
    const { code, claim: named, kid } = list.lines(/^token-refused$/).at(-1) ?? {};
    assert.deepEqual([code, named, kid], ['required-claim', claim, 'p256']);
  }
  assert.doesNotMatch(list.log.join(''), /s3cr3t/);
});

test('a long key id is cut in the line of a refused token', async () => {
  await using list = await startList({ logLevel: 'debug' });
  const token = forge(draft(), { header: { alg: 'ES256', kid: 'k'.repeat(5000) } });
  assert.equal((await list.send('GET /todos', { token })).status, 401);
  assert.equal(list.lines(/^token-refused$/)[0]?.kid, 'k'.repeat(100));
});

test('1,000 refused requests, and as many that are not HTTP, write a line for each reason at the default level', async () => {
  await using list = await startList();
  const before = list.log.length;
  const head = `GET /todos HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${list.reader}x\r\n`;
  const many = `${head}\r\n`.repeat(999);
  const answers = await converse(list.url, `${many}${head}Connection: close\r\n\r\n`);
  assert.equal(answers.length, 1_000);
  assert.ok(answers.every(({ status }) => status === 401));
  for (let round = 0; round < 20; round += 1) {
    const all = await Promise.all(Array.from({ length: 50 }, () => converse(list.url, 'not http\r\n\r\n')));
    assert.ok(all.every(([answer]) => answer?.status === 400));
  }
  const lines = list.lines(/./).slice(before);
  assert.deepEqual(
    lines.map(({ event, code, reason }) => [event, code ?? reason]),
    [
      ['token-refused', 'signature'],
      [
        'request-refused',
        'The request must begin with a method that this service knows, such as GET, in capitals; not with TLS or the PROXY ' +
          'protocol.',
      ],
    ],
  );
});

test('a refusal behind a route has a line with status, reason, route and the traceId of its problem', async () => {
  await using list = await startList();
  const token = list.editor;
  for (const [request, options, status, reason] of [
    ['POST /todos', { json: { title: 'Milk', categoryId: 999 } }, 400, 'Category not found'],
    [
      'POST /todos',
      { headers: { 'Content-Type': 'text/plain' }, body: 'Milk' },
      415,
      'Unsupported Media Type',
    ],
    ['GET /todos/999', {}, 404, 'Not Found'],
  ] as const) {
    const reply = await list.send(request, { token, ...options });
    assert.equal(reply.status, status);
    const [method, path] = request.split(' ');
    const { traceId } = JSON.parse(reply.body.toString());
    const line = list.lines(/^request-refused$/).at(-1);
    const route = path?.replace('999', ':id');
    assert.deepEqual(
      { ...line },
      { ...line, level: 30, msg: 'request refused', status, reason, method, route, traceId },
    );
  }
});
