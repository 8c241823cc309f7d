import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { test } from 'node:test';
import fc from 'fast-check';
import { readConfig } from '../../server/config.ts';
import { type HttpProxy, leadsTo } from './proxy.ts';

const ISSUER = { TODO_AUTH_ISSUER: 'https://login.example.org', TODO_AUTH_AUDIENCE: 'todo-service' };

/** The proxy that the service would use, by its environment. */
async function proxyIn(env: Readonly<Record<string, string>>): Promise<HttpProxy | undefined> {
  const { config } = await readConfig({}, { ...ISSUER, ...env });
  assert.ok(config.profile.name === 'shared-list');
  const { source } = config.profile.auth;
  assert.ok(source.kind === 'discovery' || source.kind === 'jwks-url');
  return source.proxy;
}

for (const [env, wanted] of [
  [{}, undefined],
  [{ HTTPS_PROXY: '', https_proxy: '' }, undefined],
  [{ HTTP_PROXY: 'http://a:1', http_proxy: 'http://b:1', ALL_PROXY: 'http://c:1' }, undefined],
  [{ HTTPS_PROXY: 'http://a:3128' }, 'http://a:3128/'],
  [{ https_proxy: 'http://a' }, 'http://a/'],
  [{ HTTPS_PROXY: 'http://a', https_proxy: 'https://b' }, 'https://b/'],
  [{ HTTPS_PROXY: 'HTTP://user:pass@[::1]:3128/' }, 'http://user:pass@[::1]:3128/'],
  [{ HTTPS_PROXY: 'http://u$A{:p<w@a:1' }, 'http://u$A%7B:p%3Cw@a:1/'],
  [{ HTTPS_PROXY: 'http://a', TODO_AUTH_JWKS_URL: 'https://keys.example/jwks' }, 'http://a/'],
] as const) {
  test(`with ${JSON.stringify(env)} the proxy is ${wanted} [D23]`, async () => {
    assert.equal((await proxyIn(env))?.address.href, wanted);
  });
}

for (const [text, shown] of [
  ['proxy.example:3128', '"…"'],
  ['10.0.0.1:3128', '"…"'],
  ['10.0.0.1', '"…"'],
  ['user:secret@proxy.example:3128', '"…"'],
  ['//proxy.example', '"…"'],
  ['socks5://proxy.example:1080', '"socks5://…"'],
  ['socks5h://user:secret@proxy.example:1080', '"socks5h://…"'],
  ['ftp://proxy.example', '"ftp://…"'],
  ['shttp://proxy.example', '"shttp://…"'],
  ['http://', '"http://…"'],
  ['http://user:%secret@proxy.example', '"http://…"'],
  ['http://proxy.example:99999', '"http://…"'],
  ['http://{proxy}:3128', '"http://…"'],
  ['http://user:secret@$PROXY:3128', '"http://…"'],
] as const) {
  for (const variable of ['HTTPS_PROXY', 'https_proxy']) {
    test(`${variable}=${text} is a fault that shows no address [D23]`, async () => {
      const wanted = 'HTTPS_PROXY must be the address of a proxy, like "http://proxy.example:3128"';
      await assert.rejects(proxyIn({ [variable]: text }), { faults: [`${wanted}, received ${shown}`] });
    });
  }
}

test('without a proxy, NO_PROXY is not looked at [D23]', async () => {
  for (const NO_PROXY of ['localhost, ', ' ', '"localhost"'])
    assert.equal(await proxyIn({ NO_PROXY }), undefined);
});

test('a proxy that nobody is asked through may be any [D23]', async () => {
  const env = { HTTPS_PROXY: 'socks5://proxy.example' };
  await readConfig({ environment: 'development' }, env);
  await readConfig({ profile: 'error-demo' }, env);
});

/** The decision of Node.js itself, in its agents for a proxy. No function of it is exported. */
function nodeAsks(noProxy: string, host: string, port: number): boolean {
  const agent = new Agent({ proxyEnv: { HTTPS_PROXY: 'http://proxy.example', NO_PROXY: noProxy } });
  for (const symbol of Object.getOwnPropertySymbols(agent)) {
    const value: unknown = Reflect.get(agent, symbol);
    if (typeof value === 'object' && value !== null && 'shouldUseProxy' in value)
      return Object(value).shouldUseProxy(host, port);
  }
  throw new Error('This Node.js decides elsewhere');
}

