import { readFileSync } from 'node:fs';

type SignatureAlgorithm = 'HS256' | 'RS256';

/** What the benchmark tells every server by its environment: the same for all of them. */
export const port = Number(process.env.PORT);
export const host = '127.0.0.1';
export const database = process.env.DATABASE ?? '';
/** `FULL` syncs every commit; `NORMAL` is what better-sqlite3 comes with for a write-ahead log. */
export const synchronous = process.env.SYNCHRONOUS ?? 'NORMAL';
export const issuer = process.env.ISSUER ?? '';
export const audience = process.env.AUDIENCE ?? '';
export const algorithm = (process.env.ALGORITHM ?? 'HS256') as SignatureAlgorithm;
/** The HMAC secret, or a PEM public key. */
export const keyText = readFileSync(process.env.KEY_FILE ?? '', 'utf8');

const WEB_CRYPTO = {
  HS256: { name: 'HMAC', hash: 'SHA-256' },
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
} as const;

/** The key, imported once, for the libraries that would otherwise import it for every token. */
export function importKey(): Promise<CryptoKey> {
  const web = WEB_CRYPTO[algorithm];
  if (algorithm === 'HS256') {
    return crypto.subtle.importKey('raw', Buffer.from(keyText), web, false, ['verify']);
  }
  const der = Buffer.from(keyText.replace(/-----[A-Z ]+-----/g, ''), 'base64');
  return crypto.subtle.importKey('spki', der, web, false, ['verify']);
}
