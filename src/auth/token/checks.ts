import { andThen } from '../../and-then.ts';
import type { Keys } from '../keys/keys.ts';
import type { AuthSettings } from '../settings.ts';
import type { UnverifiedToken } from './read-token.ts';
import type { Refusal } from './refusal.ts';
import { checkAudience, checkIssuer, checkTimes } from './registered-claims.ts';
import { checkSignature, type KeysMissing } from './verify-signature.ts';

/** What a token is held against, and where it says who the caller is. */
export interface Trust
  extends Pick<AuthSettings, 'issuer' | 'audience' | 'claims' | 'clockToleranceSeconds'> {
  readonly keys: Keys;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Why a token is refused, or cannot be verified yet. */
export type Fault = Refusal | KeysMissing;

export type CheckName = 'signature' | 'issuer' | 'audience' | 'times';

interface Check {
  readonly name: CheckName;
  /** What is wrong; undefined when nothing is. Asks nothing of the checks before it. */
  fault(token: UnverifiedToken, trust: Trust): Fault | undefined | Promise<Fault | undefined>;
}

/** Every check of a token that could be read, in their order. There is no other. */
export const CHECKS: readonly Check[] = [
  { name: 'signature', fault: (token, { keys }) => checkSignature(token, keys) },
  { name: 'issuer', fault: ({ claims }, { issuer }) => checkIssuer(claims, issuer) },
  { name: 'audience', fault: ({ claims }, { audience }) => checkAudience(claims, audience) },
  {
    name: 'times',
    fault: ({ claims }, { now, clockToleranceSeconds }) =>
      checkTimes(claims, now() / 1000, clockToleranceSeconds),
  },
];

/** The fault of the first check that finds one; undefined for a good token. The checks behind it are not made. */
export function firstFault(
  token: UnverifiedToken,
  trust: Trust,
  from = 0,
): Fault | undefined | Promise<Fault | undefined> {
  const check = CHECKS[from];
  if (check === undefined) return undefined;
  return andThen(check.fault(token, trust), (fault) => fault ?? firstFault(token, trust, from + 1));
}
