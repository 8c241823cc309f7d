import {
  constants,
  createHmac,
  type KeyObject,
  timingSafeEqual,
  type VerifyKeyObjectInput,
  verify,
} from 'node:crypto';
import { promisify } from 'node:util';

/** RFC 7518 §3.3 and §3.5. */
export const RSA_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const;

/** Other JWS algorithms that this service verifies: RFC 7518 §3.1 without `none`, and RFC 8037 §3.1 for Ed25519. */
const OTHER_ALGORITHMS = ['ES256', 'ES384', 'ES512', 'EdDSA', 'HS256', 'HS384', 'HS512'] as const;

export const ALGORITHMS = [...RSA_ALGORITHMS, ...OTHER_ALGORITHMS];

export type Algorithm = (typeof ALGORITHMS)[number];

/**
 * The algorithm that an `alg` names, in a token or a key; undefined for any other value. `Ed25519` (RFC 9864 §2.2) is the
 * new name of RFC 8037's `EdDSA` with an Ed25519 key, and only such keys are accepted.
 */
export function readAlgorithm(alg: unknown): Algorithm | undefined {
  return alg === 'Ed25519' ? 'EdDSA' : ALGORITHMS.find((name) => name === alg);
}

/**
 * Whether a signature over the signing input (RFC 7515 §5.2) is right. A promise when another thread does the arithmetic:
 * always where it takes long, and with `elsewhere` wherever it can.
 */
export type Verify = (
  signingInput: string,
  signature: Buffer,
  where?: 'elsewhere',
) => boolean | Promise<boolean>;

/** Bits. Verifying takes 20 µs with 2048 and 65 µs with 4096, and four times as long with twice as many. */
const MAX_QUICK_RSA_BITS = 4096;

/** The exponent also decides how long verifying takes: the usual one has two bits set. */
const QUICK_RSA_EXPONENT = 65_537n;

/**
 * Verifies signatures of an algorithm by `node:crypto`, with a key that admits it: the parameters are those of RFC 7518
 * §3 and RFC 8037 §3.1, never the token's. A verification of less than about 100 µs is done at once: another thread would
 * cost this one 10 to 20 µs, and the process 10 to 50 µs more.
 */
export function verifyWith(key: KeyObject, algorithm: Algorithm): Verify {
  if (algorithm.startsWith('HS')) return hmac(key, `sha${algorithm.slice(2)}`);
  const hash = algorithm === 'EdDSA' ? null : `sha${algorithm.slice(2)}`;
  const input = { key, ...PARAMETERS[algorithm.slice(0, 2)] };
  const quick = isQuick(key);
  return (signingInput, signature, where) => {
    const data = Buffer.from(signingInput, 'latin1');
    if (quick && where === undefined) return verify(hash, data, input, signature);
    return verifyElsewhere(hash, data, input, signature);
  };
}

const verifyElsewhere = promisify<string | null, Buffer, VerifyKeyObjectInput, Buffer, boolean>(verify);

const PARAMETERS: Readonly<Record<string, Partial<VerifyKeyObjectInput>>> = {
  RS: { padding: constants.RSA_PKCS1_PADDING },
  // RFC 7518 §3.5: the salt is as long as the hash, which is also the hash of the mask.
  PS: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
  // RFC 7518 §3.4: R and S as they are, each as long as the order; never DER.
  ES: { dsaEncoding: 'ieee-p1363' },
};

function isQuick({ asymmetricKeyType, asymmetricKeyDetails: details = {} }: KeyObject): boolean {
  if (asymmetricKeyType === 'ec') return details.namedCurve === 'prime256v1';
  return (
    asymmetricKeyType === 'rsa' &&
    (details.modulusLength ?? Number.POSITIVE_INFINITY) <= MAX_QUICK_RSA_BITS &&
    details.publicExponent === QUICK_RSA_EXPONENT
  );
}

/** RFC 7518 §3.2: the whole output of the hash, compared in constant time. */
function hmac(secret: KeyObject, hash: string): Verify {
  return (signingInput, signature) => {
    const expected = createHmac(hash, secret).update(signingInput, 'latin1').digest();
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  };
}
