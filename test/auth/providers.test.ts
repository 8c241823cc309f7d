import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { openKeys } from '../../src/auth/keys/source.ts';
import { readAuth } from '../../src/auth/settings.ts';
import { claimAt, parseClaimPath } from '../../src/auth/token/identity.ts';
import { examineToken } from '../../src/commands/explain/examine.ts';
import { readSettings } from '../../src/settings/read.ts';
import { listen, temporaryFolder } from '../support/folder.ts';
import { startList } from '../support/list.ts';
import { runCommand } from '../support/run-command.ts';
import { forge, jwkOf, type KeyName, privateKey, publicKey, signer } from './forge.ts';
import { sectionFor } from './provider-page.ts';
import PROVIDERS from './tokens.json' with { type: 'json' };
import { callerOf, keptLog } from './trust.ts';

type Claims = Readonly<Record<string, unknown>>;

interface Provider {
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly header: Claims & { readonly alg: string; readonly kid: string };
  readonly claims: Claims;
  readonly write: boolean;
  readonly refused?: readonly Claims[];
  readonly readers?: readonly Claims[];
  /** Other tokens that may write: among them ID tokens that nothing tells from access tokens. */
  readonly writers?: readonly Claims[];
}

const providers: readonly Provider[] = PROVIDERS.providers;

/** The key of the test that stands for the provider's. */
const KEYS: Readonly<Record<string, KeyName>> = { RS256: 'rsa', ES256: 'p256', ES384: 'p384', EdDSA: 'ed' };

const now = Math.floor(Date.now() / 1000);

function tokenOf(header: Provider['header'], claims: Claims): string {
  const sign = signer(header.alg, privateKey(KEYS[header.alg] ?? 'rsa'));
  return forge({ header, claims: { iat: now, exp: now + 600, ...claims }, sign });
}

/** One address for the keys of all: a provider is asked for by its place. */
const server = createServer((request, response) => {
  response.end(JSON.stringify(jwksOf(providers[Number(request.url?.slice(1))])));
});
const port = await listen(server);
after(() => server.close());

function jwksOf(provider: Provider | undefined): object {
  const { alg = 'RS256', kid = '' } = provider?.header ?? {};
  return { keys: [jwkOf(publicKey(KEYS[alg] ?? 'rsa'), kid)] };
}

for (const [at, provider] of providers.entries()) {
  const { name, header, claims, write: mayWrite, refused = [], readers = [], writers = [] } = provider;
  const settings = sectionFor(name)?.settings ?? provider.settings;

  test(`${name}: who may write and read, and who is refused, by the service and by token verify [A5; A10; A13; A14]`, async () => {
    await using folder = await temporaryFolder();
    const keys =
      settings.TODO_AUTH_KEYS_FILE === undefined
        ? { TODO_AUTH_JWKS_URL: `http://127.0.0.1:${port}/${at}` }
        : { TODO_AUTH_KEYS_FILE: await folder.write('keys.json', JSON.stringify(jwksOf(provider))) };
    const env = { ...settings, ...keys, TODO_AUTH_SECRET_FILE: '' };
    await using list = await startList({ env });
    const { read, write } = callerOf(list.url);
    const faults = readSettings(env, {});
    const auth = await readAuth(faults, 'production');
    assert.ok(auth, faults.faults.join('\n'));
    await using opened = await openKeys(auth, keptLog().logEvent);
    await opened.refresh();
    const examined = async (token: string) => {
      const { verdict, lines } = await examineToken(token, { ...auth, keys: opened, now: Date.now });
      const editor = lines.find(({ check }) => check === 'may write')?.detail === 'yes';
      return verdict === 'accepted' ? editor : verdict;
    };
    const tokens: readonly (readonly [Claims, boolean | 'refused'])[] = [
      [claims, mayWrite],
      ...writers.map((one) => [one, true] as const),
      ...readers.map((one) => [one, false] as const),
      ...refused.map((one) => [one, 'refused'] as const),
    ];
    for (const [one, wanted] of tokens) {
      const token = tokenOf(header, one);
      const what = JSON.stringify(one);
      assert.equal(await examined(token), wanted, what);
      const [may, reads] = wanted === 'refused' ? [401, 401] : [wanted ? 201 : 403, 200];
      assert.equal((await write(token)).status, may, what);
      assert.equal((await read(token)).status, reads, what);
      assert.equal((await read(token, '/me')).status, reads, what);
    }
    if (settings.TODO_AUTH_TOKEN_TYPE !== undefined) {
      for (const typ of ['JWT', undefined]) {
        assert.equal((await read(tokenOf({ ...header, typ }, claims))).status, 401, `typ ${typ}`);
      }
    }
  });
}

/** What `token verify` says under two settings alone. */
async function saidOf(claims: Claims): Promise<string> {
  await using folder = await temporaryFolder();
  const header = { alg: 'RS256', kid: 'rsa' };
  const env = {
    TODO_AUTH_ISSUER: 'https://id.example.org',
    TODO_AUTH_AUDIENCE: 'todo-service',
    TODO_AUTH_KEYS_FILE: await folder.write(
      'keys.json',
      JSON.stringify({ keys: [jwkOf(publicKey('rsa'), 'rsa')] }),
    ),
  };
  const input = tokenOf(header, { iss: env.TODO_AUTH_ISSUER, aud: env.TODO_AUTH_AUDIENCE, ...claims });
  const { code, stdout } = await runCommand(['token', 'verify', '-'], { env, input });
  assert.equal(code, 0, stdout);
  return stdout;
}

for (const claims of [...PROVIDERS.neverProposed, ...PROVIDERS.proposed.map((one) => one.claims)]) {
  test(`token verify proposes no setting for ${JSON.stringify(claims)}`, async () => {
    const said = await saidOf(claims);
    assert.doesNotMatch(said, /TODO_AUTH_(?:ROLE_CLAIM|EDITOR_ROLE)/);
    assert.match(said, /^ok {5}may write {2}no, only the role "editor" may; reading is allowed$/m);
  });
}

for (const { claims, pointer } of PROVIDERS.proposed) {
  test(`token verify shows ${pointer} of ${JSON.stringify(claims)}`, async () => {
    const path = parseClaimPath(pointer) ?? [];
    const name = path.length === 1 ? path[0] : pointer;
    const said = await saidOf(claims);
    assert.ok(said.includes(`${JSON.stringify(name)} is ${JSON.stringify(claimAt(claims, path))}`), said);
  });
}
