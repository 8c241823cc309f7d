import { type Draft, draft, forge, type KeyName } from './forge.ts';
import * as claims from './hostile/claims.ts';
import * as headers from './hostile/headers.ts';
import type { Row } from './hostile/row.ts';
import { brokenSignatures } from './hostile/signatures.ts';

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

const GROUPS: readonly (readonly [string | RegExp, readonly Row[]])[] = [
  ['The token is not a signed token in compact form', headers.brokenForms],
  ['The token is longer than 12 KiB', headers.tooLong],
  ['The header of the token cannot be read', headers.brokenHeaders],
  ['The header of the token has a parameter that is not accepted', headers.refusedParameters],
  ['The token is of a kind that is not accepted', [...headers.otherKinds, ...claims.otherKinds]],
  ['The algorithm of the token is not accepted', headers.otherAlgorithms],
  ['The key of the token is unknown', headers.unknownKeys],
  ['The signature of the token is invalid', brokenSignatures],
  ['The claims of the token cannot be read', claims.brokenClaims],
  ['The issuer of the token is not accepted', claims.otherIssuers],
  ['The token is for another audience', claims.otherAudiences],
  ['The token has no expiration time', claims.missingExpirations],
  ['The token has a time that is not a number', claims.brokenTimes],
  [/^The token expired at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, claims.expired],
  ['The token expired at 2001-09-09T01:46:39Z', claims.expiredInAFraction],
  ['The token expired', claims.expiredBeforeDates],
  [/^The token is not valid before \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, claims.tooEarly],
  ['The token is not valid yet', claims.tooEarlyForDates],
  ['The token was issued in the future', claims.issuedLater],
];

interface Twin {
  readonly made: Draft;
  readonly twin: string;
}

/** The twin of every row that has none of its own, by key. */
const twins = new Map<KeyName | 'secret', Twin>();

function twinBy(key: KeyName | 'secret'): Twin {
  const made = draft(key);
  const known = twins.get(key) ?? { made, twin: forge(made) };
  twins.set(key, known);
  return known;
}

export const HOSTILE: readonly Hostile[] = GROUPS.flatMap(([says, rows]) =>
  rows.map(([rule, what, sabotage, key = 'p256', own]) => {
    const { made, twin } = own === undefined ? twinBy(key) : { made: own, twin: forge(own) };
    return { rule, what, says, twin, token: sabotage(made), keys: key === 'secret' ? 'secret' : 'issuer' };
  }),
);
