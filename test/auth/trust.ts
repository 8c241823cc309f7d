import { fixedKeys, inOrder, type Keys } from '../../src/auth/keys/keys.ts';
import { fromSecret, readJwk } from '../../src/auth/keys/verification-key.ts';
import type { Tell } from '../../src/events.ts';
import { AUDIENCE, ISSUER, jwks, SECRET } from './forge.ts';

/** What a service is told that trusts the test issuer. */
export const TRUST = { issuer: ISSUER, audience: AUDIENCE, claims: {}, clockToleranceSeconds: 30 };

export const silent: Tell = () => {};

/** The keys that the test issuer publishes. */
export function issuerKeys(): Keys {
  return fixedKeys(inOrder(jwks().keys.map(usable)), 'the test issuer');
}

export function secretKeys(): Keys {
  return fixedKeys([fromSecret(SECRET)], 'the test secret');
}

export function usable(jwk: unknown) {
  const result = readJwk(jwk);
  if (result.outcome !== 'usable') throw new Error(result.reason);
  return result.key;
}
