/** JWS algorithms that this service verifies: RFC 7518 §3.1 without `none`, and RFC 8037 §3.1. */
export const ALGORITHMS = [
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
