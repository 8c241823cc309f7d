import { draft, forge } from './forge.ts';
import { otherAlgorithms, unknownKeys } from './hostile/algorithms.ts';
import { brokenClaims, otherAudiences, otherIssuers } from './hostile/claims.ts';
import { brokenForms, tooLong } from './hostile/form.ts';
import { brokenHeaders, otherKinds, refusedParameters } from './hostile/headers.ts';
import type { Row } from './hostile/row.ts';
import { brokenSignatures } from './hostile/signatures.ts';
import {
  brokenTimes,
  expired,
  expiredBeforeDates,
  issuedLater,
  missingExpirations,
  tooEarly,
} from './hostile/times.ts';

/** A token that must be refused, and its twin without the fault that must be accepted. */
export interface Hostile {
  /** What it breaks: a row of the contract or a section of a standard. */
  readonly rule: string;
  readonly what: string;
  /** The `error_description`, so that no token is refused for another reason than its fault. */
  readonly says: string | RegExp;
  readonly twin: string;
  readonly token: string;
  /** Which configuration looks at it. */
  readonly keys: 'issuer' | 'secret';
}

const FORM = 'The token is not a signed token in compact form';
const HEADER = 'The header of the token cannot be read';
const PARAMETER = 'The header of the token has a parameter that is not accepted';
const KIND = 'The token is of a kind that is not accepted';
const ALGORITHM = 'The algorithm of the token is not accepted';
const CLAIMS = 'The claims of the token cannot be read';
const UNKNOWN_KEY = 'The key of the token is unknown';
const SIGNATURE = 'The signature of the token is invalid';
const ISSUED_BY = 'The issuer of the token is not accepted';
const AUDIENCE_OTHER = 'The token is for another audience';
const NO_EXPIRATION = 'The token has no expiration time';
const NO_NUMBER = 'The token has a time that is not a number';
const EXPIRED = /^The token expired at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const TOO_EARLY = /^The token is not valid before \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** All of them. Made when called, because their times are those of the clock. */
export function hostileTokens(): readonly Hostile[] {
  return GROUPS.flatMap(([says, rows]) =>
    rows().map(([rule, what, sabotage, key = 'p256', made = draft(key)]) => ({
      rule,
      what,
      says,
      twin: forge(made),
      token: sabotage(made),
      keys: key === 'secret' ? 'secret' : 'issuer',
    })),
  );
}

const GROUPS: readonly (readonly [string | RegExp, () => readonly Row[]])[] = [
  [FORM, brokenForms],
  ['The token is longer than 12 KiB', tooLong],
  [HEADER, brokenHeaders],
  [PARAMETER, refusedParameters],
  [KIND, otherKinds],
  [ALGORITHM, otherAlgorithms],
  [UNKNOWN_KEY, unknownKeys],
  [SIGNATURE, brokenSignatures],
  [CLAIMS, brokenClaims],
  [ISSUED_BY, otherIssuers],
  [AUDIENCE_OTHER, otherAudiences],
  [NO_EXPIRATION, missingExpirations],
  [NO_NUMBER, brokenTimes],
  [EXPIRED, expired],
  ['The token expired', expiredBeforeDates],
  [TOO_EARLY, tooEarly],
  ['The token was issued in the future', issuedLater],
];
