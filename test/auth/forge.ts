import {
  constants,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { readFileSync } from 'node:fs';

export const ISSUER = 'https://login.example.org';
export const AUDIENCE = 'todo-service';

/** JSON text or bytes stand as they are, so that tokens can be made which no library makes. */
export type Part = string | Buffer | Readonly<Record<string, unknown>>;

export type Signer = (input: string) => Buffer;

/** A token before it is put together. */
export interface Draft {
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  readonly sign: Signer;
}

/** Keys of a test issuer. `fixed` is published with `alg`, the others without; `stranger` and others never. */
const PAIRS = {
  rsa: rsaPair('issuer'),
  fixed: rsaPair('fixed'),
  p256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  p384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  p521: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  ed: generateKeyPairSync('ed25519'),
} as const;

export type KeyName = keyof typeof PAIRS;

export const SECRET = randomBytes(64);

export const STRANGERS = {
  rsa: rsaPair('stranger'),
  p256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ed: generateKeyPairSync('ed25519'),
} as const;

/** Of 2,048 bits: a new one takes longer than most tests. Only these tests trust it. */
function rsaPair(name: string) {
  const privateKey = createPrivateKey(readFileSync(new URL(`rsa/test-only-${name}.key`, import.meta.url)));
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** The algorithm that a draft with this key uses. */
const ALGORITHMS: Readonly<Record<KeyName, string>> = {
  rsa: 'RS256',
  fixed: 'RS256',
  p256: 'ES256',
  p384: 'ES384',
  p521: 'ES512',
  ed: 'EdDSA',
};

export function publicKey(name: KeyName): KeyObject {
  return PAIRS[name].publicKey;
}

export function privateKey(name: KeyName): KeyObject {
  return PAIRS[name].privateKey;
}

export function jwkOf(key: KeyObject, kid: string): Record<string, unknown> {
  return { ...key.export({ format: 'jwk' }), kid };
}

/** A set of the test issuer: of all its keys, or of these in their order. */
export function jwks(...names: readonly KeyName[]): { readonly keys: readonly Record<string, unknown>[] } {
  const published = names.length > 0 ? names : (Object.keys(PAIRS) as KeyName[]);
  return {
    keys: published.map((name) => ({
      ...jwkOf(publicKey(name), name),
      use: 'sig',
      ...(name === 'fixed' && { alg: 'RS256' }),
    })),
  };
}

/**
 * An editor's good token by one of the issuer's keys, valid for ten minutes; with members of its own in place of these,
 * where undefined leaves one out.
 */
export function draft(
  name: KeyName | 'secret' = 'p256',
  own: { header?: object; claims?: object } = {},
): Draft {
  const now = Math.floor(Date.now() / 1000);
  const times = { iat: now - 5, exp: now + 600 };
  const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'ada', role: 'editor', ...times, ...own.claims };
  if (name === 'secret') {
    return { header: { alg: 'HS256', typ: 'JWT', ...own.header }, claims, sign: mac('sha256') };
  }
  const alg = ALGORITHMS[name];
  return {
    header: { alg, typ: 'JWT', kid: name, ...own.header },
    claims,
    sign: signer(alg, privateKey(name)),
  };
}

/** Puts a draft together, with parts of it replaced. Members that are undefined are left out. */
export function forge(made: Draft, replaced: { header?: Part; claims?: Part; sign?: Signer } = {}): string {
  const input = `${encode(replaced.header ?? made.header)}.${encode(replaced.claims ?? made.claims)}`;
  return `${input}.${(replaced.sign ?? made.sign)(input).toString('base64url')}`;
}

export function encode(part: Part): string {
  if (Buffer.isBuffer(part)) return part.toString('base64url');
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

/** Signs as `alg` wants, with `node:crypto` and not with the library that verifies. RFC 7518 §3, RFC 8037 §3.1. */
export function signer(alg: string, key: KeyObject): Signer {
  const hash = `sha${alg.slice(2)}`;
  return (input) => {
    const bytes = Buffer.from(input);
    switch (alg.slice(0, 2)) {
      case 'RS':
        return sign(hash, bytes, key);
      case 'PS':
        return sign(hash, bytes, {
          key,
          padding: constants.RSA_PKCS1_PSS_PADDING,
          saltLength: Number(alg.slice(2)) / 8,
        });
      case 'ES':
        return sign(hash, bytes, { key, dsaEncoding: 'ieee-p1363' });
      default:
        return sign(null, bytes, key);
    }
  };
}

export function mac(hash: 'sha256' | 'sha384' | 'sha512', secret: Buffer | string = SECRET): Signer {
  return (input) => createHmac(hash, secret).update(input).digest();
}
