import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { NotUsable, orUndefined } from '../../lib/errors.ts';
import type { LoadedKeys } from './keys.ts';
import { fromPublicKey } from './verification-key.ts';

/** Whether bytes are text as Windows PowerShell writes it: a byte order mark, or a character of ASCII in two bytes. */
export function isUtf16([first, second]: Buffer): boolean {
  return (
    (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || first === 0 || second === 0
  );
}

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
  const decoded = Buffer.from(text, 'base64');
  if (isOtherKey(bytes) || isOtherKey(decoded))
    return 'it is a private key or a certificate, and must be a public key';
  if (isKey(bytes)) return 'it is a key in DER (openssl pkey -pubin -inform DER prints it as PEM)';
  if (isKey(decoded)) return `it is a bare public key: it must have the lines ${LINES} around it`;
  return 'it is not a PEM public key, a JWK or a JWKS';
}

/** Whether bytes are a key or a certificate, in PEM or DER. */
export function isKey(key: Buffer): boolean {
  return isOtherKey(key) || parses(key, PUBLIC_PARSERS);
}

/** Whether it is a private key or a certificate in DER. */
function isOtherKey(key: Buffer): boolean {
  return parses(key, OTHER_PARSERS);
}

function parses(key: Buffer, parsers: readonly ((key: Buffer) => unknown)[]): boolean {
  return parsers.some((parse) => orUndefined(() => parse(key)) !== undefined);
}

/** They take private keys too. */
const PUBLIC_PARSERS: readonly ((key: Buffer) => unknown)[] = [
  // PEM, of a private key and a certificate too.
  (key) => createPublicKey(key),
  (key) => createPublicKey({ key, format: 'der', type: 'spki' }),
  (key) => createPublicKey({ key, format: 'der', type: 'pkcs1' }),
];

const OTHER_PARSERS: readonly ((key: Buffer) => unknown)[] = [
  (key) => new X509Certificate(key),
  (key) => createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
  (key) => createPrivateKey({ key, format: 'der', type: 'pkcs1' }),
  (key) => createPrivateKey({ key, format: 'der', type: 'sec1' }),
];
