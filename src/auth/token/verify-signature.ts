import { JOSEError } from 'jose/errors';
import { compactVerify } from 'jose/jws/compact/verify';
import { candidateKeys, type KeySet, selectedKeys } from '../keys/key-set.ts';
import type { Keys } from '../keys/keys.ts';
import type { VerificationKey } from '../keys/verification-key.ts';
import type { UnverifiedToken } from './read-token.ts';
import type { RefusalCode } from './refusal.ts';

export type FoundKey =
  /** The signature is right, by a key that is in `set`, which is still the current one. */
  | { readonly outcome: 'verified'; readonly key: VerificationKey; readonly set: KeySet }
  | { readonly outcome: 'refused'; readonly code: RefusalCode }
  | { readonly outcome: 'unavailable' };

/**
 * Verifies a token's signature with the keys it may be signed with (contract A6, A7). Asks the source again for
 * a `kid` that is not in the set. Says nothing about the claims.
 */
export async function findKey(token: UnverifiedToken, keys: Keys): Promise<FoundKey> {
  if (keys.current() === undefined) await keys.firstLoad();
  for (let asked = false; ; ) {
    const set = keys.current();
    if (set === undefined) return { outcome: 'unavailable' };
    const key = await verifyingKey(token, set);
    if (set !== keys.current()) continue;
    if (key !== undefined) return { outcome: 'verified', key, set };
    if (asked || !namesUnknownKey(token, set)) return { outcome: 'refused', code: failure(token, set) };
    await keys.lookAgain();
    asked = true;
  }
}

async function verifyingKey(token: UnverifiedToken, set: KeySet): Promise<VerificationKey | undefined> {
  for (const key of candidateKeys(set, token.algorithm, token.keyId)) {
    const material = key.algorithms.get(token.algorithm);
    if (material !== undefined && (await isSignedWith(token, material))) return key;
  }
  return undefined;
}

/** Without `await`: an error of jose would collect the frames of everybody who awaits it, a forged token's cost. */
function isSignedWith({ compact, algorithm }: UnverifiedToken, material: CryptoKey): Promise<boolean> {
  const algorithms = algorithm === 'EdDSA' ? ['EdDSA', 'Ed25519'] : [algorithm];
  return compactVerify(compact, material, { algorithms }).then(() => true, isNoSignature);
}

function isNoSignature(error: unknown): false {
  if (error instanceof JOSEError) return false;
  throw error;
}

function namesUnknownKey({ keyId }: UnverifiedToken, set: KeySet): boolean {
  return keyId !== undefined && !set.some((key) => key.keyId === keyId);
}

function failure(token: UnverifiedToken, set: KeySet): RefusalCode {
  if (selectedKeys(set, token.keyId).length === 0) return 'key-unknown';
  return candidateKeys(set, token.algorithm, token.keyId).length === 0 ? 'algorithm' : 'signature';
}
