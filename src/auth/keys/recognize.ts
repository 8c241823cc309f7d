import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';

/** PEM (RFC 7468 §2) and the armor of SSH (RFC 4716 §3.2), wherever the line stands. */
const ARMOR = /-----BEGIN [A-Z0-9 ]+-----|---- BEGIN [A-Z0-9 ]+ ----/;

/** RFC 4253 §6.6: a key of SSH begins with the length and the name of its type. */
const SSH = /^\0\0\0[\s\S](?:ssh-|ecdsa-|sk-)/;
const BASE64_OF_SSH = /(?<![A-Za-z0-9+/])AAAA[A-Za-z0-9+/]{20}/g;

/** Members of RFC 7517 §4.1 and §5, however deep. */
const MEMBER = /"(?:kty|keys)"/;

/** Base64 or base64url, in one line or several, that may be DER: 0x30 begins with "M". */
const BASE64_OF_DER = /(?<![A-Za-z0-9+/_-])M[A-Za-z0-9+/_-]{15,}(?:[ \t]*[\r\n]\s*[A-Za-z0-9+/_-]+)*/g;

const HEX_OF_DER = /(?<![0-9a-f])30[0-9a-f]{60,}/gi;

const DER_SEQUENCE = 0x30;

/**
 * What a file taken for a secret looks like, when it holds a key or a certificate: words for a message, without
 * any of its content. A public key taken for a secret would let everybody sign (RFC 8725 §2.1).
 */
export function recognizeKey(bytes: Buffer): string | undefined {
  if (isKeyInDer(bytes)) return 'a key or a certificate in DER';
  // Without the NULs of UTF-16, and with the line breaks that a JSON string spells.
  const text = bytes
    .toString('latin1')
    .replaceAll('\0', '')
    .replaceAll(/\\[nr]/g, '\n');
  if (ARMOR.test(text)) return 'a key or a certificate in PEM';
  if (isKeyOfSsh(bytes, text)) return 'a key of SSH';
  if (MEMBER.test(text)) return 'a JWK or a JWKS';
  for (const [run] of text.matchAll(BASE64_OF_DER)) {
    if (isKeyInDer(Buffer.from(run, 'base64'))) return 'a key or a certificate in base64';
  }
  for (const [run] of text.matchAll(HEX_OF_DER)) {
    if (isKeyInDer(Buffer.from(run, 'hex'))) return 'a key or a certificate in hexadecimal';
  }
  // Base64 with blanks or quotation marks in it, and base64 of a text.
  const decoded = Buffer.from(text.replaceAll(/[\s"',;]/g, ''), 'base64');
  const decodedText = decoded.toString('latin1');
  const holdsKey = isKeyInDer(decoded) || ARMOR.test(decodedText) || MEMBER.test(decodedText);
  return holdsKey ? 'a key or a certificate in base64' : undefined;
}

function isKeyOfSsh(bytes: Buffer, text: string): boolean {
  const decoded = Array.from(text.matchAll(BASE64_OF_SSH), ([run]) => Buffer.from(run, 'base64'));
  return [bytes, ...decoded].some((blob) => SSH.test(blob.toString('latin1')));
}

function isKeyInDer(bytes: Buffer): boolean {
  if (bytes[0] !== DER_SEQUENCE) return false;
  return PARSERS.some((parse) => {
    try {
      parse(bytes);
      return true;
    } catch {
      return false;
    }
  });
}

const PARSERS: readonly ((key: Buffer) => unknown)[] = [
  (key) => createPublicKey({ key, format: 'der', type: 'spki' }),
  (key) => createPublicKey({ key, format: 'der', type: 'pkcs1' }),
  (key) => new X509Certificate(key),
  (key) => createPrivateKey({ key, format: 'der', type: 'pkcs8' }),
  (key) => createPrivateKey({ key, format: 'der', type: 'pkcs1' }),
  (key) => createPrivateKey({ key, format: 'der', type: 'sec1' }),
];
