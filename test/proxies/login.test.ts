import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Agent, createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { header, type Reply } from '../../packages/conformance/src/http.ts';
import { quietProvider } from '../../tools/quiet-provider.ts';
import { privateKey } from '../auth/forge.ts';
import { freePort, listen } from '../support/folder.ts';
import { type ReverseProxy, startExample } from '../support/proxies.ts';
import { askBy } from '../support/raw.ts';
import { startService } from '../support/start.ts';
import { noHttpd, noLoginOfHttpd, startHttpdOf } from './recipes.ts';

const OAUTH2_PROXY = join(homedir(), 'go/bin/oauth2-proxy');
const noOauth2Proxy =
  spawnSync(OAUTH2_PROXY, ['--version']).status !== 0 &&
  'needs oauth2-proxy: go install github.com/oauth2-proxy/oauth2-proxy/v7@v7.15.6';

/** @param change Of what people change: the issuer and the address of the page. @param own The port of the proxy. */
type Start = (port: number, change: (text: string) => string, own: number) => Promise<ReverseProxy>;

const startOfHttpd: Start = (port, change, own) =>
  startHttpdOf('httpd-login.conf', change, ['authn_core', 'authz_user', 'env', 'auth_openidc'], own)(port);

const startOauth2Proxy: Start = (port, change, own) => {
  const secret = randomBytes(16).toString('hex');
  const words = (file: string) => [
    `--alpha-config=${file}`,
    `--config=${new URL('../../deploy/proxies/oauth2-proxy.cfg', import.meta.url).pathname}`,
    `--cookie-secret=${secret}`,
    `--redirect-url=http://127.0.0.1:${own}/oauth2/callback`,
    '--cookie-secure=false',
  ];
  return startExample('oauth2-proxy.yaml', port, change, OAUTH2_PROXY, words, own);
};

for (const [name, start, skip] of [
  ['mod_auth_openidc', startOfHttpd, noHttpd || noLoginOfHttpd],
  ['oauth2-proxy', startOauth2Proxy, noOauth2Proxy],
] as const) {
  test(`behind ${name} a person logs in, and the service gets the access token and no cookie; fetch gets a 401`, {
    skip,
  }, async () => {
    let received: IncomingHttpHeaders = {};
    await using server = createServer((request, response) => {
      received = request.headers;
      response.writeHead(204).end();
    });
    let answer: RequestListener = (_, response) => response.end();
    await using login = createServer((request, response) => answer(request, response));
    const issuer = `http://127.0.0.1:${await listen(login)}`;
    const own = await freePort();
    const page = `http://127.0.0.1:${own}`;
    const change = (text: string) =>
      text
        .replaceAll('https://login.example.org', issuer)
        .replace('https://todo.example', page)
        .replace(/# (?=OIDCAuthRequestParams)/, '');
    answer = (
      await quietProvider(issuer, {
        jwks: {
          keys: [{ ...privateKey('rsa').export({ format: 'jwk' }), kid: '1', use: 'sig', alg: 'RS256' }],
        },
        cookies: { keys: ['k'] },
        // Each lifetime that is not given is announced.
        ttl: {
          AccessToken: 600,
          AuthorizationCode: 600,
          Grant: 600,
          IdToken: 600,
          Interaction: 600,
          Session: 600,
        },
        clients: [
          {
            client_id: 'todo-page',
            client_secret: 'CLIENT_SECRET',
            redirect_uris: ['/login', '/oauth2/callback'].map((path) => page + path),
          },
        ],
        findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub, name: 'Ada' }) }),
        extraTokenClaims: () => ({ name: 'Ada' }),
        features: {
          resourceIndicators: {
            enabled: true,
            defaultResource: () => 'urn:todo-service',
            useGrantedResource: () => true,
            getResourceServerInfo: () => ({
              scope: 'openid profile',
              audience: 'todo-service',
              accessTokenFormat: 'jwt',
              jwt: { sign: { alg: 'RS256' } },
            }),
          },
        },
      })
    ).callback();

    await using _ = await start(await listen(server), change, own);
    const away = await asked(`${page}/todos`, new Map(), { 'sec-fetch-mode': 'cors', accept: '*/*' });
    assert.equal(away.status, 401);
    const cookies = new Map<string, string>();
    assert.equal((await visit(`${page}/`, cookies)).status, 204);
    received = {};
    await asked(`${page}/todos`, cookies, { authorization: 'Bearer forged' });
    assert.deepEqual(received.cookie ?? '', '');
    const { authorization = '' } = received;

    await using service = await startService({
      env: { TODO_AUTH_ISSUER: issuer, TODO_AUTH_AUDIENCE: 'todo-service' },
    });
    const me = await fetch(`${service.baseUrl}/me`, { headers: { authorization } });
    assert.deepEqual([me.status, await me.json()], [200, { name: 'Ada' }]);
  });
}

/** As a browser that shows a page: it follows to its end, keeps cookies, and fills in the forms of the provider. */
async function visit(url: string, cookies: Map<string, string>, form?: string): Promise<Reply> {
  const navigates = { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const reply = await asked(url, cookies, navigates, form);
  const location = header(reply, 'location');
  if (location !== undefined) return visit(new URL(location, url).href, cookies);
  const text = reply.body.toString();
  const [, action] = /<form[^>]* action="([^"]+)"/.exec(text) ?? [];
  const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(text) ?? [];
  if (action === undefined) return reply;
  return visit(new URL(action, url).href, cookies, `prompt=${prompt}&login=ada&password=any`);
}

async function asked(
  url: string,
  cookies: Map<string, string>,
  headers: Readonly<Record<string, string>>,
  form?: string,
): Promise<Reply> {
  const { hostname, port, pathname, search } = new URL(url);
  const cookie = Array.from(cookies, (pair) => pair.join('=')).join('; ');
  const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  const reply = await askBy(
    new Agent(),
    {
      hostname,
      port,
      path: pathname + search,
      method: form === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...type, ...(cookie && { cookie }) },
    },
    form,
  );
  for (const [name, value] of reply.headers) {
    const [, key = '', kept = ''] = /^([^=]+)=([^;]*)/.exec(value) ?? [];
    if (name !== 'set-cookie') continue;
    if (kept === '') cookies.delete(key);
    else cookies.set(key, kept);
  }
  return reply;
}
