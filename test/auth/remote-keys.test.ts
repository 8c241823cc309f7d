import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { authenticateWith } from '../../src/auth/authenticate.ts';
import type { Keys } from '../../src/auth/keys/keys.ts';
import { openRemoteKeys, type RemoteKeysOptions } from '../../src/auth/keys/remote.ts';
import type { RemoteSource } from '../../src/auth/keys/source.ts';
import { tellBy } from '../../src/observe/log.ts';
import { draft, forge, jwkOf, type KeyName, publicKey } from './forge.ts';
import { type FakeIssuer, json, startIssuer, status } from './issuer.ts';
import { TRUST } from './trust.ts';

/** Milliseconds. So long that only what a test asks for happens. */
const NEVER = 1e9;

interface Line {
  readonly level: number;
  readonly event: string;
  readonly msg: string;
  readonly reason: string;
}

function open(source: RemoteSource, parts: Partial<RemoteKeysOptions> = {}) {
  const lines: Line[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const keys = openRemoteKeys(source, { tell: tellBy(log), cooldownMs: NEVER, refreshMs: NEVER, ...parts });
  const authenticate = authenticateWith({ ...TRUST, keys, now: Date.now });
  const codeOf = async (token: string) => (await authenticate(`Bearer ${token}`)).code;
  return { keys, lines, codeOf };
}

function discovering(issuer: FakeIssuer): RemoteSource {
  return { kind: 'discovery', issuer: issuer.url };
}

function published(...names: readonly KeyName[]) {
  return { keys: names.map((name) => jwkOf({ publicKey: publicKey(name) }, name)) };
}

function tokenOf(kid: string): string {
  const made = draft('p256');
  return forge(made, { header: { ...made.header, kid } });
}

/** Waits until something that happens by itself has happened. */
async function until(happened: () => boolean): Promise<void> {
  while (!happened()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** Why the first attempt brought no keys. */
async function firstFailure(keys: Keys, lines: readonly Line[]): Promise<string | undefined> {
  await keys.refresh();
  assert.equal(keys.current(), undefined);
  return lines.find(({ event }) => event === 'keys-unavailable')?.reason;
}

test('keys are found by OpenID discovery', async () => {
  await using issuer = await startIssuer();
  const { keys, codeOf } = open(discovering(issuer));
  await using _keys = keys;
  assert.equal(await codeOf(forge(draft())), 'accepted');
  assert.deepEqual(issuer.asked, ['/.well-known/openid-configuration', '/jwks']);
});

test('keys are found by RFC 8414 when there is no OpenID document', async () => {
  await using issuer = await startIssuer();
  const named = `${issuer.url}/realms/todo`;
  const document = { issuer: named, jwks_uri: `${issuer.url}/jwks` };
  issuer.answers.set('/.well-known/oauth-authorization-server/realms/todo', json(document));
  const { keys, codeOf } = open({ kind: 'discovery', issuer: named });
  await using _keys = keys;
  assert.equal(await codeOf(forge(draft())), 'accepted');
  assert.equal(issuer.asked[0], '/realms/todo/.well-known/openid-configuration');
});

test('an issuer with neither document is asked for both, and the reason names both', async () => {
  await using issuer = await startIssuer();
  const named = `${issuer.url}/realms/todo`;
  const { keys, lines } = open({ kind: 'discovery', issuer: named });
  await using _keys = keys;
  const reason = await firstFailure(keys, lines);
  const first = `${named}/.well-known/openid-configuration answered 404`;
  const second = `${issuer.url}/.well-known/oauth-authorization-server/realms/todo answered 404`;
  assert.equal(reason, `${first}, ${second}`);
});

test('an issuer that ends in a slash is asked without a double one', async () => {
  await using issuer = await startIssuer();
  const document = { issuer: `${issuer.url}/`, jwks_uri: `${issuer.url}/jwks` };
  issuer.answers.set('/.well-known/openid-configuration', json(document));
  const { keys, codeOf } = open({ kind: 'discovery', issuer: `${issuer.url}/` });
  await using _keys = keys;
  assert.equal(await codeOf(forge(draft())), 'accepted');
});

test('keys come from a configured address without discovery', async () => {
  await using issuer = await startIssuer();
  const { keys, codeOf } = open({ kind: 'jwks-url', url: new URL(`${issuer.url}/jwks`) });
  await using _keys = keys;
  assert.equal(await codeOf(forge(draft())), 'accepted');
  assert.deepEqual(issuer.asked, ['/jwks']);
});

/** Deeper than `JSON.stringify` goes; `JSON.parse` has no limit. */
const DEEP = `${'['.repeat(30_000)}{"toJSON":1}${']'.repeat(30_000)}`;

test('an issuer that is no string, however deep, or a long one, is a failure with a short reason', async () => {
  for (const named of [DEEP, `"${'x'.repeat(60_000)}"`, '7']) {
    await using issuer = await startIssuer();
    const answer = `{"issuer":${named},"jwks_uri":"${issuer.url}/jwks"}`;
    issuer.answers.set('/.well-known/openid-configuration', (_request, response) => response.end(answer));
    const { keys, lines } = open(discovering(issuer));
    await using _keys = keys;
    const reason = (await firstFailure(keys, lines)) ?? '';
    assert.match(reason, /^the discovery document must name the issuer "http:/);
    assert.ok(reason.length < 500, reason);
  }
});

for (const named of ['https://other.example', '', undefined, null, 7]) {
  test(`a discovery document of the issuer ${JSON.stringify(named)} is not believed`, async () => {
    await using issuer = await startIssuer();
    issuer.answers.set(
      '/.well-known/openid-configuration',
      json({ issuer: named, jwks_uri: `${issuer.url}/jwks` }),
    );
    const { keys, lines } = open(discovering(issuer));
    await using _keys = keys;
    assert.match(
      (await firstFailure(keys, lines)) ?? '',
      /the discovery document must name the issuer "http:/,
    );
    assert.equal(issuer.timesKeysWereAsked(), 0);
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
    issuer.answers.set('/.well-known/openid-configuration', json({ issuer: issuer.url, jwks_uri: jwksUri }));
    const { keys, lines } = open(discovering(issuer));
    await using _keys = keys;
    const reason = await firstFailure(keys, lines);
    assert.match(reason ?? '', /must begin with "https:", or with "http:" on loopback/);
    assert.doesNotMatch(reason ?? '', /pass@/);
  });
}

test('no connection to the issuer is kept, which would be dead by the next fetch', async () => {
  await using issuer = await startIssuer();
  const kept: (string | undefined)[] = [];
  issuer.answers.set('/jwks', (request, response) => {
    kept.push(request.headers.connection);
    json(issuer.keys)(request, response);
  });
  const { keys } = open(discovering(issuer));
  await using _keys = keys;
  await keys.refresh();
  assert.deepEqual(kept, ['close']);
});

test('a redirect is not followed', async () => {
  await using issuer = await startIssuer();
  issuer.answers.set('/jwks', status(302, { location: '/elsewhere' }));
  const { keys, lines } = open(discovering(issuer));
  await using _keys = keys;
  assert.match((await firstFailure(keys, lines)) ?? '', /\/jwks answered 302$/);
  assert.ok(!issuer.asked.includes('/elsewhere'));
});

test('more than 64 KiB are not read', async () => {
  await using issuer = await startIssuer();
  issuer.answers.set('/jwks', json({ ...published('p256'), pad: 'x'.repeat(65_536) }));
  const { keys, lines } = open(discovering(issuer));
  await using _keys = keys;
  assert.match((await firstFailure(keys, lines)) ?? '', /answered more than 64 KiB$/);
});

test('more than 50 keys are not taken', async () => {
  await using issuer = await startIssuer();
  issuer.keys = {
    keys: Array.from({ length: 51 }, (_, at) => jwkOf({ publicKey: publicKey('ed') }, `ed-${at}`)),
  };
  const { keys, lines } = open(discovering(issuer));
  await using _keys = keys;
  assert.match((await firstFailure(keys, lines)) ?? '', /at most 50 keys, received 51$/);
});

for (const [path, answer] of [
  ['/jwks', '<html>'],
  ['/jwks', '\\u007b"keys":[]}'],
  ['/.well-known/openid-configuration', '{"issuer"\\u003a"a"}'],
] as const) {
  test(`an answer of ${path} that is no JSON brings no keys: ${answer}`, async () => {
    await using issuer = await startIssuer();
    issuer.answers.set(path, (_request, response) => response.end(answer));
    const { keys, lines } = open(discovering(issuer));
    await using _keys = keys;
    assert.match((await firstFailure(keys, lines)) ?? '', /not JSON$/);
  });
}

test('a set without a usable key is a failure, and bad keys are named in warnings', async () => {
  await using issuer = await startIssuer();
  const secret = { kty: 'oct', kid: 'shared', k: 'AAAA' };
  issuer.keys = {
    keys: [secret, { ...jwkOf({ publicKey: publicKey('ed') }, 'for-encryption'), use: 'enc' }],
  };
  const { keys, lines } = open(discovering(issuer));
  await using _keys = keys;
  assert.match((await firstFailure(keys, lines)) ?? '', /must have a key that verifies signatures$/);
  const warnings = lines.filter(({ event, level }) => event === 'key-skipped' && level === 40);
  assert.deepEqual(
    warnings.map(({ msg }) => msg),
    ['key skipped: the key "shared": it is a symmetric key'],
  );
});

test('a bad key beside good ones is skipped', async () => {
  await using issuer = await startIssuer();
  issuer.keys = { keys: [{ kty: 'RSA', kid: 'broken', n: 'AA', e: 'AQAB' }, ...published('p256').keys] };
  const { keys, codeOf } = open(discovering(issuer));
  await using _keys = keys;
  assert.equal(await codeOf(forge(draft())), 'accepted');
});

test('a new key is fetched when the first token names it', async () => {
  await using issuer = await startIssuer();
  issuer.keys = published('rsa');
  const { keys, codeOf } = open(discovering(issuer));
  await using _keys = keys;
  assert.equal(await codeOf(forge(draft('rsa'))), 'accepted');
  issuer.keys = published('rsa', 'p256');
  assert.equal(await codeOf(forge(draft('p256'))), 'accepted');
  assert.equal(issuer.timesKeysWereAsked(), 2);
});

test('however many unknown keys are named, they cause one fetch per cooldown', async () => {
  await using issuer = await startIssuer();
  let time = 0;
  const { keys, codeOf } = open(discovering(issuer), { cooldownMs: 30_000, clock: () => time });
  await using _keys = keys;
  await keys.refresh();
  const storm = () => Promise.all(Array.from({ length: 100 }, (_, at) => codeOf(tokenOf(`unknown-${at}`))));
  assert.deepEqual(new Set(await storm()), new Set(['key-unknown']));
  assert.equal(issuer.timesKeysWereAsked(), 2);
  time = 29_999;
  await storm();
  assert.equal(issuer.timesKeysWereAsked(), 2);
  time = 30_000;
  await storm();
  assert.equal(issuer.timesKeysWereAsked(), 3);
});

test('tokens that come while keys are fetched wait for them, first keys and new ones', async () => {
  await using issuer = await startIssuer();
  issuer.keys = published('rsa');
  const { keys, codeOf } = open(discovering(issuer));
  await using _keys = keys;
  assert.deepEqual(await Promise.all([codeOf(forge(draft('rsa'))), codeOf(forge(draft('rsa')))]), [
    'accepted',
    'accepted',
  ]);
  issuer.keys = published('p256');
  assert.deepEqual(await Promise.all([codeOf(forge(draft())), codeOf(forge(draft()))]), [
    'accepted',
    'accepted',
  ]);
  assert.equal(issuer.timesKeysWereAsked(), 2);
});

test('a token that fails for another reason than its key causes no fetch', async () => {
  await using issuer = await startIssuer();
  const { keys, codeOf } = open(discovering(issuer));
  await using _keys = keys;
  assert.equal(await codeOf(`${forge(draft()).slice(0, -8)}AAAAAAAA`), 'signature');
  const made = draft();
  assert.equal(await codeOf(forge(made, { header: { alg: 'ES512', kid: 'p256' } })), 'algorithm');
  assert.equal(issuer.timesKeysWereAsked(), 1);
});

test('keys are refreshed in the background, and a key that has left is refused, remembered or not', async () => {
  await using issuer = await startIssuer();
  const { keys, codeOf } = open(discovering(issuer), { refreshMs: 20 });
  await using _keys = keys;
  const token = forge(draft('p256'));
  assert.equal(await codeOf(token), 'accepted');
  issuer.keys = published('rsa');
  const before = keys.current();
  await until(() => keys.current() !== before);
  assert.equal(await codeOf(token), 'key-unknown');
});

test('a refresh that brings the same keys in another order changes nothing', async () => {
  await using issuer = await startIssuer();
  issuer.keys = published('rsa', 'p256', 'ed');
  const { keys, codeOf } = open(discovering(issuer), { refreshMs: 20 });
  await using _keys = keys;
  await codeOf(forge(draft()));
  const before = keys.current();
  issuer.keys = published('ed', 'rsa', 'p256');
  const asked = issuer.timesKeysWereAsked();
  await until(() => issuer.timesKeysWereAsked() > asked + 1);
  assert.equal(keys.current(), before);
});

test('while the issuer is down, known keys go on working; the outage is logged once, and its end', async () => {
  await using issuer = await startIssuer();
  const { keys, codeOf, lines } = open(discovering(issuer), { refreshMs: 10 });
  await using _keys = keys;
  assert.equal(await codeOf(forge(draft())), 'accepted');
  issuer.answers.set('/jwks', status(500));
  const asked = issuer.timesKeysWereAsked();
  await until(() => issuer.timesKeysWereAsked() > asked + 3);
  assert.equal(await codeOf(forge(draft('rsa'))), 'accepted');
  const outages = () => lines.filter(({ event, level }) => event === 'keys-unavailable' && level > 20);
  assert.equal(outages().length, 1);
  assert.match(outages()[0]?.msg ?? '', /known keys stay in force$/);
  issuer.answers.delete('/jwks');
  await until(() => lines.some(({ event }) => event === 'keys-available'));
  assert.equal(outages().length, 1);
});

test('an issuer that is down at start makes tokens unavailable until it is up', async () => {
  const { url } = await (async () => {
    await using gone = await startIssuer();
    return gone;
  })();
  const { keys, codeOf, lines } = open({ kind: 'discovery', issuer: url }, { refreshMs: 20 });
  await using _keys = keys;
  assert.equal(await codeOf(forge(draft())), 'keys-unavailable');
  assert.equal(keys.retryAfter(), 1);
  assert.match(lines[0]?.msg ?? '', /no token can be verified$/);
  await using _issuer = await startIssuer(Number(new URL(url).port));
  await until(() => keys.current() !== undefined);
  assert.equal(await codeOf(forge(draft())), 'accepted');
});

test('the time until the next attempt grows with every failure, up to the cooldown', async () => {
  await using issuer = await startIssuer();
  issuer.answers.set('/jwks', status(503));
  const { keys } = open(discovering(issuer), { cooldownMs: 3000, clock: () => 0 });
  await using _keys = keys;
  const waits: number[] = [];
  await keys.refresh();
  waits.push(keys.retryAfter());
  await until(() => issuer.timesKeysWereAsked() === 2);
  await keys.refresh();
  waits.push(keys.retryAfter());
  assert.deepEqual(waits, [1, 2]);
});

test('an issuer that does not answer in time brings no keys', async () => {
  await using issuer = await startIssuer();
  issuer.answers.set('/jwks', (_request, response) => response.write('{"keys":['));
  const { keys, lines } = open(discovering(issuer), { timeoutMs: 50 });
  await using _keys = keys;
  assert.match((await firstFailure(keys, lines)) ?? '', /did not answer: it took too long$/);
});

test('closing ends an attempt that is under way', async () => {
  await using issuer = await startIssuer();
  issuer.answers.set('/.well-known/openid-configuration', () => undefined);
  const { keys, lines } = open(discovering(issuer));
  await until(() => issuer.asked.length > 0);
  await keys[Symbol.asyncDispose]();
  assert.deepEqual(lines, [], 'what was broken off on purpose is no outage');
});
