import { createPublicKey } from 'node:crypto';
import { describeSkipped, type KeySet, readKeySet } from './key-set.ts';
import { readSmallFile } from './small-file.ts';
import { fromPublicKey, type SkippedKey } from './verification-key.ts';

export type KeysFile =
  | { readonly outcome: 'read'; readonly keys: KeySet; readonly skipped: readonly SkippedKey[] }
  /** What is wrong, without any of the file's content but `kid`s. */
  | { readonly outcome: 'fault'; readonly reason: string };

/** A PEM public key, a JWK or a JWKS. Secret material anywhere in it is a fault: the file is the wrong one. */
export async function readKeysFile(path: string): Promise<KeysFile> {
  const file = await readSmallFile(path);
  if (file.outcome === 'missing') return fault('there is no such file');
  if (file.outcome === 'unreadable') return fault(file.reason);
  const text = file.bytes.toString('utf8').trim();
  return text.startsWith('{') ? readJson(text) : readPem(text);
}

function readJson(text: string): KeysFile {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return fault('it is not valid JSON');
  }
  const set = readKeySet(document);
  const secrets = set.skipped.filter(({ outcome }) => outcome === 'secret');
  if (secrets.length > 0) return fault(secrets.map(describeSkipped).join('; '));
  if (set.outcome === 'read') return set;
  return fault([set.reason, ...set.skipped.map(describeSkipped)].join('; '));
}

function readPem(text: string): KeysFile {
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) return fault('it is a private key');
  if (/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/.test(text)) {
    return fault('it is a certificate (openssl x509 -pubkey -noout prints its public key)');
  }
  if (text.split('-----BEGIN ').length !== 2) return fault('it is not a PEM public key, a JWK or a JWKS');
  try {
    const result = fromPublicKey(createPublicKey(text));
    return result.outcome === 'usable'
      ? { outcome: 'read', keys: [result.key], skipped: [] }
      : fault(result.reason);
  } catch {
    return fault('it is not a PEM public key, a JWK or a JWKS');
  }
}

function fault(reason: string): KeysFile {
  return { outcome: 'fault', reason };
}
