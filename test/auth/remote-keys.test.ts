import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openRemoteKeys, type RemoteKeysOptions, type RemoteSource } from '../../src/auth/keys/remote.ts';
import type { Trust } from '../../src/auth/token/checks.ts';
import { listen } from '../support/folder.ts';
import { draft, forge, jwkOf, jwks, type KeyName, publicKey, STRANGERS, signer } from './forge.ts';
import { keptLog, verdictsWith } from './trust.ts';

interface IssuerOptions {
  /** What it publishes. */
  readonly keys?: unknown;
  /** Answers in place of the discovery document and the keys, by path. */
  readonly answers?: readonly (readonly [path: string, answer: RequestListener])[];
}

const OPENID = '/.well-known/openid-configuration';
const OAUTH = '/.well-known/oauth-authorization-server';

/** An issuer on loopback that answers as the test says, who may change it at any time. The outside network's double. */
async function startIssuer(options: IssuerOptions = {}) {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    issuer.asked.push(path);
    const answer = issuer.answers.get(path) ?? byDefault(path);
    answer(request, response);
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  const asked: string[] = [];
  const issuer = {
    url,
    /** The paths that were asked for, in order. */
    asked,
    keys: options.keys ?? jwks(),
    answers: new Map(options.answers),
    timesKeysWereAsked: () => asked.filter((path) => path === '/jwks').length,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };

  function byDefault(path: string) {
    if (path === OPENID) return json({ issuer: url, jwks_uri: `${url}/jwks` });
    return path === '/jwks' ? json(issuer.keys) : status(404);
  }
  return issuer;
}

function text(body: string): RequestListener {
  return (_request, response) => response.end(body);
}

function encoded(coding: string, body: string | Buffer): RequestListener {
  return (_request, response) => response.writeHead(200, { 'content-encoding': coding }).end(body);
}

function gzipped(body: string): RequestListener {
  return encoded('gzip', gzipSync(body));
}

function json(document: unknown): RequestListener {
  return text(JSON.stringify(document));
}

function status(code: number, headers: Readonly<Record<string, string>> = {}): RequestListener {
  return (_request, response) => response.writeHead(code, headers).end();
}

/** Milliseconds. So long that only what a test asks for happens. */
const NEVER = 1e9;

function open(source: RemoteSource, parts: Partial<RemoteKeysOptions> = {}, trust: Partial<Trust> = {}) {
  const { logEvent, lines } = keptLog();
  const times = { cooldownMs: NEVER, refreshMs: NEVER, timeoutMs: NEVER };
  const keys = openRemoteKeys(source, { logEvent, ...times, ...parts });
  return {
    keys,
    lines,
    codeOf: verdictsWith(keys, trust),
    /** Why the first attempt brought no keys. */
    async firstFailure(): Promise<string> {
      await keys.refresh();
      assert.equal(keys.current(), undefined);
      return lines.find(({ event }) => event === 'keys-unavailable')?.reason ?? '';
    },
    [Symbol.asyncDispose]: () => keys[Symbol.asyncDispose](),
  };
}

