import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { readJwk } from '../../src/auth/keys/verification-key.ts';
import { listen, temporaryFolder } from '../support/folder.ts';
import { runCommand } from '../support/run-command.ts';
import EXPORTED from './exported-keys.json' with { type: 'json' };
import { AUDIENCE, draft, forge, jwkOf, jwks, publicKey } from './forge.ts';

for (const { by, key, skipped } of EXPORTED) {
  test(`a public key as ${by} exports it is ${skipped === undefined ? 'taken' : `skipped: ${skipped}`}`, () => {
    const read = readJwk(key);
    const reason = 'reason' in read ? read.reason : undefined;
    assert.ok(skipped === undefined ? reason === undefined : reason?.includes(skipped), String(reason));
  });
}

/** What `token verify` prints with a set of keys, by each source of one. Addresses and paths are replaced. */
async function verifyWith(document: unknown, token: (issuer: string) => string) {
  await using folder = await temporaryFolder();
  const text = JSON.stringify(document);
  const server = createServer(({ url }, response) => {
    response.end(url === '/jwks' ? text : JSON.stringify({ issuer, jwks_uri: `${issuer}/jwks` }));
  });
  const issuer = `http://127.0.0.1:${await listen(server)}`;
  const file = await folder.write('keys', text);
  const common = { TODO_AUTH_ISSUER: issuer, TODO_AUTH_AUDIENCE: AUDIENCE };
  const sources = [{}, { TODO_AUTH_JWKS_URL: `${issuer}/jwks` }, { TODO_AUTH_KEYS_FILE: file }];
  const runs = [];
  for (const source of sources) {
    const env = { ...common, ...source };
    const { stdout, stderr } = await runCommand(['token', 'verify', token(issuer)], { env });
    const plain = (said: string) => said.replaceAll(/\S*127\.0\.0\.1\S*|the issuer (?=\S)/g, '');
    runs.push({ stderr, key: plain(/^FAILED key +(.*)$/m.exec(stdout)?.[1] ?? stderr) });
  }
  server.close();
  return runs;
}

function tokenOf(kid: string | undefined) {
  return (iss: string) => forge(draft('p256', { header: { kid }, claims: { iss } }));
}

const unfit = { ...jwkOf(publicKey('ed'), 'a'), key_ops: ['sign'] };

test('a key that is published and skipped is not denied, whatever source it comes from [A7]', async () => {
  const runs = await verifyWith({ keys: [unfit, ...jwks('p256').keys] }, tokenOf('a'));
  for (const { key, stderr } of runs) {
    assert.equal(key, 'kid "a" is published, but its key_ops has no verify; there is "p256" for ES256');
    assert.match(stderr, /key skipped: the key "a": its key_ops has no verify {2}/);
  }
});

test('a set without a usable key is a fault that names eight keys, whatever source it comes from', async () => {
  const many = Array.from({ length: 9 }, (_, at) => ({ ...unfit, kid: `k${at}` }));
  const runs = await verifyWith({ keys: many }, tokenOf('k0'));
  const named = Array.from({ length: 8 }, (_, at) => `the key "k${at}": its key_ops has no verify`).join(
    '; ',
  );
  for (const { key } of runs)
    assert.ok(key.includes(`it must have a key that verifies signatures: ${named}; and 1 more`), key);
});

test('a key for encryption beside one that fits is no warning, and is explained to a token that names it', async () => {
  const encryption = { ...jwkOf(publicKey('rsa'), 'e'), use: 'enc', alg: 'RSA-OAEP' };
  for (const { key, stderr } of await verifyWith(
    { keys: [encryption, ...jwks('p256').keys] },
    tokenOf('e'),
  )) {
    assert.equal(
      key,
      'kid "e" is published, but its use must be "sig", received "enc"; there is "p256" for ES256',
    );
    assert.equal(stderr, '');
  }
});

test('a token without kid, which no key at hand has made, is told what was skipped', async () => {
  const runs = await verifyWith({ keys: [unfit, ...jwks('ed').keys] }, tokenOf(undefined));
  for (const { key } of runs)
    assert.equal(key, 'skipped: the key "a": its key_ops has no verify; there is "ed" for EdDSA');
});
