import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runProgram, startService } from '../start.ts';
import { freePort, providerKey, startProvider } from './provider.ts';

/** A team's two settings, the claim of its roles, and times short enough for a test. */
function settings(port: number) {
  return {
    TODO_AUTH_ISSUER: `http://127.0.0.1:${port}`,
    TODO_AUTH_AUDIENCE: 'todo-service',
    TODO_AUTH_ROLE_CLAIM: '/realm_access/roles',
    TODO_AUTH_KEYS_COOLDOWN_SECONDS: '1',
    TODO_AUTH_KEYS_REFRESH_SECONDS: '1',
  };
}

function callerOf(baseUrl: string) {
  return {
    async read(token: string): Promise<Response> {
      return fetch(`${baseUrl}/todos`, { headers: { authorization: `Bearer ${token}` } });
    },
    async write(token: string): Promise<Response> {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = '{"title":"Water the plants","categoryId":1}';
      return fetch(`${baseUrl}/todos`, { method: 'POST', headers, body });
    },
  };
}

/** Asks again until the answer has this status: what happens by itself happens in its own time. */
async function until(status: number, ask: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await ask();
    if (response.status === status) return response;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('with two settings and the claim of its roles, the tokens of a provider read and write', async () => {
  const port = await freePort();
  await using provider = await startProvider(port, [providerKey('first')]);
  await using service = await startService({ env: settings(port) });
  const { read, write } = callerOf(service.baseUrl);
  const editor = await provider.token('editor', 'offline_access');
  assert.equal((await write(editor)).status, 201);
  assert.equal((await read(editor)).status, 200);
  const reader = await provider.token('viewer');
  assert.equal((await write(reader)).status, 403);
  assert.equal((await read(reader)).status, 200);
  const me = await fetch(`${service.baseUrl}/me`, { headers: { authorization: `Bearer ${reader}` } });
  assert.deepEqual(await me.json(), { name: 'Ada' });
});

test('token verify explains the tokens of a provider', async () => {
  const port = await freePort();
  await using provider = await startProvider(port, [providerKey('first')]);
  const input = await provider.token('editor');
  const { code, stdout } = await runProgram(['token', 'verify', '-'], { env: settings(port), input });
  assert.equal(code, 0, stdout);
  assert.match(stdout, new RegExp(`^ok {5}key +known, from the issuer http://127\\.0\\.0\\.1:${port}$`, 'm'));
});

test('docs/identity-providers.md shows what token verify says of a token for somebody else', async () => {
  const page = readFileSync('docs/identity-providers.md', 'utf8');
  const [, shown = ''] = /token verify - < token\.txt\n```\n\n```\n(.*?)```/s.exec(page) ?? [];
  const port = await freePort();
  await using provider = await startProvider(port, [providerKey('first')]);
  const env = { ...settings(port), TODO_AUTH_AUDIENCE: 'another-service', TODO_AUTH_ROLE_CLAIM: '' };
  const { code, stdout } = await runProgram(['token', 'verify', '-'], {
    env,
    input: await provider.token('editor'),
  });
  assert.equal(code, 1);
  assert.equal(masked(stdout), masked(shown));
});

/** Without what differs from token to token: names, addresses, numbers and times. */
function masked(text: string): string {
  return text
    .replaceAll(/https?:\S+?(?=["\n])/g, 'URL')
    .replaceAll(/"(?!role|editor|\/realm)[^"]*"/g, '"…"')
    .replaceAll(/[\d-]+T[\d:]+Z/g, 'TIME')
    .replaceAll(/\d+ bytes/g, '0 bytes');
}

test('keys rotate without a restart: the new one is found, the one that left is refused', async () => {
  const port = await freePort();
  const [first, second] = [providerKey('first'), providerKey('second')];
  await using provider = await startProvider(port, [first]);
  await using service = await startService({ env: settings(port) });
  const { read } = callerOf(service.baseUrl);
  const old = await provider.token('editor');
  assert.equal((await read(old)).status, 200);
  await provider[Symbol.asyncDispose]();

  const rotated = await startProvider(port, [second, first]);
  const fresh = await rotated.token('editor');
  assert.equal((await until(200, () => read(fresh))).status, 200);
  assert.equal((await read(old)).status, 200);
  await rotated[Symbol.asyncDispose]();

  await using _settled = await startProvider(port, [second]);
  const refused = await until(401, () => read(old));
  assert.match(
    refused.headers.get('www-authenticate') ?? '',
    /error_description="The key of the token is unknown"$/,
  );
  assert.equal((await read(fresh)).status, 200);
});

test('while the provider is down known keys go on working, for tokens never seen before too', async () => {
  const port = await freePort();
  const provider = await startProvider(port, [providerKey('first')]);
  await using service = await startService({ env: settings(port) });
  const { read } = callerOf(service.baseUrl);
  const [seen, unseen] = [await provider.token('editor'), await provider.token('editor')];
  assert.equal((await read(seen)).status, 200);
  await provider[Symbol.asyncDispose]();
  await until(
    200,
    async () => new Response(null, { status: /no keys from/.test(service.stdout()) ? 200 : 202 }),
  );
  assert.equal((await read(seen)).status, 200);
  assert.equal((await read(unseen)).status, 200);
  assert.equal(service.stdout().match(/no keys from/g)?.length, 1);
});

test('Order 3 · a provider that is down at start makes tokens wait with 503, and recovers by itself', async () => {
  const port = await freePort();
  const key = providerKey('first');
  const before = await startProvider(port, [key]);
  const token = await before.token('editor');
  await before[Symbol.asyncDispose]();

  await using service = await startService({ env: settings(port) });
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

  await using _again = await startProvider(port, [key]);
  assert.equal((await until(200, () => read(token))).status, 200);
});
