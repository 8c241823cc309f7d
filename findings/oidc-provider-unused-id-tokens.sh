#!/bin/sh
# oidc-provider 9.13.3 (Node.js) whose only key is for ES256: a client that knows the grant client_credentials alone.
# Guess: the client gets its token, since ID tokens, and the key that signs them, are nothing to it.
# Seen: invalid_client_metadata at the token endpoint, for id_token_signed_response_alg, whose default is RS256; the start
# and discovery are content, and no request but the client's own shows it. With the member set, the token comes.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund oidc-provider@9.13.3
cat >look.mjs <<'JS'
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
const base = { client_secret: 'a', grant_types: ['client_credentials'], response_types: [], redirect_uris: [] };
const provider = new Provider('http://127.0.0.1:18128', {
  jwks: { keys: [{ ...key, use: 'sig', alg: 'ES256' }] },
  clients: [
    { ...base, client_id: 'default' },
    { ...base, client_id: 'told', id_token_signed_response_alg: 'ES256' },
  ],
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
});
const server = createServer(provider.callback()).listen(18128, '127.0.0.1', async () => {
  const discovery = await fetch('http://127.0.0.1:18128/.well-known/openid-configuration');
  console.log(`discovery: ${discovery.status} ${(await discovery.json()).id_token_signing_alg_values_supported}`);
  for (const id of ['default', 'told']) {
    const headers = { authorization: `Basic ${btoa(`${id}:a`)}` };
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    const answer = await fetch('http://127.0.0.1:18128/token', { method: 'POST', headers, body });
    const { token_type, error, error_description } = await answer.json();
    console.log(`${id}: ${answer.status} ${token_type ?? `${error}, ${error_description}`}`);
  }
  server.close();
  server.closeAllConnections();
});
JS
echo "Node.js $(node --version), oidc-provider 9.13.3"
node look.mjs 2>log | tee seen
grep -qx 'discovery: 200 ES256' seen
grep -q '^default: 400 invalid_client_metadata, id_token_signed_response_alg' seen
grep -qx 'told: 200 Bearer' seen
