import { createHmac, createPublicKey, createSecretKey, hash, type KeyObject } from 'node:crypto';
import { orUndefined } from '../../lib/errors.ts';
import { isJsonObject } from '../../lib/parse-json.ts';
import { quoteShort } from '../../lib/quote.ts';
import { type Algorithm, RSA_ALGORITHMS, readAlgorithm, type Verify, verifyWith } from './algorithms.ts';

/** A key that was found fit to verify with, and the algorithms it admits (contract A6): RFC 8725 §3.1. */
export interface VerificationKey {
  /** Differs whenever the material, the `kid` or the admitted algorithms differ. Not a secret. */
  readonly id: string;
  readonly keyId: string | undefined;
  readonly algorithms: ReadonlyMap<Algorithm, Verify>;
}

/** A key that cannot be used. */
export interface SkippedKey {
  /** `secret`: private or symmetric material among public keys. `other-use`: for another purpose, and no mistake. */
  readonly kind: 'unfit' | 'other-use' | 'secret';
  readonly keyId: string | undefined;
  /** What is said of the key: `its key_ops has no verify`. */
  readonly reason: string;
}

/** Members of RFC 7518 §6.2.2, §6.3.2 and §6.4 that must stay private; `priv` is that of newer key types. */
const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv'];

/** RFC 7518 §3.2: bytes an HMAC secret needs, as many as the hash has. */
const SECRET_LENGTHS = [
  ['HS256', 32],
  ['HS384', 48],
  ['HS512', 64],
] as const;

/** Bytes. The shortest secret that admits any algorithm. */
export const MIN_SECRET_LENGTH = Math.min(...SECRET_LENGTHS.map(([, bytes]) => bytes));

/** Bits. RFC 7518 §3.3 and §3.5. */
const MIN_RSA_BITS = 2048;

/** FIPS 186-5 §5.4: odd, above 2^16 and below 2^256. Small exponents fall to attacks on careless padding. */
const MIN_RSA_EXPONENT = 65_537n;
const MAX_RSA_EXPONENT = 1n << 256n;

/** Curves by OpenSSL's names. */
const CURVES: Readonly<Record<string, Algorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** A public key from one member of a JWKS (RFC 7517 §4). */
export function readJwk(jwk: unknown): VerificationKey | SkippedKey {
  if (!isJsonObject(jwk)) return { kind: 'unfit', keyId: undefined, reason: 'it is not an object' };
  const { kid, kty, use, key_ops: operations, alg } = jwk;
  const keyId = typeof kid === 'string' ? kid : undefined;
  if (kid !== undefined && keyId === undefined)
    return { kind: 'unfit', keyId, reason: 'its kid is not a string' };
  if (kty === 'oct') return { kind: 'secret', keyId, reason: 'it is a symmetric key' };
  if (SECRET_MEMBERS.some((name) => Object.hasOwn(jwk, name)))
    return { kind: 'secret', keyId, reason: 'it is a private key' };
  const kind = isForOtherUse(jwk) ? 'other-use' : 'unfit';
  if (use !== undefined && use !== 'sig')
    return { kind, keyId, reason: `its use must be "sig", received ${quoteShort(use)}` };
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify')))
    return { kind, keyId, reason: 'its key_ops has no verify' };
  const material = orUndefined(() => createPublicKey({ key: jwk, format: 'jwk' }));
  if (material === undefined)
    return { kind, keyId, reason: 'it must be a public key of the type RSA, EC or Ed25519' };
  const key = fromPublicKey(material, keyId, alg);
  return 'reason' in key ? { ...key, kind } : key;
}

/** Operations, curves and algorithms for encryption: RFC 7517 §4.3, RFC 8037 §3.2, RFC 7518 §4.1. */
const OF_ENCRYPTION =
  /^(?:encrypt|decrypt|wrapKey|unwrapKey|deriveKey|deriveBits|X25519|X448|RSA1_5|RSA-OAEP.*|ECDH-ES.*)$/;

/** Whether a key says that it is for something else than signatures. A `use` of "SIG" says that it is for them. */
function isForOtherUse({ use, key_ops: operations, crv, alg }: Readonly<Record<string, unknown>>): boolean {
  if (typeof use === 'string' && use.toLowerCase() !== 'sig') return true;
  return [crv, alg, operations].flat().some((said) => typeof said === 'string' && OF_ENCRYPTION.test(said));
}

/** A public key without `kid` and `alg`, as a PEM file has it. */
export function fromPublicKey(
  material: KeyObject,
  keyId?: string,
  alg?: unknown,
): VerificationKey | SkippedKey {
  const fitting = fittingAlgorithms(material);
  if (typeof fitting === 'string') return { kind: 'unfit', keyId, reason: fitting };
  const admitted = alg === undefined ? fitting : fitting.filter((name) => name === readAlgorithm(alg));
  if (admitted.length === 0)
    return { kind: 'unfit', keyId, reason: `its alg must be one of ${fitting.join(', ')} when present` };
  const spki = material.export({ type: 'spki', format: 'der' });
  const identity = JSON.stringify([keyId ?? null, admitted, spki.toString('base64')]);
  const algorithms = new Map(admitted.map((name) => [name, verifyWith(material, name)]));
  return { id: hash('sha256', identity, 'base64url'), keyId, algorithms };
}

/** A key from an HMAC secret, which is long enough for at least one algorithm when it has 32 bytes. */
export function fromSecret(secret: Uint8Array, keyId?: string, alg?: Algorithm): VerificationKey {
  const material = createSecretKey(secret);
  const admitted = SECRET_LENGTHS.filter(([name, bytes]) => secret.length >= bytes && (alg ?? name) === name);
  const algorithms = new Map(admitted.map(([name]) => [name, verifyWith(material, name)]));
  // Equal where the same tokens are valid: HMAC fills a secret up with zeros (RFC 2104 §2).
  const identity = JSON.stringify([keyId ?? null, ...algorithms.keys()]);
  const id = createHmac('sha256', material).update(identity).digest('base64url');
  return { id, keyId, algorithms };
}

/** The algorithms of a key's type and curve, or the reason why there are none. */
function fittingAlgorithms(key: KeyObject): readonly Algorithm[] | string {
  const details = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case 'rsa': {
      const bits = details.modulusLength ?? 0;
      const exponent = details.publicExponent ?? 0n;
      if (bits < MIN_RSA_BITS) return `it must have at least ${MIN_RSA_BITS} bits, received ${bits}`;
      if (exponent < MIN_RSA_EXPONENT || exponent >= MAX_RSA_EXPONENT || exponent % 2n === 0n) {
        return 'its exponent must be odd and between 2^16 and 2^256';
      }
      return RSA_ALGORITHMS;
    }
    case 'ec': {
      const algorithm = CURVES[details.namedCurve ?? ''];
      return algorithm === undefined ? 'its curve must be P-256, P-384 or P-521' : [algorithm];
    }
    case 'ed25519':
      return ['EdDSA'];
    default:
      return `it must be of the type RSA, EC or Ed25519, received ${key.asymmetricKeyType}`;
  }
}
