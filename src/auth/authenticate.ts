import { andThen } from '../promises.ts';
import { RecentCache } from '../recent-cache.ts';
import { type Identity, readIdentity } from './identity.ts';
import type { KeySet, KeysOptions } from './keys/keys.ts';
import { openKeys } from './keys/source.ts';
import type { AuthSettings } from './settings.ts';
import { type Fault, firstFault, type Trust, type Validity, validityOf } from './token/checks.ts';
import { readToken, type UnverifiedToken } from './token/read-token.ts';
import { CREDENTIALS_MISSING, invalidToken, type Refusal } from './token/refusal.ts';

/** What came of checking a request's `Authorization` header; `code` says it in a word, for log and metrics. */
export type Authentication =
  | { readonly outcome: 'identified'; readonly code: 'accepted'; readonly identity: Identity }
  /**
   * 401: `challenge` is the value of `WWW-Authenticate`, RFC 6750 §3. `keyId` is for the log: the `kid` of the token, so
   * anybody's text.
   */
  | {
      readonly outcome: 'refused';
      readonly code: string;
      readonly keyId?: string | undefined;
      readonly challenge: string;
    }
  /** 503: no key could be had from the issuer yet. `retryAfter` in seconds, at least 1. */
  | { readonly outcome: 'unavailable'; readonly code: 'keys-unavailable'; readonly retryAfter: number };

/**
 * Identifies a caller from the value of `Authorization`. A promise only when a key has to be fetched first, or another
 * thread verifies the signature; never when the token is remembered and its time has not run out.
 */
export type Authenticate = (authorization: string | undefined) => Authentication | Promise<Authentication>;

/** Bytes of tokens to keep: at least 5,000 in use of up to 1.6 KB, or 680 at the limit of 12 KiB. */
const REMEMBERED_BYTES = 16 * 1024 * 1024;

/** Bytes that a shorter token counts as: no more than 10,000 are kept. What is read from a token is never longer than it. */
const LEAST_BYTES = REMEMBERED_BYTES / 10_000;

/** What is kept of a verified token: who it is, and from when until when. */
interface Remembered {
  readonly authentication: Extract<Authentication, { outcome: 'identified' }>;
  readonly validity: Validity;
}

/** RFC 6750 §2.1, the scheme in any letter case (contract A4). */
const CREDENTIALS = /^bearer +(.+)$/is;

const MISSING: Authentication = {
  outcome: 'refused',
  code: 'credentials-missing',
  challenge: CREDENTIALS_MISSING,
};

/** The verdict on a token with these keys. Verified tokens are remembered, failures never. */
export function authenticateWith(trust: Trust): Authenticate {
  const { keys, now } = trust;
  const memory = new RecentCache<string, Remembered>(REMEMBERED_BYTES, (authorization) =>
    Math.max(authorization.length, LEAST_BYTES),
  );
  let rememberedSet: KeySet | undefined;

  return (authorization) => {
    if (authorization === undefined) return MISSING;
    const known = remembered(authorization);
    return known !== undefined && isValid(known.validity) ? known.authentication : identify(authorization);
  };

  function remembered(authorization: string) {
    if (rememberedSet !== keys.current()) {
      memory.clear();
      rememberedSet = keys.current();
    }
    return memory.get(authorization);
  }

  function isValid({ from, until }: Validity): boolean {
    const seconds = now() / 1000;
    return from <= seconds && seconds < until;
  }

  function identify(authorization: string): Authentication | Promise<Authentication> {
    const credentials = CREDENTIALS.exec(authorization)?.[1];
    if (credentials === undefined) return MISSING;
    const read = readToken(credentials);
    if (read.outcome === 'refused') return refuse(read.refusal, read.keyId);
    const { token } = read;
    const spelledPlainly = authorization.length === 'Bearer '.length + credentials.length;
    const set = keys.current();
    return andThen(firstFault(token, trust), (fault) => {
      if (fault !== undefined) return answerTo(fault, token);
      const authentication = {
        outcome: 'identified',
        code: 'accepted',
        identity: readIdentity(token.claims, trust.claims),
      } as const;
      // A set never comes back: it was this one all the time.
      const verifiedWithRemembered = set !== undefined && set === keys.current() && set === rememberedSet;
      if (spelledPlainly && verifiedWithRemembered) {
        const validity = validityOf(token.claims, trust.clockToleranceSeconds);
        memory.set(authorization, { authentication, validity });
      }
      return authentication;
    });
  }

  function answerTo(fault: Fault, { keyId }: UnverifiedToken): Authentication {
    if (fault.code !== 'keys-unavailable') return refuse(fault, keyId);
    return { outcome: 'unavailable', code: fault.code, retryAfter: keys.retryAfter() };
  }
}

function refuse(refusal: Refusal, keyId: string | undefined): Authentication {
  return { outcome: 'refused', code: refusal.code, keyId, challenge: invalidToken(refusal) };
}

/** Knows callers by their tokens for as long as it is open. */
export interface Authenticator extends AsyncDisposable {
  readonly authenticate: Authenticate;
  /** True when a token could be verified now, else why not. */
  ready(): true | string;
  /** The key source, for the start lines; never secret. */
  describe(): string;
}

/**
 * Opens the key source and answers who is calling. Starts although an issuer is down: tokens are `unavailable`
 * until its keys are there.
 */
export async function openAuthenticator(
  settings: AuthSettings,
  options: KeysOptions,
): Promise<Authenticator> {
  const keys = await openKeys(settings, options);
  return {
    authenticate: authenticateWith({ ...settings, keys, now: Date.now }),
    ready: () => keys.current() !== undefined || `no keys yet from ${keys.describe()}`,
    describe: () => keys.describe(),
    [Symbol.asyncDispose]: () => keys[Symbol.asyncDispose](),
  };
}
