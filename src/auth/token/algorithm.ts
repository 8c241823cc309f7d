/** JWS algorithms that this service verifies: RFC 7518 §3.1 without `none`, and RFC 8037 §3.1 for Ed25519. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'HS256',
  'HS384',
  'HS512',
] as const;

export type Algorithm = (typeof ALGORITHMS)[number];

/**
 * The algorithm that an `alg` names, in a token or a key; undefined for any other value. `Ed25519` (RFC 9864 §2.2)
 * is the new name of what RFC 8037 calls `EdDSA` with an Ed25519 key, and only such keys are accepted.
 */
export function readAlgorithm(alg: unknown): Algorithm | undefined {
  return alg === 'Ed25519' ? 'EdDSA' : ALGORITHMS.find((name) => name === alg);
}
