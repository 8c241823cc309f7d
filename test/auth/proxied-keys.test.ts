import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { after, describe, test } from 'node:test';
import { openRemoteKeys, type RemoteSource } from '../../src/auth/keys/remote.ts';
import { canaries } from '../canaries/canaries.ts';
import { listen } from '../support/folder.ts';
import { startService } from '../support/start.ts';
import {
  type Behaviour,
  CERTIFICATE,
  repeats,
  startProxy,
  TLS,
  takes,
  takesWith,
  trustTestCertificate,
} from './connect-proxy.ts';
import { AUDIENCE, draft, forge, ISSUER, jwks } from './forge.ts';
import { callerOf, keptLog, verdictsWith } from './trust.ts';

trustTestCertificate();

/** An issuer that answers to every name. */
const issuer: Server = createServer(TLS, ({ headers: { host }, url }, response) => {
  const keys = url === '/jwks' ? jwks() : { issuer: `https://${host}`, jwks_uri: `https://${host}/jwks` };
  response.end(JSON.stringify(keys));
});
const port = await listen(issuer);
after(async () => {
  issuer.close();
  issuer.closeAllConnections();
  await once(issuer, 'close');
});

/** Milliseconds. So long that only what a test asks for happens. */
const NEVER = 1e9;

const USER = 'somebody';
const PASSWORD = 'pr0xy-pa55w0rd';
canaries.keepSecret(PASSWORD);

function withCredentials(address: URL): URL {
  const url = new URL(address);
  url.username = USER;
  url.password = PASSWORD;
  return url;
}

function open(source: RemoteSource, timeoutMs = NEVER) {
  const { logEvent, lines } = keptLog();
  const keys = openRemoteKeys(source, { logEvent, cooldownMs: NEVER, refreshMs: NEVER, timeoutMs });
  return {
    keys,
    lines,
    codeOf: verdictsWith(keys),
    [Symbol.asyncDispose]: () => keys[Symbol.asyncDispose](),
  };
}

const jwksUrl = (address: URL) =>
  ({
    kind: 'jwks-url',
    url: new URL('https://issuer.example/jwks'),
    proxy: { address, exceptions: [] },
  }) as const;

const discovery = (address: URL, name = 'issuer.example', exceptions: readonly string[] = []) =>
  ({ kind: 'discovery', issuer: `https://${name}`, proxy: { address, exceptions } }) as const;