/** An issuer, and its keys by discovery. */
async function discover(
  options: IssuerOptions = {},
  parts: Partial<RemoteKeysOptions> = {},
  trust: Partial<Trust> = {},
) {
  const issuer = await startIssuer(options);
  const opened = open({ kind: 'discovery', issuer: issuer.url }, parts, trust);
  return {
    ...opened,
    issuer,
    async [Symbol.asyncDispose]() {
      await opened[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

/** Waits until something that happens by itself has happened. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** The path of an issuer, and where its documents are: OpenID Connect Discovery 1.0 §4.1, RFC 8414 §3.1. */
for (const [name, openId, oauth] of [
  ['', OPENID, OAUTH],
  ['/', OPENID, OAUTH],
  ['/realms/x', `/realms/x${OPENID}`, `${OAUTH}/realms/x`],
  ['/realms/x/', `/realms/x${OPENID}`, `${OAUTH}/realms/x`],
] as const) {
  for (const asked of [[openId], [openId, oauth]]) {
    test(`keys of an issuer at "${name}" are found at ${asked.at(-1)}`, async () => {
      await using issuer = await startIssuer();
      const named = `${issuer.url}${name}`;
      issuer.answers.set(openId, status(404));
      issuer.answers.set(asked.at(-1) ?? '', json({ issuer: named, jwks_uri: `${issuer.url}/jwks` }));
      await using remote = open({ kind: 'discovery', issuer: named });
      assert.equal(await remote.codeOf(forge(draft())), 'accepted');
      assert.deepEqual(issuer.asked, [...asked, '/jwks']);
    });
  }
}

test('an issuer with neither document is asked for both, and the reason names both', async () => {
  await using issuer = await startIssuer();
  await using remote = open({ kind: 'discovery', issuer: `${issuer.url}/realms/x` });
  assert.equal(
    await remote.firstFailure(),
    `${issuer.url}/realms/x${OPENID} answered 404, ${issuer.url}${OAUTH}/realms/x answered 404`,
  );
});

test('keys come from a configured address without discovery', async () => {
  await using issuer = await startIssuer();
  await using remote = open({ kind: 'jwks-url', url: new URL(`${issuer.url}/jwks`) });
  assert.equal(await remote.codeOf(forge(draft())), 'accepted');
  assert.deepEqual(issuer.asked, ['/jwks']);
  assert.equal(remote.keys.describe(), `${issuer.url}/jwks`);
});

/** Deeper than `JSON.stringify` goes; `JSON.parse` has no limit. */
const DEEP = `${'['.repeat(30_000)}{"toJSON":1}${']'.repeat(30_000)}`;

const manyKeys = Array.from({ length: 51 }, (_, at) => jwkOf(publicKey('ed'), `ed-${at}`));

const OTHER_ISSUER = /^the discovery document must name the issuer "http:/;

/** What an issuer answers at a path, and why that brings no keys. */
const ANSWERS: readonly (readonly [what: string, path: string, answer: RequestListener, reason: RegExp])[] = [
  ...(
    [
      ['"https://other.example"', /, received "https:\/\/other\.example"$/],
      ['""', /, received ""$/],
      ['null', /, received no string$/],
      ['7', /, received no string$/],
      [DEEP, /, received no string$/],
      [`"${'x'.repeat(60_000)}"`, OTHER_ISSUER],
    ] as const
  ).map(
    ([name, reason]) =>
      [
        `another issuer: ${name.slice(0, 30)}`,
        OPENID,
        text(`{"issuer":${name},"jwks_uri":"http://127.0.0.1"}`),
        reason,
      ] as const,
  ),
  ['no object', OPENID, text('null'), /^the discovery document is no object$/],
  ['no issuer', OPENID, json({ jwks_uri: 'http://127.0.0.1' }), /, received nothing$/],
  [
    'a redirect',
    '/jwks',
    status(302, { location: '/elsewhere?key=s3cr3t' }),
    /\/jwks answered 302, a redirect to "http:\/\/127\.0\.0\.1:\d+\/elsewhere", which is not followed$/,
  ],
  [
    'a redirect to an address of any length',
    '/jwks',
    status(308, { location: `https://a:s3cr3t@b.example/${'x'.repeat(9_000)}` }),
    /answered 308, a redirect to "https:\/\/b\.example\/x+", which is not followed$/,
  ],
  ['a redirect to nowhere', '/jwks', status(301, { location: 'http://[' }), /\/jwks answered 301$/],
  [
    'more than 512 KiB',
    '/jwks',
    json({ ...jwks(), pad: 'x'.repeat(524_288) }),
    /answered more than 512 KiB$/,
  ],
  ['more than 50 keys', '/jwks', json({ keys: manyKeys }), /at most 50 keys, received 51$/],
  ['more than 512 KiB, compressed', '/jwks', gzipped(' '.repeat(10_000_000)), /answered more than 512 KiB$/],
  [
    'gzip that is none',
    '/jwks',
    encoded('gzip', '{"keys":[]}'),
    /answered gzip that cannot be read: Z_DATA_ERROR$/,
  ],
  ['another coding', '/jwks', encoded('br', '\x00'), /not JSON$/],
  [
    'HTML',
    '/jwks',
    text('\n<!DOCTYPE html>'),
    /answered a page, as a firewall or a login does, and not JSON$/,
  ],
  ['no JSON', '/jwks', text('keys'), /answered something that is not JSON$/],
  ['an escape outside of strings', '/jwks', text('\\u007b"keys":[]}'), /not JSON$/],
  ['an escape outside of strings', OPENID, text('{"issuer"\\u003a"a"}'), /not JSON$/],
];

for (const [what, path, answer, reason] of ANSWERS) {
  test(`${what} at ${path} brings no keys, and nothing else is asked for`, async () => {
    await using remote = await discover({ answers: [[path, answer]] });
    const said = await remote.firstFailure();
    assert.match(said, reason);
    assert.ok(said.length < 500, said);
    assert.deepEqual(remote.issuer.asked, path === OPENID ? [OPENID] : [OPENID, path]);
  });
}

for (const jwksUri of [
  'http://keys.example.org/jwks',
  'file:///etc/passwd',
  'jwks',
  'http://user:pass@127.0.0.1/jwks',
  'http://127.0.0.1.example.org/jwks',
]) {
  test(`keys at ${jwksUri} are not fetched`, async () => {
    await using issuer = await startIssuer();
    issuer.answers.set(OPENID, json({ issuer: issuer.url, jwks_uri: jwksUri }));
    await using remote = open({ kind: 'discovery', issuer: issuer.url });
    const reason = await remote.firstFailure();
    assert.match(reason, /must begin with "https:", or with "http:" on loopback$/);
    assert.doesNotMatch(reason, /pass@/);
  });
}

for (const jwksUri of [undefined, 7]) {
  test(`a discovery document whose jwks_uri is ${jwksUri} is said to have none`, async () => {
    await using issuer = await startIssuer();
    issuer.answers.set(OPENID, json({ issuer: issuer.url, jwks_uri: jwksUri }));
    await using remote = open({ kind: 'discovery', issuer: issuer.url });
    assert.equal(await remote.firstFailure(), 'the discovery document must have a "jwks_uri"');
  });
}

for (const coding of ['gzip', 'GZIP', 'x-gzip']) {
  test(`keys that a server compresses unasked are read, as ${coding}; it is asked not to`, async () => {
    const asked: unknown[] = [];
    const answer: RequestListener = (request, response) => {
      asked.push(request.headers['accept-encoding']);
      encoded(coding, gzipSync(JSON.stringify(jwks())))(request, response);
    };
    await using remote = await discover({ answers: [['/jwks', answer]] });
    assert.equal(await remote.codeOf(forge(draft())), 'accepted');
    assert.deepEqual(asked, ['identity']);
  });
}

test('a set of 512 KiB with certificates, behind a byte order mark, and with more than 50 keys for encryption is read', async () => {
  const encryption = { ...jwkOf(publicKey('rsa'), 'e'), use: 'enc' };
  const keys = [
    ...jwks().keys.map((key) => ({ ...key, x5c: ['M'.repeat(60_000)] })),
    ...Array(60).fill(encryption),
  ];
  const set = JSON.stringify({ keys }).padEnd(524_285);
  await using remote = await discover({ answers: [['/jwks', text(`\uFEFF${set}`)]] });
  assert.equal(await remote.codeOf(forge(draft())), 'accepted');
  assert.deepEqual(
    remote.lines.map(({ event }) => event),
    ['keys-loaded'],
  );
});

test('a request names its program, and keeps no connection, which would be dead by the next fetch', async () => {
  const sent: unknown[] = [];
  const answer: RequestListener = ({ headers }, response) => {
    sent.push([headers.accept, headers.connection, headers['user-agent']]);
    response.end(JSON.stringify(jwks()));
  };
  await using remote = await discover({ answers: [['/jwks', answer]] });
  await remote.keys.refresh();
  assert.deepEqual(sent, [['application/json', 'close', 'todo-service']]);
});

test('a set without a usable key is a failure, whose reason names the keys [A7]', async () => {
  const secret = { kty: 'oct', kid: 'shared', k: 'AAAA' };
  const forEncryption = { ...jwkOf(publicKey('ed'), 'for-encryption'), use: 'enc' };
  await using remote = await discover({ keys: { keys: [forEncryption, secret] } });
  assert.equal(
    await remote.firstFailure(),
    'it must have a key that verifies signatures: the key "shared": it is a symmetric key; the key "for-encryption": ' +
      'its use must be "sig", received "enc"',
  );
  assert.deepEqual(
    remote.lines.map(({ event }) => event),
    ['keys-unavailable'],
  );
});

test('however many unknown keys are named, they cause one fetch per cooldown', async () => {
  let time = 0;
  await using remote = await discover({}, { cooldownMs: 30_000, clock: () => time });
  await remote.keys.refresh();
  const storm = () =>
    Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        remote.codeOf(forge(draft('p256', { header: { kid: `unknown-${at}` } }))),
      ),
    );
  assert.deepEqual(new Set(await storm()), new Set(['key-unknown']));
  assert.equal(remote.issuer.timesKeysWereAsked(), 2);
  time = 29_999;
  await storm();
  assert.equal(remote.issuer.timesKeysWereAsked(), 2);
  time = 30_000;
  await storm();
  assert.equal(remote.issuer.timesKeysWereAsked(), 3);
});

test('an issuer that rotates three times within the cooldown is asked each time: what brought the key costs none [A7]', async () => {
  let time = 0;
  await using remote = await discover({ keys: jwks('rsa') }, { cooldownMs: 30_000, clock: () => time });
  await remote.keys.refresh();
  for (const name of ['p256', 'ed', 'p384'] as const) {
    time += 1500;
    // The older key stays for the tokens that it has signed.
    remote.issuer.keys = jwks('rsa', name);
    assert.equal(await remote.codeOf(forge(draft(name))), 'accepted');
  }
  assert.equal(remote.issuer.timesKeysWereAsked(), 4);
  const strange = () => remote.codeOf(forge(draft('p256', { header: { kid: 'strange' } })));
  assert.deepEqual([await strange(), await strange()], ['key-unknown', 'key-unknown']);
  assert.equal(remote.issuer.timesKeysWereAsked(), 5, 'one that did not bring the key costs the cooldown');
});

test('a token that no key verifies asks for keys only if kind, issuer, audience, required claims and times speak for it [A7]', async () => {
  const required = [
    { name: 'team', path: ['team'], value: 'a' },
    { name: 'nonce', path: ['nonce'], value: undefined },
  ];
  await using remote = await discover({}, {}, { requiredClaims: required, tokenType: 'at+jwt' });
  await remote.keys.refresh();
  const good = { header: { typ: 'at+jwt' }, claims: { team: 'a' } };
  for (const kid of ['strange', 'p256', undefined]) {
    const stranger = { sign: signer('ES256', STRANGERS.p256.privateKey) };
    const tokenWith = (header: object, claims: object) =>
      forge(
        draft('p256', { header: { ...good.header, kid, ...header }, claims: { ...good.claims, ...claims } }),
        stranger,
      );
    for (const claims of NOT_ADMITTED) {
      assert.match(await remote.codeOf(tokenWith({}, claims)), /^(?:key-unknown|signature)$/);
    }
    for (const [header, claims] of [
      [{}, { typ: 'Refresh' }],
      [{}, { token_use: 'id' }],
      [{ typ: 'JWT' }, {}],
      [{ typ: undefined }, {}],
    ] as const) {
      assert.equal(await remote.codeOf(tokenWith(header, claims)), 'kind');
    }
  }
  assert.equal(remote.issuer.timesKeysWereAsked(), 1);
  assert.equal(
    await remote.codeOf(forge(draft('p256', { ...good, header: { ...good.header, kid: 'x' } }))),
    'key-unknown',
  );
  assert.equal(remote.issuer.timesKeysWereAsked(), 2);
});

test('keys-loaded names at most eight keys, each cut at 100 characters, and says how many there are', async () => {
  const many = manyKeys.slice(0, 48).map((key, at) => ({ ...key, kid: `${at}-${'x'.repeat(1000)}` }));
  await using remote = await discover({ keys: { keys: many } });
  await remote.keys.refresh();
  const line = remote.lines.find(({ event }) => event === 'keys-loaded');
  assert.equal(line?.keys, 48);
  assert.equal(line?.kids?.length, 8);
  assert.ok(JSON.stringify(line).length < 1500, JSON.stringify(line));
});

test('tokens that come while keys are fetched wait for them, first keys and new ones', async () => {
  await using remote = await discover({ keys: jwks('rsa') });
  const codesOfTwo = (name: KeyName) =>
    Promise.all([remote.codeOf(forge(draft(name))), remote.codeOf(forge(draft(name)))]);
  assert.deepEqual(await codesOfTwo('rsa'), ['accepted', 'accepted']);
  remote.issuer.keys = jwks('p256');
  assert.deepEqual(await codesOfTwo('p256'), ['accepted', 'accepted']);
  assert.equal(remote.issuer.timesKeysWereAsked(), 2);
});

test('a token whose key a refresh under way brings causes none of its own', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  await using remote = await discover({ keys: jwks('rsa') }, { refreshMs: 1_000 });
  await remote.keys.refresh();
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  remote.issuer.answers.set('/jwks', async (request, response) => {
    asked.resolve();
    await held.promise;
    json(jwks('p256'))(request, response);
  });
  mock.timers.tick(1_000);
  await asked.promise;
  const code = remote.codeOf(forge(draft('p256')));
  held.resolve();
  assert.equal(await code, 'accepted');
  assert.equal(remote.issuer.timesKeysWereAsked(), 2);
});

/** Claims that refuse a token whatever its key is. */
const NOT_ADMITTED = [
  { iss: 'https://a.example' },
  { aud: 'account' },
  { aud: undefined },
  { exp: 1 },
  { nbf: 9e9 },
  { team: 'b' },
  { nonce: null },
];

test('a forged token buys no more fetches than one with an invented kid, however its key is named [A7]', async () => {
  let time = 0;
  await using remote = await discover({}, { cooldownMs: 30_000, clock: () => time });
  await remote.keys.refresh();
  const forged = [
    forge(draft('p256', { header: { kid: 'invented' } })),
    `${forge(draft()).slice(0, -8)}AAAAAAAA`,
    forge(draft('p256', { header: { kid: undefined } }), {
      sign: signer('ES256', STRANGERS.p256.privateKey),
    }),
    forge(draft('p256', { header: { alg: 'ES512' } })),
    forge(draft('secret', { header: { kid: 'p256' } })),
  ];
  const storm = () =>
    Promise.all(Array.from({ length: 100 }, (_, at) => remote.codeOf(forged[at % 5] ?? '')));
  for (const [now, asked] of [
    [0, 2],
    [29_999, 2],
    [30_000, 3],
  ] as const) {
    time = now;
    assert.deepEqual(new Set(await storm()), new Set(['key-unknown', 'signature', 'algorithm']));
    assert.equal(remote.issuer.timesKeysWereAsked(), asked);
  }
});

test('a kid that stays and brings another key costs the cooldown, whoever names it [A7]', async () => {
  let time = 0;
  const named = (name: KeyName) => ({ keys: [jwkOf(publicKey(name), 'main')] });
  const tokenOf = (name: KeyName) => forge(draft(name, { header: { kid: 'main' } }));
  await using remote = await discover({ keys: named('rsa') }, { cooldownMs: 30_000, clock: () => time });
  await remote.keys.refresh();
  remote.issuer.keys = named('p256');
  assert.equal(await remote.codeOf(tokenOf('p256')), 'accepted');
  remote.issuer.keys = named('ed');
  assert.equal(await remote.codeOf(tokenOf('ed')), 'algorithm');
  assert.equal(remote.issuer.timesKeysWereAsked(), 2);
  time = 30_000;
  assert.equal(await remote.codeOf(tokenOf('ed')), 'accepted');
  assert.equal(await remote.codeOf(tokenOf('p256')), 'algorithm');
  assert.equal(remote.issuer.timesKeysWereAsked(), 3);
});

for (const kid of ['main', undefined]) {
  test(`a key that changes in place is found with the first token that it has signed: kid ${kid} [A7]`, async () => {
    const published = (name: KeyName) => ({ keys: [{ ...jwkOf(publicKey(name), ''), kid }] });
    const tokenOf = (name: KeyName) => forge(draft(name, { header: { kid } }));
    await using remote = await discover({ keys: published('rsa') });
    assert.equal(await remote.codeOf(tokenOf('rsa')), 'accepted');
    remote.issuer.keys = published('fixed');
    const codes = await Promise.all(Array.from({ length: 50 }, () => remote.codeOf(tokenOf('fixed'))));
    assert.deepEqual(new Set(codes), new Set(['accepted']));
    assert.equal(await remote.codeOf(tokenOf('rsa')), 'signature');
    assert.equal(remote.issuer.timesKeysWereAsked(), 2);
  });
}

test('keys are refreshed in the background, and a key that has left is refused, remembered or not', async () => {
  await using remote = await discover({}, { refreshMs: 20 });
  const token = forge(draft('p256'));
  assert.equal(await remote.codeOf(token), 'accepted');
  remote.issuer.keys = jwks('rsa');
  const before = remote.keys.current();
  await until(() => remote.keys.current() !== before);
  assert.equal(await remote.codeOf(token), 'key-unknown');
});

test('a refresh that brings the same keys in another order changes nothing', async () => {
  await using remote = await discover({ keys: jwks('rsa', 'p256', 'ed') }, { refreshMs: 20 });
  await remote.codeOf(forge(draft()));
  const before = remote.keys.current();
  remote.issuer.keys = jwks('ed', 'rsa', 'p256');
  const asked = remote.issuer.timesKeysWereAsked();
  await until(() => remote.issuer.timesKeysWereAsked() > asked + 1);
  assert.equal(remote.keys.current(), before);
});

test('while the issuer is down, known keys go on working; the outage is logged once, and its end', async () => {
  await using remote = await discover({}, { refreshMs: 10 });
  assert.equal(await remote.codeOf(forge(draft())), 'accepted');
  remote.issuer.answers.set('/jwks', status(500));
  const asked = remote.issuer.timesKeysWereAsked();
  await until(() => remote.issuer.timesKeysWereAsked() > asked + 3);
  assert.equal(await remote.codeOf(forge(draft('rsa'))), 'accepted');
  const outages = () => remote.lines.filter(({ event, level }) => event === 'keys-unavailable' && level > 20);
  assert.equal(outages().length, 1);
  assert.match(outages()[0]?.msg ?? '', /known keys stay in force$/);
  remote.issuer.answers.delete('/jwks');
  await until(() => remote.lines.some(({ event }) => event === 'keys-available'));
  assert.equal(outages().length, 1);
});

test('an issuer that is down at start makes tokens unavailable until it is up', async () => {
  const down: RequestListener = (request) => request.socket.destroy();
  await using remote = await discover({ answers: [[OPENID, down]] }, { refreshMs: 20 });
  assert.equal(await remote.codeOf(forge(draft())), 'keys-unavailable');
  assert.equal(remote.keys.retryAfter(), 1);
  assert.match(remote.lines[0]?.msg ?? '', /no token can be verified$/);
  remote.issuer.answers.delete(OPENID);
  await until(() => remote.keys.current() !== undefined);
  assert.equal(await remote.codeOf(forge(draft())), 'accepted');
});

test('the time until the next attempt grows with every failure, up to the cooldown', async ({ mock }) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const answers = [['/jwks', status(503)]] as const;
  await using remote = await discover({ answers }, { cooldownMs: 3000, clock: () => 0 });
  const waits: number[] = [];
  for (const asked of [1, 2, 3, 4]) {
    await remote.keys.refresh();
    assert.equal(remote.issuer.timesKeysWereAsked(), asked);
    waits.push(remote.keys.retryAfter());
    mock.timers.tick(1000 * remote.keys.retryAfter() - 1);
    await remote.keys.refresh();
    assert.equal(remote.issuer.timesKeysWereAsked(), asked);
    mock.timers.tick(1);
  }
  assert.deepEqual(waits, [1, 2, 3, 3]);
});

test('an issuer that does not answer in time brings no keys', async () => {
  const unended: RequestListener = (_request, response) => response.write('{"keys":[');
  await using issuer = await startIssuer({ answers: [['/jwks', unended]] });
  await using remote = open({ kind: 'jwks-url', url: new URL(`${issuer.url}/jwks`) }, { timeoutMs: 50 });
  assert.match(await remote.firstFailure(), /did not answer: it took too long$/);
});

test('closing ends an attempt that is under way', async () => {
  await using remote = await discover({ answers: [[OPENID, () => undefined]] });
  await until(() => remote.issuer.asked.length > 0);
  await remote.keys[Symbol.asyncDispose]();
  assert.deepEqual(remote.lines, [], 'what was broken off on purpose is no outage');
});
