import type { Logger } from 'pino';
import { RecentCache } from '../recent-cache.ts';
import type { Authentication } from './authentication.ts';
import { CREDENTIALS_MISSING, invalidToken } from './challenge.ts';
import type { KeySet } from './keys/key-set.ts';
import type { Keys } from './keys/keys.ts';
import type { AuthSettings } from './settings.ts';
import { readIdentity } from './token/identity-claims.ts';
import { readToken } from './token/read-token.ts';
import type { Refusal } from './token/refusal.ts';
import {
  checkAudience,
  checkIssuer,
  checkTimes,
  readTimes,
  type TokenTimes,
} from './token/registered-claims.ts';
import { findKey } from './token/verify-signature.ts';

/** Identifies a caller from the value of `Authorization`. Synchronous when the token is remembered. */
export interface Authenticate {
  (authorization: string | undefined): Authentication | Promise<Authentication>;
  /** Who sends a token that is remembered and still good, else undefined. Nothing is verified or logged. */
  recall?(authorization: string): Authentication | undefined;
}

export interface AuthenticateParts {
  readonly log: Logger;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Bytes of tokens to keep: at least 5,000 in use of up to 1.6 KB, or 680 at the limit of 12 KiB. */
const REMEMBERED_BYTES = 16 * 1024 * 1024;

/** Bytes that a shorter token counts as: no more than 10,000 are kept. What is read from a token is never longer than it. */
const LEAST_BYTES = REMEMBERED_BYTES / 10_000;

/** What is kept of a verified token: who it is, and until when. */
interface Remembered {
  readonly authentication: Extract<Authentication, { outcome: 'identified' }>;
  readonly times: TokenTimes;
}

/** Characters. A `kid` in the log is for people and may be anybody's text. */
const MAX_LOGGED_KEY_ID = 100;

/** RFC 6750 §2.1, the scheme in any letter case (contract A4). */
const CREDENTIALS = /^bearer +(.+)$/is;

const MISSING: Authentication = {
  outcome: 'refused',
  code: 'credentials-missing',
  challenge: CREDENTIALS_MISSING,
};

/** The verdict on a token with these keys. Verified tokens are remembered, failures never. */
export function authenticateWith(
  keys: Keys,
  settings: Pick<AuthSettings, 'issuer' | 'audience' | 'claims' | 'clockTolerance'>,
  { log, now }: AuthenticateParts,
): Authenticate {
  const memory = new RecentCache<string, Remembered>(REMEMBERED_BYTES, (authorization) =>
    Math.max(authorization.length, LEAST_BYTES),
  );
  let rememberedSet: KeySet | undefined;

  function authenticate(authorization: string | undefined) {
    if (authorization === undefined) return MISSING;
    const known = remembered(authorization);
    if (known === undefined) return identify(authorization);
    const untimely = checkTimesNow(known.times);
    return untimely === undefined ? known.authentication : refuse(untimely, undefined);
  }

  function recall(authorization: string): Authentication | undefined {
    const known = remembered(authorization);
    return known && checkTimesNow(known.times) === undefined ? known.authentication : undefined;
  }

  function remembered(authorization: string) {
    if (rememberedSet !== keys.current()) {
      memory.clear();
      rememberedSet = keys.current();
    }
    return memory.get(authorization);
  }

  function checkTimesNow(times: TokenTimes): Refusal | undefined {
    return checkTimes(times, now() / 1000, settings.clockTolerance);
  }

  async function identify(authorization: string): Promise<Authentication> {
    const credentials = CREDENTIALS.exec(authorization)?.[1];
    if (credentials === undefined) return MISSING;
    const read = readToken(credentials);
    if (read.outcome === 'refused') return refuse(read.refusal, read.keyId);
    const { token } = read;
    const found = await findKey(token, keys);
    if (found.outcome === 'unavailable') return { outcome: 'unavailable', retryAfter: keys.retryAfter() };
    if (found.outcome === 'refused') return refuse({ code: found.code }, token.keyId);
    const stranger =
      checkIssuer(token.claims, settings.issuer) ?? checkAudience(token.claims, settings.audience);
    if (stranger !== undefined) return refuse(stranger, token.keyId);
    const times = readTimes(token.claims);
    if ('code' in times) return refuse(times, token.keyId);
    const untimely = checkTimesNow(times);
    if (untimely !== undefined) return refuse(untimely, token.keyId);
    const authentication = {
      outcome: 'identified',
      identity: readIdentity(token.claims, settings.claims),
    } as const;
    const spelledPlainly = authorization.length === 'Bearer '.length + credentials.length;
    if (spelledPlainly && found.set === rememberedSet) memory.set(authorization, { authentication, times });
    return authentication;
  }

  function refuse(refusal: Refusal, keyId: string | undefined): Authentication {
    const kid = keyId?.slice(0, MAX_LOGGED_KEY_ID);
    log.debug({ event: 'token-refused', code: refusal.code, kid }, 'token refused');
    return { outcome: 'refused', code: refusal.code, challenge: invalidToken(refusal) };
  }

  return Object.assign(authenticate, { recall });
}
