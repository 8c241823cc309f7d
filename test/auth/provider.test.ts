import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { quietProvider } from '../../tools/quiet-provider.ts';
import { listen } from '../support/folder.ts';
import { runCommand } from '../support/run-command.ts';
import { startService } from '../support/start.ts';
import { privateKey } from './forge.ts';
import { PAGE, settingsOf } from './provider-page.ts';
import { callerOf } from './trust.ts';

const CLIENT = { client_id: 'ada', client_secret: 'a secret between ada and the provider' };

const LIFETIMES = [
  'AccessToken',
  'ClientCredentials',
  'Grant',
  'IdToken',
  'Interaction',
  'RefreshToken',
  'Session',
];

/** A private RSA key as the provider wants it. */
function providerKey(kid: string, key: 'rsa' | 'fixed' = 'rsa') {
  return { ...privateKey(key).export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
}

/** The configuration that the page shows for oidc-provider, with these claims. */
async function shownConfiguration(claimsOf: (account: string | undefined) => object) {
  const [, code = ''] = /## oidc-provider\n.*?```js\n(.*?)```/s.exec(PAGE) ?? [];
  const { configuration } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return configuration(claimsOf);
}

/**
 * A real OpenID provider on loopback, which gives a client tokens by the client credentials grant. Its port stays its
 * own while it is down: connections are cut off then.
 *
 * @param published Keys, of which it signs with the first.
 */
async function startProvider(...published: readonly ReturnType<typeof providerKey>[]) {
  let answer: RequestListener = down;
  let timesKeysWereAsked = 0;
  const server = createServer((request, response) => {
    if (request.url === '/jwks') timesKeysWereAsked += 1;
    answer(request, response);
  });
  const issuer = `http://127.0.0.1:${await listen(server)}`;
  let granted: readonly string[] = [];
  const shown = await shownConfiguration((id) => {
    const roles = id === undefined ? { realm_access: { roles: granted } } : { roles: granted };
    return { name: 'Ada', ...roles };
  });

  async function restart(...keys: typeof published): Promise<void> {
    const provider = await quietProvider(issuer, {
      ...shown,
      jwks: { keys },
      clients: [
        ...shown.clients,
        { ...CLIENT, grant_types: ['client_credentials'], redirect_uris: [], response_types: [] },
      ],
      // Each lifetime that is not given is announced.
      ttl: Object.fromEntries(LIFETIMES.map((name) => [name, 600])),
      features: { ...shown.features, clientCredentials: { enabled: true } },
    });
    answer = provider.callback();
  }

  await restart(...published);
  return {
    restart,
    stop() {
      answer = down;
    },
    timesKeysWereAsked: () => timesKeysWereAsked,
    issuer,
    /** The settings of the page, with an issuer of the test and another claim of roles; times short enough for a test. */
    settings: {
      ...settingsOf('oidc-provider'),
      TODO_AUTH_ISSUER: issuer,
      TODO_AUTH_ROLE_CLAIM: '/realm_access/roles',
      TODO_AUTH_KEYS_COOLDOWN_SECONDS: '1',
      TODO_AUTH_KEYS_REFRESH_SECONDS: '1',
    },
    /** What tokens say from now on. */
    grant(...roles: readonly string[]) {
      granted = roles;
    },
    /** An access token (RFC 9068) with these roles. */
    async token(...roles: readonly string[]): Promise<string> {
      granted = roles;
      const basic = `${encodeURIComponent(CLIENT.client_id)}:${encodeURIComponent(CLIENT.client_secret)}`;
      // What is kept of an answer until the next one is looked through when the token has been sent.
      const headers = { authorization: `Basic ${btoa(basic)}`, connection: 'close' };
      const body = new URLSearchParams({ grant_type: 'client_credentials' });
      const response = await fetch(`${issuer}/token`, { method: 'POST', headers, body });
      const { access_token: token } = Object(await response.json());
      if (typeof token !== 'string') throw new Error(`the provider answered ${response.status}`);
      return token;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const down: RequestListener = (request) => void request.socket.destroy();

/** Asks again until the answer has this status: what happens by itself happens in its own time. */
async function until(status: number, ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await ask();
    if (response.status === status) return response;
    await pause(50);
  }
}

/** Asks again while there are no keys: a provider that stands still for 5 s is asked for them once more. */
async function onceThereAreKeys(ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await ask();
    if (response.status !== 503) return response;
    await pause(50);
  }
}

test('with two settings and the claim of its roles, the tokens of a provider read, write and are explained', async () => {
  await using provider = await startProvider(providerKey('first'));
  const { settings } = provider;
  await using service = await startService({ env: settings });
  const { read, write } = callerOf(service.baseUrl);
  const editor = await provider.token('editor', 'offline_access');
  assert.equal((await onceThereAreKeys(() => write(editor))).status, 201);
  assert.equal((await read(editor)).status, 200);
  const reader = await provider.token('viewer');
  assert.equal((await write(reader)).status, 403);
  assert.equal((await read(reader)).status, 200);
  assert.deepEqual(await (await read(reader, '/me')).json(), { name: 'Ada' });

  const verify = (input: string, env: Record<string, string>) =>
    runCommand(['token', 'verify', '-'], { env: { ...settings, ...env }, input });
  const accepted = await verify(editor, {});
  assert.equal(accepted.code, 0, accepted.stdout);
  const known = `known, from the issuer ${settings.TODO_AUTH_ISSUER}\n`;
  assert.ok(accepted.stdout.includes(known), accepted.stdout);
  const [, shown = ''] = /token verify - < token\.txt\n```\n\n```\n(.*?)```/s.exec(PAGE) ?? [];
  const forOthers = { TODO_AUTH_AUDIENCE: 'another-service', TODO_AUTH_ROLE_CLAIM: '' };
  const refused = await verify(await provider.token('editor'), forOthers);
  assert.equal(refused.code, 1);
  const wanted = masked(shown).split('\n');
  const printed = masked(refused.stdout).split('\n');
  // The page shows some of the lines.
  assert.deepEqual(
    printed.filter((line) => wanted.includes(line)),
    wanted,
  );
});

/** Without what differs from token to token: names, addresses, numbers and times. */
function masked(text: string): string {
  return text
    .replaceAll(/https?:\S+?(?=["\n])/g, 'URL')
    .replaceAll(/"(?!role|editor|\/realm)[^"]*"/g, '"…"')
    .replaceAll(/[\d-]+T[\d:]+Z/g, 'TIME')
    .replaceAll(/\d+ bytes/g, '0 bytes');
}

/** The application of the page: where its user comes back to, with the code. */
const APPLICATION = { client_id: 'todo-web', redirect_uri: 'https://app.example.org/' };

/** Logs a user in and agrees to everything, as a browser does for the application. */
async function codeFor(issuer: string, challenge: string): Promise<string> {
  const asked = { ...APPLICATION, response_type: 'code', scope: 'openid profile todo' };
  const query = new URLSearchParams({ ...asked, code_challenge: challenge, code_challenge_method: 'S256' });
  const cookies = new Map<string, string>();
  let [url, form]: [string, string?] = [`${issuer}/auth?${query}`];
  while (!url.startsWith(APPLICATION.redirect_uri)) {
    const cookie = Array.from(cookies, (pair) => pair.join('=')).join('; ');
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded', connection: 'close' };
    const sent = form === undefined ? {} : { method: 'POST', body: form };
    const response = await fetch(url, { redirect: 'manual', headers, ...sent });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const html = await response.text();
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(html) ?? [];
    const [, action] = /action="([^"]+)"/.exec(html) ?? [];
    const next = response.headers.get('location') ?? action;
    if (next === undefined) throw new Error(`the provider answered ${response.status}: ${html}`);
    form = prompt && `prompt=${prompt}&login=ada&password=ada`;
    url = new URL(next, url).href;
  }
  return new URL(url).searchParams.get('code') ?? '';
}

test('the application of the page sees the role in its ID tokens, and writes with the access tokens that it renews', async () => {
  await using provider = await startProvider(providerKey('first'));
  await using service = await startService({ env: { ...provider.settings, TODO_AUTH_ROLE_CLAIM: '' } });
  const { read, write } = callerOf(service.baseUrl);
  provider.grant('editor');

  const { origin } = new URL(APPLICATION.redirect_uri);
  async function tokensFor(grant: Readonly<Record<string, string>>) {
    const response = await fetch(`${provider.issuer}/token`, {
      method: 'POST',
      headers: { origin, connection: 'close' },
      body: new URLSearchParams({ ...APPLICATION, ...grant }),
    });
    assert.equal(response.headers.get('access-control-allow-origin'), origin);
    return Object(await response.json());
  }
  const verifier = 'a-verifier-of-forty-three-characters-or-more';
  const code = await codeFor(provider.issuer, createHash('sha256').update(verifier).digest('base64url'));
  const first = await tokensFor({ grant_type: 'authorization_code', code, code_verifier: verifier });
  const second = await tokensFor({ grant_type: 'refresh_token', refresh_token: first.refresh_token });
  // Behind this answer, that with the tokens has come to its end.
  await fetch(`${provider.issuer}/jwks`);

  for (const { access_token: access, id_token: id, scope } of [first, second]) {
    assert.equal(scope, 'todo');
    const [, claims = ''] = id.split('.');
    const { name, roles } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    assert.deepEqual({ name, roles }, { name: 'Ada', roles: ['editor'] });
    assert.equal((await onceThereAreKeys(() => write(access))).status, 201);
    assert.equal((await read(id)).status, 401);
  }
});

test('keys rotate without a restart: the new one is found, the one that left is refused, the known ones outlive an outage', async () => {
  const [first, second] = [providerKey('first'), providerKey('second', 'fixed')];
  await using provider = await startProvider(first);
  await using service = await startService({ env: provider.settings });
  const { read } = callerOf(service.baseUrl);
  const old = await provider.token('editor');
  assert.equal((await onceThereAreKeys(() => read(old))).status, 200);

  await provider.restart(second, first);
  const fresh = await provider.token('editor');
  assert.equal((await until(200, () => read(fresh))).status, 200);
  assert.equal((await read(old)).status, 200);

  await provider.restart(second);
  const refused = await until(401, () => read(old));
  assert.match(
    refused.headers.get('www-authenticate') ?? '',
    /error_description="The key of the token is unknown"$/,
  );
  assert.equal((await read(fresh)).status, 200);

  const unseen = await provider.token('editor');
  const told = () => service.stdout().match(/no keys from/g)?.length ?? 0;
  const before = told();
  provider.stop();
  while (told() === before) await pause(50);
  assert.equal((await read(fresh)).status, 200);
  assert.equal((await read(unseen)).status, 200);
  assert.equal(told(), before + 1);
});

test('20 busy clients lose no fresh token when the provider changes its key and not the kid, which costs one fetch [A7]', async () => {
  await using provider = await startProvider(providerKey('main'));
  const env = {
    ...provider.settings,
    TODO_AUTH_KEYS_COOLDOWN_SECONDS: '3600',
    TODO_AUTH_KEYS_REFRESH_SECONDS: '86400',
  };
  await using service = await startService({ env });
  const { read } = callerOf(service.baseUrl);
  const old = await provider.token('editor');
  assert.equal((await onceThereAreKeys(() => read(old))).status, 200);
  const asked = provider.timesKeysWereAsked();

  let isChanged = false;
  let stops = false;
  let answered = 0;
  const fresh: number[] = [];
  const busy = Array.from({ length: 20 }, async () => {
    while (!stops) {
      const isFresh = isChanged;
      const token = await provider.token('editor');
      const [{ status }] = await Promise.all([read(token), read(old)]);
      answered += 1;
      if (isFresh) fresh.push(status);
    }
  });
  while (answered < 40) await pause(20);
  await provider.restart(providerKey('main', 'fixed'));
  isChanged = true;
  while (fresh.length < 100) await pause(20);
  stops = true;
  await Promise.all(busy);
  assert.deepEqual(new Set(fresh), new Set([200]));
  assert.equal(provider.timesKeysWereAsked(), asked + 1);
  const refused = await read(old);
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get('www-authenticate') ?? '', /"The signature of the token is invalid"$/);
});

test('a provider that is down at start makes tokens wait with 503, and recovers by itself [Order 3]', async () => {
  const key = providerKey('first');
  await using provider = await startProvider(key);
  const token = await provider.token('editor');
  provider.stop();

  await using service = await startService({ env: provider.settings });
  const { read, write } = callerOf(service.baseUrl);
  for (const ask of [read, write]) {
    const unavailable = await ask(token);
    assert.equal(unavailable.status, 503);
    assert.match(unavailable.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.equal(unavailable.headers.get('content-type'), 'application/problem+json');
    assert.equal(unavailable.headers.get('www-authenticate'), null);
  }
  assert.equal((await read('nonsense')).status, 401);
  assert.equal((await fetch(`${service.baseUrl}/todos`)).status, 401);

  await provider.restart(key);
  assert.equal((await until(200, () => read(token))).status, 200);
});
