import { LRUCache } from 'lru-cache';
import { actor, type Identity } from '../caller.ts';
import type { LogEvent } from '../events.ts';
import type { Answer } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import type { Admit } from '../http/pipeline.ts';
import type { Access } from '../http/route.ts';
import { type KeySet, shownKeyId } from './keys/keys.ts';
import { checkTimes, type Fault, firstFault, type Times, type Trust, timesOf } from './token/checks.ts';
import { readIdentity } from './token/identity.ts';
import { readToken } from './token/read-token.ts';
import { CHALLENGE, INSUFFICIENT_SCOPE, invalidToken, type Refusal } from './token/refusal.ts';

/** The way in for callers with bearer tokens. */
export function admitWith(authenticate: Authenticate, logEvent: LogEvent): Admit {
  return (call, access) => {
    if (access === 'open') return undefined;
    const verdict = call.step(
      'authenticate',
      () => authenticate(call.headers.authorization),
      ({ code }) => code,
    );
    if (verdict instanceof Promise) return verdict.then((known) => decide(call, access, known));
    return decide(call, access, verdict);
  };

  function decide(call: Call, access: Access, result: Authentication): Answer | undefined {
    if ('answer' in result) {
      const { code, answer, refused } = result;
      if (refused !== undefined) {
        const { keyId, claim } = refused;
        logEvent({ event: 'token-refused', code, kid: shownKeyId(keyId), claim, traceId: call.traceId });
      }
      return answer;
    }
    const { identity } = result;
    if (access === 'CanWriteTodos' && !canWriteTodos(identity)) {
      const { method, found, traceId } = call;
      logEvent({ event: 'todo-write-refused', method, id: found?.id, ...actor(identity), traceId });
      return { status: 403, headers: { 'www-authenticate': INSUFFICIENT_SCOPE } };
    }
    call.identity = identity;
    return undefined;
  }
}

/** The policy `CanWriteTodos`: the role `editor`, exactly (contract Authentication 3), never the maker of a todo. */
export function canWriteTodos({ roles }: Identity): boolean {
  return roles.includes('editor');
}

/** The result of checking a request's `Authorization` header; `code` is its word for log and metrics. */
export type Authentication =
  | { readonly code: 'accepted'; readonly identity: Identity }
  | {
      readonly code: string;
      /** 401 with a challenge (RFC 6750 §3), or 503 while the issuer has given no key. */
      readonly answer: Answer;
      /** For the log, of a 401: the token's `kid`, which any client can choose, and the required claim it lacks. */
      readonly refused?: { readonly keyId: string | undefined; readonly claim: string | undefined };
    };

/**
 * Identifies a caller from the value of `Authorization`. A promise only when a key has to be fetched first, or another
 * thread verifies the signature; never when the token is remembered and its time has not run out.
 */
export type Authenticate = (authorization: string | undefined) => Authentication | Promise<Authentication>;

/** Bytes of tokens to keep: 9,998 in use of up to 1.6 KB, or 1,364 at the limit of 12 KiB. */
const REMEMBERED_BYTES = 16 * 1024 * 1024;

/** Bytes that a shorter token counts as: at most 10,000 are kept. Data read from a token is never longer than it. */
const LEAST_BYTES = Math.ceil(REMEMBERED_BYTES / 10_000);

type Remembered = { readonly authentication: Authentication; readonly times: Times };

/** RFC 6750 §2.1, the scheme in any letter case (contract A4). */
const CREDENTIALS = /^bearer +(.+)$/is;

const MISSING: Authentication = {
  code: 'credentials-missing',
  answer: { status: 401, headers: { 'www-authenticate': CHALLENGE } },
  refused: { keyId: undefined, claim: undefined },
};

/** Credentials of another kind, or a token that stands alone. The header may be the token: no line has any of it. */
const WITHOUT_BEARER: Authentication = { ...MISSING, code: 'bearer-missing' };

/** The verdict on a token with these keys. Verified tokens are remembered, failures never. */
export function authenticateWith(trust: Trust): Authenticate {
  const { keys, now, clockToleranceSeconds } = trust;
  const memory = new LRUCache<string, Remembered>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: (_, authorization) => Math.max(authorization.length, LEAST_BYTES),
  });
  let rememberedSet: KeySet | undefined;

  return (authorization) => {
    if (authorization === undefined) return MISSING;
    if (rememberedSet !== keys.current()) {
      memory.clear();
      rememberedSet = keys.current();
    }
    const known = memory.get(authorization);
    const isGood = known && checkTimes(known.times, now() / 1000, clockToleranceSeconds) === undefined;
    return isGood ? known.authentication : identify(authorization);
  };

  function identify(authorization: string): Authentication | Promise<Authentication> {
    const credentials = CREDENTIALS.exec(authorization)?.[1];
    if (credentials === undefined) return WITHOUT_BEARER;
    const token = readToken(credentials);
    if ('code' in token) return refuse(token, token.keyId);
    const spelledPlainly = authorization.length === 'Bearer '.length + credentials.length;
    const set = keys.current();
    const judge = (fault: Fault | undefined): Authentication => {
      if (fault?.code === 'keys-unavailable') {
        const retryAfter = String(keys.retryAfter());
        return { code: fault.code, answer: { status: 503, headers: { 'retry-after': retryAfter } } };
      }
      if (fault !== undefined) return refuse(fault, token.keyId);
      const identity = readIdentity(token.claims, trust.claims);
      const authentication: Authentication = { code: 'accepted', identity };
      // Tokens are remembered for the set in force alone: a later one may refuse this token.
      if (spelledPlainly && set === rememberedSet) {
        memory.set(authorization, { authentication, times: timesOf(token.claims) });
      }
      return authentication;
    };
    const fault = firstFault(token, trust);
    return fault instanceof Promise ? fault.then(judge) : judge(fault);
  }
}

function refuse(refusal: Refusal, keyId: string | undefined): Authentication {
  const headers = { 'www-authenticate': invalidToken(refusal) };
  const refused = { keyId, claim: refusal.claim };
  return { code: refusal.code, answer: { status: 401, headers }, refused };
}
