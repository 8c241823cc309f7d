#!/bin/sh
# oauth4webapi 3.8.8 and openid-client 6.9.0 (npm): a protected resource answers 200 or 204, with WWW-Authenticate.
# Guess: the answer is returned: the header in other answers than a 401 says that credentials might change what comes
# (RFC 9110 §11.6.1), and a write that was made is a success.
# Seen: it is thrown, as WWWAuthenticateChallengeError, whatever the status; the answer hangs on the error, unread.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund oauth4webapi@3.8.8 openid-client@6.9.0
cat >look.mjs <<'JS'
import { createServer } from 'node:http';
import * as oauth from 'oauth4webapi';
import * as oidc from 'openid-client';

const server = createServer((request, response) => {
  const [, status, challenge] = request.url.split('/');
  if (challenge) response.setHeader('www-authenticate', 'Bearer realm="todos"');
  response.writeHead(Number(status)).end(status === '204' ? undefined : 'todos');
}).listen(0, '127.0.0.1', async () => {
  const base = `http://127.0.0.1:${server.address().port}`;
  const configuration = new oidc.Configuration({ issuer: base }, 'web');
  oidc.allowInsecureRequests(configuration);
  const libraries = {
    oauth4webapi: (method, url) => oauth.protectedResourceRequest('token', method, url, undefined, undefined, { [oauth.allowInsecureRequests]: true }),
    'openid-client': (method, url) => oidc.fetchProtectedResource(configuration, 'token', url, method),
  };
  for (const [name, ask] of Object.entries(libraries)) {
    for (const [method, path] of [['GET', '/200/'], ['GET', '/200/challenge'], ['PUT', '/204/challenge'], ['GET', '/404/']]) {
      const said = await ask(method, new URL(base + path)).then(
        ({ status }) => `returned ${status}`,
        (error) => `thrown ${(error.cause?.response ?? error.response ?? error).status}: ${error.code}`,
      );
      console.log(`${name}: ${method} ${path} ${said}`);
    }
  }
  server.close();
});
JS
echo "Node.js $(node --version), oauth4webapi 3.8.8, openid-client 6.9.0"
node look.mjs | tee seen
for library in oauth4webapi openid-client; do
  grep -qx "$library: GET /200/ returned 200" seen
  grep -qx "$library: GET /200/challenge thrown 200: OAUTH_WWW_AUTHENTICATE_CHALLENGE" seen
  grep -qx "$library: PUT /204/challenge thrown 204: OAUTH_WWW_AUTHENTICATE_CHALLENGE" seen
done
