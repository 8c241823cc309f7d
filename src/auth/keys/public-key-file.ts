import { createPublicKey } from 'node:crypto';
import { parseJson } from '../../parse-json.ts';
import { failed } from './failed.ts';
import type { LoadedKeys } from './kept.ts';
import { describeSkipped, readKeySet } from './key-set.ts';
import { readSmallFile } from './small-file.ts';
import { fromPublicKey } from './verification-key.ts';

/**
 * A PEM public key, a JWK or a JWKS. Fails for secret material anywhere in it: the file is the wrong one. A reason has
 * none of the file's content but `kid`s.
 */
export async function readKeysFile(path: string): Promise<LoadedKeys> {
  const file = await readSmallFile(path);
  if (file.outcome !== 'read') return failed(file.reason);
  const text = file.bytes.toString('utf8').trim();
  return text.startsWith('{') ? readJson(text) : readPem(text);
}

function readJson(text: string): LoadedKeys {
  const parsed = parseJson(text);
  if ('fault' in parsed) return failed('it is not valid JSON');
  const set = readKeySet(parsed.value);
  const secrets = set.skipped.filter(({ outcome }) => outcome === 'secret');
  if (secrets.length > 0) return failed(secrets.map(describeSkipped).join('; '));
  if (set.outcome === 'read') return set;
  return failed([set.reason, ...set.skipped.map(describeSkipped)].join('; '));
}

function readPem(text: string): LoadedKeys {
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) return failed('it is a private key');
  if (/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/.test(text)) {
    return failed('it is a certificate (openssl x509 -pubkey -noout prints its public key)');
  }
  if (text.split('-----BEGIN ').length !== 2) return failed('it is not a PEM public key, a JWK or a JWKS');
  try {
    const result = fromPublicKey(createPublicKey(text));
    return result.outcome === 'usable'
      ? { outcome: 'read', keys: [result.key], skipped: [] }
      : failed(result.reason);
  } catch {
    return failed('it is not a PEM public key, a JWK or a JWKS');
  }
}
