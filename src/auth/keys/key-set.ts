import type { Algorithm } from './algorithms.ts';
import { readJwk, type SkippedKey, type VerificationKey } from './verification-key.ts';

/** Keys in canonical order. The same array as long as nothing about the set has changed. */
export type KeySet = readonly VerificationKey[];

export type KeySetResult =
  | { readonly outcome: 'read'; readonly keys: KeySet; readonly skipped: readonly SkippedKey[] }
  | { readonly outcome: 'unusable'; readonly reason: string; readonly skipped: readonly SkippedKey[] };

/** More than any issuer publishes; a longer list is a mistake or an attack. */
const MAX_KEYS = 50;

/** Signatures tried for one token (contract A7). */
const MAX_TRIES = 5;

/** A JWK Set (RFC 7517 §5) or a single JWK. Keys that cannot be used are skipped; a set without any is unusable. */
export function readKeySet(document: unknown): KeySetResult {
  const list = listKeys(document);
  if (list === undefined) return unusable('it must be a JWK or a JWK Set with "keys"');
  if (list.length > MAX_KEYS)
    return unusable(`it must have at most ${MAX_KEYS} keys, received ${list.length}`);
  const keys: VerificationKey[] = [];
  const skipped: SkippedKey[] = [];
  for (const jwk of list) {
    const result = readJwk(jwk);
    if (result.outcome === 'usable') keys.push(result.key);
    else skipped.push(result);
  }
  if (keys.length === 0) return unusable('it must have a key that verifies signatures', skipped);
  return { outcome: 'read', keys: inOrder(keys), skipped };
}

/** The order in which an issuer lists its keys means nothing and must not make two sets of one. */
export function inOrder(keys: readonly VerificationKey[]): KeySet {
  const byId = new Map(keys.map((key) => [key.id, key]));
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

export function sameKeys(a: KeySet, b: KeySet): boolean {
  return a.length === b.length && a.every((key, at) => key.id === b[at]?.id);
}

/** The keys that a token may be signed with, those of its `kid` first (contract A6 and A7). */
export function candidateKeys(keys: KeySet, algorithm: Algorithm, keyId: string | undefined): KeySet {
  return selectedKeys(keys, keyId)
    .filter((key) => key.algorithms.has(algorithm))
    .slice(0, MAX_TRIES);
}

/** The keys of that `kid`, then those without one; all of them for a token without `kid`. */
export function selectedKeys(keys: KeySet, keyId: string | undefined): KeySet {
  if (keyId === undefined) return keys;
  return [...keys.filter((key) => key.keyId === keyId), ...keys.filter((key) => key.keyId === undefined)];
}

/** A line for people: `the key "2024-a" is skipped: it is a private key`. */
export function describeSkipped({ keyId, reason }: SkippedKey): string {
  return `${keyId === undefined ? 'a key without "kid"' : `the key ${JSON.stringify(keyId)}`}: ${reason}`;
}

function listKeys(document: unknown): readonly unknown[] | undefined {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return undefined;
  if (Object.hasOwn(document, 'keys')) {
    const keys: unknown = Reflect.get(document, 'keys');
    return Array.isArray(keys) ? keys : undefined;
  }
  return Object.hasOwn(document, 'kty') ? [document] : undefined;
}

export function unusable(reason: string, skipped: readonly SkippedKey[] = []): KeySetResult {
  return { outcome: 'unusable', reason, skipped };
}
