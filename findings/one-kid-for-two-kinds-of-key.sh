#!/bin/sh
# aws-jwt-verify 5.2.1, jwks-rsa 4.1.0 (npm) and PyJWT 2.15.1 (PyPI), beside jose 6.2.18: a JWKS whose RSA key and EC key share
# a `kid`, as RFC 7517 §4.5 allows keys of different `kty` that stand for each other.
# Guess: the token's `alg` and `kid` together choose the key, so that tokens of RS256 and of ES256 are taken.
# Seen: only jose does so. The others take the first key of that `kid`, and refuse each token of the other kind.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check 'pyjwt[crypto]==2.15.1'
npm install --silent --no-audit --no-fund aws-jwt-verify@5.2.1 jwks-rsa@4.1.0 jose@6.2.18
cat >look.py <<'PY'
import sys
import jwt

try:
    key = jwt.PyJWKClient(sys.argv[1]).get_signing_key_from_jwt(sys.argv[2])
    jwt.decode(sys.argv[2], key.key, algorithms=[jwt.get_unverified_header(sys.argv[2])['alg']], audience='api')
    print('taken')
except Exception as error:
    print(f'refused, {error}')
PY
cat >look.mjs <<'JS'
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { JwtVerifier } from 'aws-jwt-verify';
import { createRemoteJWKSet, exportJWK, generateKeyPair, importSPKI, jwtVerify, SignJWT } from 'jose';
import jwksRsa from 'jwks-rsa';

const pairs = { RS256: await generateKeyPair('RS256'), ES256: await generateKeyPair('ES256') };
const keys = [];
for (const [alg, { publicKey }] of Object.entries(pairs)) keys.push({ ...(await exportJWK(publicKey)), kid: 'a', alg, use: 'sig' });
const issuer = 'https://id.example';
for (const published of [keys, [...keys].reverse()]) {
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys: published })));
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  const address = `http://127.0.0.1:${server.address().port}/`;
  for (const alg of ['RS256', 'ES256']) {
    const made = new SignJWT({}).setProtectedHeader({ alg, kid: 'a' }).setIssuer(issuer).setAudience('api').setExpirationTime('1m');
    const token = await made.sign(pairs[alg].privateKey);
    const verifier = JwtVerifier.create({ issuer, audience: 'api', jwksUri: `${issuer}/jwks` });
    verifier.cacheJwks({ keys: published });
    const libraries = {
      jose: () => jwtVerify(token, createRemoteJWKSet(new URL(address))),
      'aws-jwt-verify': () => verifier.verify(token),
      'jwks-rsa': async () => {
        const key = await jwksRsa({ jwksUri: address }).getSigningKey('a');
        await jwtVerify(token, await importSPKI(key.getPublicKey(), alg));
      },
    };
    const order = published.map(({ kty }) => kty).join(', ');
    for (const [name, verify] of Object.entries(libraries)) {
      const said = await verify().then(() => 'taken', (error) => `refused, ${error.message}`);
      console.log(`keys ${order}; ${alg}, ${name}: ${said}`);
    }
    const { stdout } = await promisify(execFile)('env/bin/python', ['look.py', address, token]);
    console.log(`keys ${order}; ${alg}, PyJWT: ${stdout.trim()}`);
  }
  server.close();
}
JS
echo "Node.js $(node --version), aws-jwt-verify 5.2.1, jwks-rsa 4.1.0, jose 6.2.18; $(python3 --version), PyJWT 2.15.1"
node look.mjs | tee seen
[ "$(grep -c 'jose: taken$' seen)" = 4 ]
for name in aws-jwt-verify jwks-rsa PyJWT; do
  for first in 'RSA, EC; RS256' 'EC, RSA; ES256'; do grep -qx "keys $first, $name: taken" seen; done
  for second in 'RSA, EC; ES256' 'EC, RSA; RS256'; do grep -q "^keys $second, $name: refused" seen; done
done
