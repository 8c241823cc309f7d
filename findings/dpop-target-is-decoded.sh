#!/bin/sh
# requests-oauth2client 1.8.0 (PyPI) as a client, oauth4webapi 3.8.8 (npm) at the resource: a DPoP proof (RFC 9449).
# Guess: the proof's `htu` is the address that is sent, without its query, so that the resource takes the proof.
# Seen: %3A, %2B and %26 of the path stand in `htu` as `:`, `+` and `&`, which no normalization of RFC 3986 §6.2.2 allows,
# while requests sends them encoded: a resource like /users/urn%3Aa refuses the proof. %2F, %20 and %C3%A4 pass.
set -eu
work=$(mktemp -d)
trap 'kill $server; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check requests-oauth2client==1.8.0
npm install --silent --no-audit --no-fund oauth4webapi@3.8.8 jose@6.2.18
cat >server.mjs <<'JS'
import { createServer } from 'node:http';
import { calculateJwkThumbprint, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { allowInsecureRequests, customFetch, validateJwtAccessToken } from 'oauth4webapi';
const issuer = 'http://127.0.0.1:18127';
const { publicKey, privateKey } = await generateKeyPair('ES256');
const keys = [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'a' }];
const options = { [allowInsecureRequests]: true, [customFetch]: async () => Response.json({ keys }) };
createServer(async ({ method, url, headers }, response) => {
  const answer = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (url === '/token') {
    const jkt = await calculateJwkThumbprint(decodeProtectedHeader(headers.dpop).jwk);
    const token = new SignJWT({ client_id: 'web', cnf: { jkt } }).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'a' });
    token.setIssuer(issuer).setSubject('web').setAudience('api').setIssuedAt().setExpirationTime('1m').setJti('a');
    return answer(200, { access_token: await token.sign(privateKey), token_type: 'DPoP', expires_in: 60 });
  }
  const { authorization, dpop } = headers;
  const request = new Request(issuer + url, { method, headers: { authorization, dpop } });
  const refused = await validateJwtAccessToken({ issuer, jwks_uri: `${issuer}/jwks` }, request, 'api', options).catch((error) => error);
  answer(refused instanceof Error ? 401 : 200, refused.message ?? 'taken');
}).listen(18127, '127.0.0.1', () => console.log('listening'));
JS
cat >client.py <<'PY'
from importlib.metadata import version
import requests
from requests_oauth2client import OAuth2Client

issuer = 'http://127.0.0.1:18127'
print('requests-oauth2client', version('requests-oauth2client'), 'requests', version('requests'))
token = OAuth2Client(f'{issuer}/token', client_id='web', client_secret='a', testing=True).client_credentials(dpop=True)
for path in ['/users/a', '/users/a%2Fb', '/users/a%20b', '/users/%C3%A4', '/users/urn%3Aa', '/users/a%2Bb', '/users/a%26b']:
    answer = requests.get(issuer + path, auth=token)
    print(path, 'sent as', answer.request.path_url, answer.status_code, answer.json())
PY
: >log
node server.mjs >log &
server=$!
until grep -q listening log; do sleep 0.1; done
echo "Node.js $(node --version), oauth4webapi 3.8.8"
env/bin/python client.py | tee seen
for taken in a a%2Fb a%20b %C3%A4; do grep -q "^/users/$taken sent as /users/$taken 200 taken" seen; done
for refused in urn%3Aa a%2Bb a%26b; do grep -q "^/users/$refused sent as /users/$refused 401 DPoP Proof htu" seen; done