const hosts = fc.constantFrom(
  ...['login.example.org', 'example.org', 'org', 'xexample.org', 'a.b.example.org', 'login.example.org.'],
  ...['10.0.0.1', '10.0.0.9', '10.0.0.10', '10.0.1.2', '9.255.255.255', '255.255.255.255'],
  '[2001:db8::7]',
);
const entries = fc.oneof(
  fc.constantFrom(
    ...['*', '', '.', '*.', '-', 'login.example.org', 'LOGIN.Example.org', '.example.org', '*.example.org'],
    ...['example.org', '.login.example.org', 'login.example.org:443', 'login.example.org:8443', '.org:443'],
    ...[
      '10.0.0.1',
      '10.0.0.1:443',
      '10.0.0.0/8',
      '10.0.0.1-10.0.0.9',
      '10.0.0.9-10.0.0.1',
      '10.0.0.9-10.0.1.5',
      '10.0.0.1 - 10.0.0.10',
    ],
    ...['0.0.0.0-255.255.255.255', '10.0.0.1-', '-10.0.0.9', '10.0.0.1-10.0.0.5-10.0.0.9', '10.0.0.1-x'],
    ...['2001:db8::7', '[2001:db8::7]', '2001:db8::7:443', '2001:db8::-2001:db8::9', 'my-login.example.org'],
  ),
  fc.stringMatching(/^[.*]?[a-z0-9.-]{0,8}(?::\d{1,4})?$/),
);

/** Node.js 24 takes the dot of `.example.org` away before it compares: `xexample.org` is named there. Not in 26, not here. */
function dependsOnVersion(entry: string, host: string): boolean {
  const isBelow = host === entry.slice(1) || host.endsWith(entry);
  return entry.startsWith('.') && host.endsWith(entry.slice(1)) && !isBelow;
}

test('NO_PROXY is read as Node.js reads it [D23]', () => {
  const list = fc.array(entries, { minLength: 0, maxLength: 4 });
  const property = fc.property(
    list,
    fc.constantFrom(',', ', ', ' ,'),
    hosts,
    fc.constantFrom(443, 8443),
    (several, comma, host, port) => {
      const noProxy = several.join(comma);
      const exceptions = noProxy.split(',').map((entry) => entry.trim().toLowerCase());
      const proxy = { address: new URL('http://proxy.example'), exceptions };
      const url = new URL(`https://${host}:${port}`);
      const name = url.hostname.replace(/^\[|\]$/g, '');
      fc.pre(!exceptions.some((entry) => dependsOnVersion(entry, name)));
      assert.equal(leadsTo(proxy, url), nodeAsks(noProxy, name, port), `${noProxy} ${url}`);
    },
  );
  fc.assert(property, { numRuns: 3_000 });
});

test('an entry of NO_PROXY that begins with a dot names a domain and all below, and nothing that ends alike [D23]', () => {
  const asks = (entry: string, host: string) =>
    leadsTo({ address: new URL('http://proxy.example'), exceptions: [entry] }, new URL(`https://${host}/`));
  for (const host of ['example.org', 'a.example.org', 'a.b.example.org'])
    assert.equal(asks('.example.org', host), false, host);
  for (const host of ['xexample.org', 'example.org.', 'org'])
    assert.equal(asks('.example.org', host), true, host);
  for (const host of ['example.org', '10.0.0.1', '[2001:db8::7]']) assert.equal(asks('.', host), true, host);
});

test('NO_PROXY counts in lower case too, and then first [D23]', async () => {
  const asks = async (env: Readonly<Record<string, string>>) => {
    const proxy = await proxyIn({ HTTPS_PROXY: 'http://proxy.example', ...env });
    assert.ok(proxy);
    return leadsTo(proxy, new URL('https://login.example.org/'));
  };
  assert.equal(await asks({}), true);
  assert.equal(await asks({ NO_PROXY: 'a, LOGIN.example.org' }), false);
  assert.equal(await asks({ no_proxy: '.example.org' }), false);
  assert.equal(await asks({ NO_PROXY: '*', no_proxy: 'a' }), true);
});

test('loopback is never asked through a proxy [D23]', () => {
  const proxy = { address: new URL('http://proxy.example'), exceptions: [] };
  for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '127.1', '[::1]', 'LOCALHOST', '0x7f.1'])
    assert.equal(leadsTo(proxy, new URL(`https://${host}/`)), false, host);
  for (const host of ['localhost.example.org', '128.0.0.1', '[::2]', '10.0.0.1'])
    assert.equal(leadsTo(proxy, new URL(`https://${host}/`)), true, host);
});
