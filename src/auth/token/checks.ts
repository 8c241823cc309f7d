import { candidateKeys, type KeySet, type Keys, selectedKeys } from '../keys/keys.ts';
import { hasRequiredClaim } from '../required-claims.ts';
import type { AuthSettings, TrustedTokens } from '../settings.ts';
import { type Claims, claimAt } from './identity.ts';
import type { UnverifiedToken } from './read-token.ts';
import type { Refusal, RefusalCode } from './refusal.ts';

/** The rules for a token, and the claims that identify the caller. */
export interface Trust extends TrustedTokens, Pick<AuthSettings, 'claims' | 'clockToleranceSeconds'> {
  readonly keys: Keys;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The reason why a token is refused, or that the issuer has given no key yet, which is no fault of the token. */
export type Fault = Refusal | { readonly code: 'keys-unavailable' };

/** The fault of a token; undefined when there is none. */
type Verdict = Fault | undefined | Promise<Fault | undefined>;

export type CheckName =
  | 'type'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'audience claim'
  | 'required'
  | 'times';

interface Check {
  readonly name: CheckName;
  /** Whether a setting asks for the check; undefined: it is always made. Without the setting, `fault` finds none. */
  readonly isAsked?: (trust: Trust) => boolean;
  /** The fault that this check finds. It does not depend on the checks before it. */
  fault(token: UnverifiedToken, trust: Trust): Verdict;
}

/** A check that needs no key. */
interface ClaimCheck extends Check {
  fault(token: UnverifiedToken, trust: Trust): Refusal | undefined;
}

const CLAIM_CHECKS: readonly ClaimCheck[] = [
  {
    // RFC 7519 §4.1.1: equal character by character, no normalization.
    name: 'issuer',
    fault: ({ claims }, { issuer }) => (claimAt(claims, ['iss']) === issuer ? undefined : { code: 'issuer' }),
  },
  {
    // RFC 7519 §4.1.3: an `aud` counts whenever it is there, also when another claim is configured.
    name: 'audience',
    fault({ claims }, { audiences, audienceClaim }) {
      const aud = claimAt(claims, ['aud']);
      const mayBeMissing = audienceClaim !== undefined;
      return (mayBeMissing && aud === undefined) || isFor(audiences, aud) ? undefined : { code: 'audience' };
    },
  },
  {
    name: 'audience claim',
    isAsked: ({ audienceClaim }) => audienceClaim !== undefined,
    fault({ claims }, { audiences, audienceClaim }) {
      const isGood = audienceClaim === undefined || isFor(audiences, claimAt(claims, audienceClaim));
      return isGood ? undefined : { code: 'audience' };
    },
  },
  {
    name: 'required',
    isAsked: ({ requiredClaims }) => requiredClaims !== undefined,
    fault({ claims }, { requiredClaims = [] }) {
      const lacking = requiredClaims.find((required) => !hasRequiredClaim(claims, required));
      return lacking && { code: 'required-claim', claim: lacking.name };
    },
  },
  {
    name: 'times',
    fault: ({ claims }, { now, clockToleranceSeconds }) =>
      checkTimes(timesOf(claims), now() / 1000, clockToleranceSeconds),
  },
];

/** Whether a claim is a string, or a list of strings, that names one of the audiences (contract A13). */
function isFor(audiences: readonly string[], claim: unknown): boolean {
  const list: unknown[] = Array.isArray(claim) ? claim : [claim];
  return list.every((value) => typeof value === 'string') && list.some((value) => audiences.includes(value));
}

/** Every check of a token that could be read, in their order. There is no other. */
export const CHECKS: readonly Check[] = [
  {
    // RFC 9068 §4: the type of the token, where one is required.
    name: 'type',
    isAsked: ({ tokenType }) => tokenType !== undefined,
    fault: ({ type }, { tokenType }) =>
      tokenType === undefined || type === tokenType ? undefined : { code: 'kind' },
  },
  { name: 'signature', fault: checkSignature },
  ...CLAIM_CHECKS,
];

/** The fault of the first check that finds one; undefined for a valid token. Later checks are not made. */
export function firstFault(token: UnverifiedToken, trust: Trust, from = 0): Verdict {
  for (let at = from; at < CHECKS.length; at += 1) {
    const fault = CHECKS[at]?.fault(token, trust);
    if (fault instanceof Promise) return fault.then((found) => found ?? firstFault(token, trust, at + 1));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The fault of a signature, by the keys that may have made it (contract A6; A7). Does NOT check the claims. */
function checkSignature(token: UnverifiedToken, trust: Trust): Verdict {
  const { keys } = trust;
  if (keys.current() !== undefined) return checkWithCurrent(token, trust, false);
  return keys.refresh().then(() => checkWithCurrent(token, trust, false));
}

/** @param asked Whether the source has been asked for the token already: it is asked once. */
function checkWithCurrent(token: UnverifiedToken, trust: Trust, asked: boolean): Verdict {
  const { keys } = trust;
  const set = keys.current();
  if (set === undefined) return { code: 'keys-unavailable' };
  const judge = (good: boolean): Verdict => {
    if (set !== keys.current()) return checkWithCurrent(token, trust, asked);
    if (good) return undefined;
    const refused = { code: failure(token, set) };
    // The source is asked only for a token that every check without keys accepts.
    if (asked || CLAIM_CHECKS.some((check) => check.fault(token, trust) !== undefined)) return refused;
    // With the same keys the result is the same: a forged token is verified once.
    return keys.refresh(token.keyId).then(() => {
      return set === keys.current() ? refused : checkWithCurrent(token, trust, true);
    });
  };
  const made = isMadeWith(candidateKeys(set, token.algorithm, token.keyId), token);
  return made instanceof Promise ? made.then(judge) : judge(made);
}

/** Whether a key has made the signature. One is tried at once: a forged token must not hold the event loop for five. */
function isMadeWith(
  [key, ...more]: KeySet,
  token: UnverifiedToken,
  where?: 'elsewhere',
): boolean | Promise<boolean> {
  if (key === undefined) return false;
  const verify = key.algorithms.get(token.algorithm);
  const made = verify?.(token.signingInput, token.signature, where) ?? false;
  if (made instanceof Promise) return made.then((good) => good || isMadeWith(more, token, 'elsewhere'));
  return made || isMadeWith(more, token, 'elsewhere');
}

function failure(token: UnverifiedToken, set: KeySet): RefusalCode {
  if (selectedKeys(set, token.keyId).length === 0) return 'key-unknown';
  return candidateKeys(set, token.algorithm, token.keyId).length === 0 ? 'algorithm' : 'signature';
}

/** The claims of the times in which a token is valid; each may have any type or be missing. */
export type Times = Readonly<Record<'exp' | 'nbf' | 'iat', unknown>>;

export function timesOf(claims: Claims): Times {
  return { exp: claimAt(claims, ['exp']), nbf: claimAt(claims, ['nbf']), iat: claimAt(claims, ['iat']) };
}

/**
 * RFC 7519 §4.1.4 to §4.1.6: valid before `exp` and from `nbf` on, each moved by the tolerance for clock skew. `exp` is
 * required; every time must be a finite number, which `1e999` is not (contract A5). `now` and `tolerance` in seconds.
 */
export function checkTimes({ exp, nbf, iat }: Times, now: number, tolerance: number): Refusal | undefined {
  if (exp === undefined) return { code: 'expiration-missing' };
  if (!isNumericDate(exp)) return { code: 'time-form' };
  if (nbf !== undefined && !isNumericDate(nbf)) return { code: 'time-form' };
  if (iat !== undefined && !isNumericDate(iat)) return { code: 'time-form' };
  if (now >= exp + tolerance) return { code: 'expired', time: exp };
  if (nbf !== undefined && now < nbf - tolerance) return { code: 'not-yet-valid', time: nbf };
  if (iat !== undefined && now < iat - tolerance) return { code: 'issued-later' };
  return undefined;
}

function isNumericDate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