describe('An issuer behind a proxy', { concurrency: true }, () => {
  for (const [name, target] of [
    ['issuer.example', 'issuer.example:443'],
    ['login.issuer.example:8443', 'login.issuer.example:8443'],
    ['10.9.8.7', '10.9.8.7:443'],
    ['[2001:db8::7]', '[2001:db8::7]:443'],
  ] as const) {
    for (const secure of [false, true]) {
      test(`keys of ${name} come through a proxy of ${secure ? 'https' : 'http'} [D23]`, async () => {
        await using proxy = await startProxy(port, takes, { secure });
        await using remote = open(discovery(proxy.address, name));
        assert.equal(await remote.codeOf(forge(draft())), 'accepted');
        assert.deepEqual(
          proxy.asked.map(({ target, headers }) => [target, headers.host, headers['proxy-authorization']]),
          [
            [target, target, undefined],
            [target, target, undefined],
          ],
        );
        assert.deepEqual(proxy.names, secure ? ['localhost', 'localhost'] : []);
        await proxy.left();
      });
    }
  }

  test('a proxy of https that is named by its address is told no name (RFC 6066 §3) [D23]', async () => {
    await using proxy = await startProxy(port, takes, { secure: true });
    const address = new URL(proxy.address);
    address.hostname = '127.0.0.1';
    await using remote = open(jwksUrl(address));
    assert.equal(await remote.codeOf(forge(draft())), 'accepted');
    assert.deepEqual(proxy.names, [false]);
  });

  for (const user of [USER, '']) {
    test(`${user === '' ? 'a password without a user' : 'user and password'} reach the proxy, and nobody else [D23]`, async () => {
      await using proxy = await startProxy(port);
      const address = withCredentials(proxy.address);
      address.username = user;
      address.password = encodeURIComponent(`${PASSWORD}:@/é`);
      await using remote = open(discovery(address));
      assert.equal(await remote.codeOf(forge(draft())), 'accepted');
      const credentials = Buffer.from(`${user}:${PASSWORD}:@/é`).toString('base64');
      assert.equal(proxy.asked[0]?.headers['proxy-authorization'], `Basic ${credentials}`);
    });
  }

  test('loopback, and what NO_PROXY names, are asked directly [D23]', async () => {
    const nowhere = new URL('http://127.0.0.1:1');
    for (const name of [`localhost:${port}`, `127.0.0.1:${port}`]) {
      await using remote = open(discovery(nowhere, name));
      assert.equal(await remote.codeOf(forge(draft())), 'accepted', name);
    }
    await using proxy = await startProxy(port);
    await using remote = open(discovery(proxy.address, 'issuer.invalid', ['issuer.invalid']));
    await remote.keys.refresh();
    assert.deepEqual(proxy.asked, []);
  });

  test('variables of Node.js send neither loopback nor an exception through a proxy [D23]', async () => {
    const variables = {
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: 'http://127.0.0.1:1',
      NODE_EXTRA_CA_CERTS: CERTIFICATE,
    };
    const env = {
      ...variables,
      HTTPS_PROXY: 'http://127.0.0.1:1',
      TODO_AUTH_ISSUER: ISSUER,
      TODO_AUTH_AUDIENCE: AUDIENCE,
      TODO_AUTH_JWKS_URL: `https://localhost:${port}/jwks`,
    };
    await using service = await startService({ env });
    assert.equal((await callerOf(service.baseUrl).read(forge(draft()))).status, 200);
  });

  for (const [name, behaviour, reason] of [
    [
      'asks for credentials',
      says('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
      'the proxy answered 407',
    ],
    [
      'asks for credentials at length',
      repeats('HTTP/1.1 407 No\r\nContent-Length: 1000000000\r\n\r\n', 'x'.repeat(65_536)),
      'the proxy answered 407',
    ],
    ['refuses', says('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno'), 'the proxy answered 403'],
    ['has several', says('HTTP/1.1 300 Multiple Choices\r\n\r\n'), 'the proxy answered 300'],
    ['moves', says('HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1\r\n\r\n'), 'the proxy answered 302'],
    ['sends nine heads of 1xx', first('HTTP/1.1 100 Continue\r\n\r\n'.repeat(9)), 'the proxy answered 100'],
    ['sends heads of 1xx without end', repeats('', 'HTTP/1.1 102 A\r\n\r\n'), 'the proxy answered 102'],
    [
      'switches the protocol',
      first('HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\n\r\n'),
      'the proxy answered 101',
    ],
    [
      'goes on and then refuses',
      says('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 407 No\r\n\r\n'),
      'the proxy answered 407',
    ],
    [
      'goes on and then is none',
      says('HTTP/1.1 100 Continue\r\n\r\nnone'),
      'the proxy answered something that is not HTTP',
    ],
    [
      'goes on and then closes',
      says('HTTP/1.1 100 Continue\r\n\r\n', true),
      'the proxy closed the connection',
    ],
    [
      'sends a head of 1xx without end',
      repeats('HTTP/1.1 103 Early Hints\r\nLink: ', 'x'.repeat(65_536)),
      'the proxy answered a head of more than 16 KiB',
    ],
    [
      'sends a long head of 1xx',
      first(`HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(16_384)}\r\n\r\n`),
      'the proxy answered a head of more than 16 KiB',
    ],
    ['speaks before the issuer', says('HTTP/1.1 200 OK\r\n\r\nno tunnel'), 'the proxy answered 200'],
    ['closes', (client) => client.end(), 'the proxy closed the connection'],
    ['resets', (client) => client.resetAndDestroy(), 'the proxy: ECONNRESET'],
    ['is none', says('SSH-2.0-OpenSSH_9.2\r\n'), 'the proxy answered something that is not HTTP'],
    [
      'has no status',
      says('HTTP/1.1 2000 OK\r\nX: y\r\n\r\n'),
      'the proxy answered something that is not HTTP',
    ],
    [
      'answers a head without end',
      repeats('HTTP/1.1 200 OK\r\nX: ', 'x'.repeat(65_536)),
      'the proxy answered a head of more than 16 KiB',
    ],
    [
      'answers lines without end',
      repeats('HTTP/1.1 200 OK\r\n', 'X: y\r\n'.repeat(10_000)),
      'the proxy answered a head of more than 16 KiB',
    ],
    ['makes a tunnel to nobody', says('HTTP/1.1 200 OK\r\n\r\n', true), 'ECONNRESET'],
  ] as readonly (readonly [string, Behaviour, string | RegExp])[]) {
    test(`a proxy that ${name} brings no keys, and the log has no part of its address [D23]`, async () => {
      await using proxy = await startProxy(port, behaviour);
      await using remote = open(discovery(withCredentials(proxy.address)));
      await remote.keys.refresh();
      assertNoKeys(remote.lines, proxy.port, reason);
      await proxy.left();
    });
  }

  for (const [name, behaviour, reason = 'the proxy: it took too long'] of [
    ['accepts CONNECT and never answers', () => {}],
    ['drips its status line', repeats('HTTP/1.1 200 ', 'O', 5)],
    ['drips its head', repeats('HTTP/1.1 200 OK\r\nX: ', 'x', 5)],
    ['goes on and says no more', says('HTTP/1.1 100 Continue\r\n\r\n')],
    ['drips lines', repeats('HTTP/1.1 200 OK\r\n', 'X: y\r\n', 20)],
    // On a busy machine the limit is reached before the tunnel is.
    [
      'makes a tunnel in which nobody speaks',
      says('HTTP/1.1 200 OK\r\n\r\n'),
      /^(?:the proxy: )?it took too long$/,
    ],
  ] as readonly (readonly [string, Behaviour, RegExp?])[]) {
    test(`the time limit of a request holds for a proxy that ${name}, and no connection is left [D23]`, async () => {
      await using proxy = await startProxy(port, behaviour);
      await using remote = open(discovery(withCredentials(proxy.address)), 300);
      await remote.keys.refresh();
      await proxy.left();
      assertNoKeys(remote.lines, proxy.port, reason);
    });

    test(`a stop does not wait for a proxy that ${name} [D23]`, async () => {
      await using proxy = await startProxy(port, behaviour);
      await using remote = open(discovery(proxy.address));
      while (proxy.open.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      await remote.keys[Symbol.asyncDispose]();
      await proxy.left();
      assert.deepEqual(remote.lines, [], 'what was broken off on purpose is no outage');
    });
  }

  test('a proxy that is not there is said without its address [D23]', async () => {
    await using remote = open(discovery(new URL(`http://${USER}:${PASSWORD}@127.0.0.1:1`)));
    await remote.keys.refresh();
    assertNoKeys(remote.lines, 1, 'the proxy: ECONNREFUSED');
  });

  for (const secure of [false, true]) {
    const kind = secure ? 'https' : 'http';
    test(`a certificate for another name is refused behind a proxy of ${kind} too [D23]`, async () => {
      await using proxy = await startProxy(port, takes, { secure });
      await using remote = open(discovery(withCredentials(proxy.address), 'other.example'));
      await remote.keys.refresh();
      const [line] = remote.lines;
      assert.match(
        line?.reason ?? '',
        /^https:\/\/other\.example\/\S+: the certificate is not trusted: ERR_TLS_CERT_ALTNAME_INVALID; a private CA/,
      );
      await proxy.left();
    });
  }

  test('the certificate of a proxy must have the name of the proxy, not that of the issuer [D23]', async () => {
    await using proxy = await startProxy(port, takes, { secure: true });
    const address = withCredentials(proxy.address);
    // The same machine by an address that its certificate does not have.
    address.hostname = '0.0.0.0';
    await using remote = open(discovery(address));
    await remote.keys.refresh();
    assertNoKeys(
      remote.lines,
      proxy.port,
      'the proxy: the certificate is not trusted: ERR_TLS_CERT_ALTNAME_INVALID; a private CA is named in NODE_EXTRA_CA_CERTS',
    );
    assert.deepEqual(proxy.asked, []);
  });

  test('a service asks its issuer through HTTPS_PROXY, and does not wait at a stop for one that is silent [D23]', async () => {
    let behaviour: Behaviour = takes;
    await using proxy = await startProxy(port, (client, target) => behaviour(client, target));
    const env = {
      TODO_AUTH_ISSUER: ISSUER,
      TODO_AUTH_AUDIENCE: AUDIENCE,
      TODO_AUTH_JWKS_URL: 'https://issuer.example/jwks',
      HTTPS_PROXY: withCredentials(proxy.address).href,
      NODE_EXTRA_CA_CERTS: CERTIFICATE,
      TODO_LOG_LEVEL: 'trace',
    };
    await using service = await startService({ env });
    assert.equal((await callerOf(service.baseUrl).read(forge(draft()))).status, 200);
    assert.equal(proxy.asked.length, 1);
    behaviour = () => {};
    const unknown = forge(draft('p256', { header: { kid: 'unknown' } }));
    const asking = callerOf(service.baseUrl)
      .read(unknown)
      .catch(() => {});
    while (proxy.open.size === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(await service.stop(), 0);
    await asking;
    assert.doesNotMatch(
      service.stdout() + service.stderr(),
      new RegExp(`${PASSWORD}|${USER}|:${proxy.port}\\b`),
    );
  });
});

/** Heads of 1xx before an answer. */
const INTERIM = [
  ['goes on (100)', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['is busy (102)', 'HTTP/1.1 102 Processing\r\nX-Step: 1\r\nX-Step: 2\r\n\r\n'],
  ['gives hints (103)', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nContent-Length: 9\r\n\r\n'],
  ['says what nobody knows yet (199)', 'HTTP/1.0 199\r\n\r\n'],
  ['ends its lines with a line feed alone', 'HTTP/1.1 100 Continue\nX: y\n\n'],
  ['sends eight heads of 1xx', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n'.repeat(4)],
  ['sends eight long heads of 1xx', `HTTP/1.1 103 A\r\nLink: ${'x'.repeat(16_300)}\r\n\r\n`.repeat(8)],
] as const;

// One after the other: those above have time limits.
describe('A proxy with more than one head', { concurrency: false }, () => {
  for (const [name, heads] of INTERIM) {
    test(`keys come through a proxy that ${name} before its answer or with it [D23]`, async () => {
      for (const behaviour of [first(heads), takesWith(heads)]) {
        await using proxy = await startProxy(port, behaviour);
        await using remote = open(jwksUrl(proxy.address));
        assert.equal(await remote.codeOf(forge(draft())), 'accepted');
        await proxy.left();
      }
    });
  }

  for (const secure of [false, true]) {
    test(`keys come through a proxy of ${secure ? 'https' : 'http'} that sends its heads byte by byte [D23]`, async () => {
      const heads = 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 A\r\nLink: </a>\r\n\r\n';
      await using proxy = await startProxy(port, takesWith(heads, true), { secure });
      await using remote = open(jwksUrl(proxy.address));
      assert.equal(await remote.codeOf(forge(draft())), 'accepted');
      await proxy.left();
    });
  }
});

/** Sends these heads, then takes the client to the issuer. */
function first(heads: string): Behaviour {
  return (client, target) => client.write(heads, () => takes(client, target));
}

/** Answers so, and ends the connection if asked to. */
function says(text: string, ends = false): Behaviour {
  return (client) => (ends ? client.end(text) : client.write(text));
}

function assertNoKeys(
  lines: readonly { readonly reason: string; readonly event: string }[],
  proxyPort: number,
  wanted: string | RegExp,
): void {
  const reason = lines.find(({ event }) => event === 'keys-unavailable')?.reason ?? '';
  const name = 'https://issuer.example/.well-known/openid-configuration';
  assert.ok(reason.startsWith(`${name} did not answer: `), reason);
  const said = reason.slice(`${name} did not answer: `.length);
  if (typeof wanted === 'string') assert.equal(said, wanted);
  else assert.match(said, wanted);
  assert.doesNotMatch(
    JSON.stringify(lines),
    new RegExp(`${PASSWORD}|${USER}|127\\.0\\.0\\.1|:${proxyPort}\\b`),
  );
}
