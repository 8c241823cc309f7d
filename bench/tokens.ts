import { createHmac, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type Algorithm = 'HS256' | 'RS256';

export const ISSUER = 'https://login.example.org';
export const AUDIENCE = 'todo-service';

const signAside = promisify(sign);

/** Makes tokens of one algorithm, and the file from which a server verifies them. */
export interface TokenMaker {
  /** An HMAC secret as text, or a PEM public key. */
  readonly keyFile: string;
  /** A token for a day; `claims` are added to those that it must have. */
  make(claims: Readonly<Record<string, unknown>>): Promise<string>;
}

/** New keys of both algorithms, their files in `folder`. */
export function makeKeys(folder: string): Readonly<Record<Algorithm, TokenMaker>> {
  const secret = randomBytes(48).toString('base64');
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = String(publicKey.export({ type: 'spki', format: 'pem' }));
  const maker = (alg: Algorithm, content: string, signed: (input: string) => Promise<Buffer>): TokenMaker => {
    const keyFile = join(folder, alg);
    writeFileSync(keyFile, content, { mode: 0o600 });
    return {
      keyFile,
      async make(claims) {
        const now = Math.floor(Date.now() / 1000);
        const registered = { iss: ISSUER, aud: AUDIENCE, sub: '2f1c', iat: now, exp: now + 86_400 };
        const input = `${encode({ alg, typ: 'JWT' })}.${encode({ ...registered, ...claims })}`;
        return `${input}.${(await signed(input)).toString('base64url')}`;
      },
    };
  };
  return {
    HS256: maker('HS256', secret, async (input) => createHmac('sha256', secret).update(input).digest()),
    RS256: maker('RS256', pem, (input) => signAside('sha256', Buffer.from(input), privateKey)),
  };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
