import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { NotUsable, orUndefined } from '../../lib/errors.ts';
import type { LoadedKeys } from './keys.ts';
import { fromPublicKey } from './verification-key.ts';

/** @throws {NotUsable} when the text is not one public key in PEM. The message has none of its content. */
export function readPem(text: string, bytes: Buffer): LoadedKeys {
  if (/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text)) throw new NotUsable('it is a private key');
  if (/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----/.test(text)) {
    throw new NotUsable('it is a certificate (openssl x509 -pubkey -noout prints its public key)');
  }
  const blocks = text.split('-----BEGIN ').length - 1;
  if (blocks > 1) throw new NotUsable(`it has ${blocks} PEM keys: a PEM file has one, a JWKS has several`);
  const material = blocks === 1 ? orUndefined(() => createPublicKey(text)) : undefined;
  if (material === undefined) throw new NotUsable(explainNoPem(text, bytes));
  const key = fromPublicKey(material);
  if ('reason' in key) throw new NotUsable(key.reason);
  return { keys: [key], skipped: [] };
}

const LINES = '"-----BEGIN PUBLIC KEY-----" and "-----END PUBLIC KEY-----"';

function explainNoPem(text: string, bytes: Buffer): string {
  if (text.includes('-----BEGIN ')) {
    if (text.includes('\\n')) return 'its line breaks are written as "\\n": they must be real ones';
    return `its PEM key is broken: its lines stand without blanks before them between ${LINES}`;
  }
  if (/^(?:ssh|ecdsa)-/.test(text))
    return 'it is a key of OpenSSH, which "ssh-keygen -e -m PKCS8 -f FILE" writes in PEM, but for Ed25519';
  if (isKey(bytes) || isKey(Buffer.from(text, 'base64')))
    return `it is a key or a certificate without PEM: a public key stands in base64 between ${LINES}`;
  return 'it is not a PEM public key, a JWK or a JWKS';
}

/** Whether bytes are a key or a certificate. */
export function isKey(key: Buffer): boolean {
  return PARSERS.some((parse) => orUndefined(() => parse(key)) !== undefined);
}

const PARSERS: readonly ((key: Buffer) => unknown)[] = [
  // PEM, of a private key and a certificate too.
  (key) => createPublicKey(key),
  (key) => createPublicKey({ key, format: 'der', type: 'spki' }),
  (key) => createPublicKey({ key, format: 'der', type: 'pkcs1' }),
  (key) => new X509Certificate(key),
  (key) => createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
  (key) => createPrivateKey({ key, format: 'der', type: 'pkcs1' }),
  (key) => createPrivateKey({ key, format: 'der', type: 'sec1' }),
];
