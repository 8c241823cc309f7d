import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type Algorithm = 'HS256' | 'RS256' | 'ES256';

export const ISSUER = 'https://login.example.org';
export const AUDIENCE = 'todo-service';

const signAside = promisify(sign);

/** Makes tokens of one algorithm, and the file from which a server verifies them. */
export interface TokenMaker {
  /** An HMAC secret as text, or a PEM public key. */
  readonly keyFile: string;
  /** A token for a day; `claims` and `header` are added to what it must have. */
  make(
    claims: Readonly<Record<string, unknown>>,
    header?: Readonly<Record<string, unknown>>,
  ): Promise<string>;
}

/** New keys of all three algorithms, their files in `folder`. */
export function makeKeys(folder: string): Readonly<Record<Algorithm, TokenMaker>> {
  const secret = randomBytes(48).toString('base64');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    HS256: maker(join(folder, 'secret'), secret, 'HS256', async (input) =>
      createHmac('sha256', secret).update(input).digest(),
    ),
    RS256: maker(join(folder, 'rsa.pem'), pem(rsa.publicKey), 'RS256', (input) =>
      signAside('sha256', Buffer.from(input), rsa.privateKey),
    ),
    ES256: maker(join(folder, 'ec.pem'), pem(ec.publicKey), 'ES256', (input) =>
      signAside('sha256', Buffer.from(input), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' }),
    ),
  };
}

function maker(
  keyFile: string,
  content: string,
  alg: Algorithm,
  signature: (input: string) => Promise<Buffer>,
): TokenMaker {
  writeFileSync(keyFile, content, { mode: 0o600 });
  return {
    keyFile,
    async make(claims, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const registered = { iss: ISSUER, aud: AUDIENCE, sub: '2f1c', iat: now, exp: now + 86_400 };
      const input = `${encode({ alg, typ: 'JWT', ...header })}.${encode({ ...registered, ...claims })}`;
      return `${input}.${(await signature(input)).toString('base64url')}`;
    },
  };
}

function pem(key: KeyObject): string {
  return String(key.export({ type: 'spki', format: 'pem' }));
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
