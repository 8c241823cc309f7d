import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Running, startService } from '../start.ts';
import { AUDIENCE, ISSUER, jwks, SECRET } from './forge.ts';
import { type Hostile, hostileTokens } from './hostile-tokens.ts';
import { notEditors } from './not-editors.ts';

describe('Tokens over HTTP, on a read and on a write', () => {
  const services = new Map<Hostile['keys'], Running>();
  let folder = '';
  let written = 0;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'todo-tokens-'));
    const keysFile = join(folder, 'jwks.json');
    await writeFile(keysFile, JSON.stringify(jwks()));
    const trust = { TODO_AUTH_ISSUER: ISSUER, TODO_AUTH_AUDIENCE: AUDIENCE };
    services.set('issuer', await startService({ env: { ...trust, TODO_AUTH_KEYS_FILE: keysFile } }));
    services.set(
      'secret',
      await startService({ auth: { issuer: ISSUER, audience: AUDIENCE, secret: SECRET } }),
    );
  });

  after(async () => {
    for (const service of services.values()) await service[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  async function ask(keys: Hostile['keys'], method: 'GET' | 'POST', token: string): Promise<Response> {
    const authorization = `Bearer ${token}`;
    const url = `${services.get(keys)?.baseUrl}/todos`;
    if (method === 'GET') return fetch(url, { headers: { authorization } });
    const headers = { authorization, 'content-type': 'application/json' };
    const response = await fetch(url, {
      method,
      headers,
      body: '{"title":"Water the plants","categoryId":1}',
    });
    if (response.status === 201) written += 1;
    return response;
  }

  function assertRefused(response: Response, says: string | RegExp): void {
    assert.equal(response.status, 401);
    const challenge = response.headers.get('www-authenticate') ?? '';
    const [, description = ''] =
      /^Bearer realm="todo-service", error="invalid_token", error_description="([^"\\]+)"$/.exec(challenge) ??
      [];
    if (typeof says === 'string') assert.equal(description, says, challenge);
    else assert.match(description, says, challenge);
  }

  for (const { rule, what, says, twin, token, keys } of hostileTokens()) {
    test(`${rule} · refuses ${what}, and not its twin`, async () => {
      assert.equal((await ask(keys, 'GET', twin)).status, 200);
      assert.equal((await ask(keys, 'POST', twin)).status, 201);
      assertRefused(await ask(keys, 'GET', token), says);
      assertRefused(await ask(keys, 'POST', token), says);
    });
  }

  for (const { what, token } of notEditors()) {
    test(`A10, A11 · lets read and not write: ${what}`, async () => {
      assert.equal((await ask('issuer', 'GET', token)).status, 200);
      const refused = await ask('issuer', 'POST', token);
      assert.equal(refused.status, 403);
      const challenge = 'Bearer realm="todo-service", error="insufficient_scope"';
      assert.equal(refused.headers.get('www-authenticate'), challenge);
    });
  }

  test('no refused token has written anything', async () => {
    const twins = hostileTokens();
    const lists = await Promise.all(
      (['issuer', 'secret'] as const).map(async (keys) => {
        const twin = twins.find((row) => row.keys === keys)?.twin ?? '';
        const todos: unknown = await (await ask(keys, 'GET', twin)).json();
        return Array.isArray(todos) ? todos.length : -1;
      }),
    );
    assert.equal(
      lists.reduce((sum, length) => sum + length),
      written,
    );
  });

  test('there are at least 100 hostile tokens', () => {
    assert.ok(hostileTokens().length >= 100, String(hostileTokens().length));
  });
});
