import type { Keys } from '../keys/keys.ts';
import { canWriteTodos } from '../policy.ts';
import {
  type Expectations,
  explainAudience,
  explainForm,
  explainIssuer,
  explainMissingKey,
  explainMissingRole,
  nameKey,
  nameRoleClaims,
  quote,
} from './explain.ts';
import { readIdentity } from './identity-claims.ts';
import { readToken, type UnverifiedToken } from './read-token.ts';
import { describeRefusal, utcTime } from './refusal.ts';
import { checkAudience, checkIssuer, checkTimes, readTimes } from './registered-claims.ts';
import { findKey } from './verify-signature.ts';

/** One line of what `token verify` says. `unknown`: an earlier failure left nothing to look at. */
export interface Check {
  readonly check: CheckName;
  readonly result: 'ok' | 'failed' | 'unknown';
  readonly detail: string;
}

export type CheckName =
  | 'form'
  | 'key'
  | 'signature'
  | 'issuer'
  | 'audience'
  | 'times'
  | 'name'
  | 'roles'
  | 'may write';

export interface Examination {
  /** What `authenticate` would make of it: the service knows the caller, or answers 401, or 503 without keys. */
  readonly verdict: 'accepted' | 'refused' | 'unavailable';
  readonly checks: readonly Check[];
}

/**
 * Every check on its own, so that a token with three faults shows all three. What is said after a failed
 * signature is what the token claims, not what is true. `now` in seconds since 1970.
 */
export async function examineToken(
  compact: string,
  keys: Keys,
  settings: Expectations,
  now: number,
): Promise<Examination> {
  const read = readToken(compact);
  if (read.outcome === 'refused') {
    const detail = `${describeRefusal(read.refusal)}. ${explainForm(compact)}`.trim();
    return { verdict: 'refused', checks: [failed('form', detail), ...unknown(AFTER_FORM)] };
  }
  const { token } = read;
  const binding = [
    ok('form', `a signed token of ${compact.length} bytes, algorithm ${token.algorithm}, ${nameKey(token)}`),
    ...(await checkSignature(token, keys)),
    checkOf(
      'issuer',
      checkIssuer(token.claims, settings.issuer) === undefined,
      explainIssuer(token, settings),
    ),
    checkOf(
      'audience',
      checkAudience(token.claims, settings.audience) === undefined,
      explainAudience(token, settings),
    ),
    examineTimes(token, settings.clockTolerance, now),
  ];
  const accepted = binding.every(({ result }) => result === 'ok');
  const verdict = accepted ? 'accepted' : keys.current() === undefined ? 'unavailable' : 'refused';
  return { verdict, checks: [...binding, ...describeIdentity(token, settings, accepted)] };
}

const AFTER_FORM: readonly CheckName[] = [
  'key',
  'signature',
  'issuer',
  'audience',
  'times',
  'name',
  'roles',
  'may write',
];

async function checkSignature(token: UnverifiedToken, keys: Keys): Promise<Check[]> {
  const found = await findKey(token, keys);
  if (found.outcome === 'verified') {
    return [ok('key', `known, from ${keys.describe()}`), ok('signature', 'made with that key')];
  }
  if (found.outcome === 'unavailable') {
    return [failed('key', `no keys could be had from ${keys.describe()}`), ...unknown(['signature'])];
  }
  if (found.code === 'signature') {
    const detail = 'made with another key, or the token was changed after it was signed';
    return [ok('key', `known, from ${keys.describe()}`), failed('signature', detail)];
  }
  return [failed('key', explainMissingKey(token, found.code, keys)), ...unknown(['signature'])];
}

function examineTimes({ claims }: UnverifiedToken, tolerance: number, now: number): Check {
  const times = readTimes(claims);
  if ('code' in times) return failed('times', describeRefusal(times));
  const refusal = checkTimes(times, now, tolerance);
  const clock = `now it is ${utcTime(now)}, ${tolerance} s of tolerance`;
  if (refusal !== undefined) return failed('times', `${describeRefusal(refusal)}; ${clock}`);
  return ok('times', `valid until ${utcTime(times.exp) ?? 'the end of time'}; ${clock}`);
}

function describeIdentity(token: UnverifiedToken, settings: Expectations, accepted: boolean): Check[] {
  const identity = readIdentity(token.claims, settings.claims);
  const editor = canWriteTodos(identity);
  const roles = identity.roles.map(quote).join(', ');
  const rolesDetail = roles === '' ? `none in ${nameRoleClaims(settings)}` : roles;
  return [
    ok('name', identity.name === null ? 'null: no claim of the token is a name' : quote(identity.name)),
    ok('roles', editor ? rolesDetail : `${rolesDetail}${explainMissingRole(token, identity.roles)}`),
    accepted
      ? ok('may write', editor ? 'yes' : 'no, only the role "editor" may; reading is allowed')
      : failed('may write', 'no, the token is refused'),
  ];
}

function checkOf(check: CheckName, good: boolean, detail: string): Check {
  return good ? ok(check, detail) : failed(check, detail);
}

function ok(check: CheckName, detail: string): Check {
  return { check, result: 'ok', detail };
}

function failed(check: CheckName, detail: string): Check {
  return { check, result: 'failed', detail };
}

function unknown(checks: readonly CheckName[]): Check[] {
  return checks.map((check) => ({ check, result: 'unknown', detail: 'not reached' }));
}
