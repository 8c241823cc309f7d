import { claimAt } from './claim-path.ts';
import { DEVELOPMENT_ISSUER } from './development-key.ts';
import { findKey } from './find-key.ts';
import { readToken, type UnverifiedToken } from './gate.ts';
import { readIdentity } from './identity-claims.ts';
import type { Keys } from './keys.ts';
import { canWriteTodos } from './policy.ts';
import { describeRefusal, utcTime } from './refusal.ts';
import { checkAudience, checkIssuer, checkTimes, readTimes } from './registered-claims.ts';
import type { AuthSettings } from './settings.ts';

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

type Expectations = Pick<AuthSettings, 'issuer' | 'audience' | 'claims' | 'clockTolerance'>;

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
  const gate = readToken(compact);
  if (gate.outcome === 'refused') {
    const detail = `${describeRefusal(gate.refusal)}. ${explainForm(compact)}`.trim();
    return { verdict: 'refused', checks: [failed('form', detail), ...unknown(AFTER_FORM)] };
  }
  const { token } = gate;
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
  const known = (keys.current() ?? []).map(({ keyId, algorithms }) => {
    return `${keyId === undefined ? 'one without kid' : quote(keyId)} for ${[...algorithms.keys()].join(', ')}`;
  });
  const detail =
    found.code === 'algorithm'
      ? `no key with ${nameKey(token)} is for ${token.algorithm}`
      : `no key with ${nameKey(token)}`;
  const list = known.length === 0 ? 'there are none' : `there is ${known.join('; ')}`;
  return [failed('key', `${detail} in ${keys.describe()}: ${list}`), ...unknown(['signature'])];
}

function explainIssuer({ claims }: UnverifiedToken, { issuer }: Expectations): string {
  const received = claimAt(claims, ['iss']);
  if (received === issuer) return quote(issuer);
  const detail = `must be ${quote(issuer)} (TODO_AUTH_ISSUER), received ${quoteClaim(received)}`;
  if (received === DEVELOPMENT_ISSUER)
    return `${detail}: a development token, which only development accepts`;
  if (issuer === DEVELOPMENT_ISSUER) {
    return `must be ${quote(issuer)}, received ${quoteClaim(received)}: no TODO_AUTH_ISSUER is set`;
  }
  if (received === `${issuer}/` || `${String(received)}/` === issuer)
    return `${detail}: mind the final slash`;
  return detail;
}

function explainAudience({ claims }: UnverifiedToken, { audience }: Expectations): string {
  const received = quoteClaim(claimAt(claims, ['aud']));
  return received === quote(audience)
    ? received
    : `must be or contain ${quote(audience)}, received ${received}`;
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
  const rolesDetail = roles === '' ? `none in ${roleClaims(settings)}` : roles;
  return [
    ok('name', identity.name === null ? 'null: no claim of the token is a name' : quote(identity.name)),
    ok('roles', editor ? rolesDetail : `${rolesDetail}${explainMissingRole(token, identity.roles)}`),
    accepted
      ? ok('may write', editor ? 'yes' : 'no, only the role "editor" may; reading is allowed')
      : failed('may write', 'no, the token is refused'),
  ];
}

function roleClaims({ claims }: Expectations): string {
  if (claims.role === undefined) return 'the claims "role" and "roles"';
  return `the claim ${quote(claims.role.length === 1 ? String(claims.role[0]) : toPointer(claims.role))}`;
}

/** Looks where else `editor` stands: the usual reason why a right token may not write. */
function explainMissingRole({ claims }: UnverifiedToken, roles: readonly string[]): string {
  const almost = roles.find((role) => role.trim().toLowerCase() === 'editor');
  if (almost !== undefined) return `; roles are compared exactly, ${quote(almost)} is not "editor"`;
  const elsewhere = findRole(claims, []);
  if (elsewhere === undefined) return '';
  return `; "editor" stands in another claim: TODO_AUTH_ROLE_CLAIM=${quote(toPointer(elsewhere))} would read it`;
}

function findRole(value: unknown, path: readonly string[]): readonly string[] | undefined {
  if (value === 'editor') return path;
  if (Array.isArray(value)) return value.includes('editor') ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = findRole(member, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** RFC 6901 §3. */
function toPointer(path: readonly string[]): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** What people paste by mistake. */
function explainForm(compact: string): string {
  const parts = compact.split('.').length;
  if (/^bearer\b/i.test(compact)) return 'Leave out the word "Bearer".';
  if (/["']/.test(compact)) return 'It has quotation marks in it.';
  if (/\s/.test(compact)) return 'It has white space in it.';
  if (parts === 5) return 'It has five parts: an encrypted token. Ask the issuer for a signed one.';
  if (parts === 1) return 'It has one part: not a JWT. Ask the issuer for an access token for this audience.';
  if (parts !== 3) return `It has ${parts} parts, and a signed token has three.`;
  if (compact.includes('=')) return 'It has padding ("="), which RFC 7515 §2 leaves out.';
  return '';
}

function nameKey({ keyId }: UnverifiedToken): string {
  return keyId === undefined ? 'no kid' : `kid ${quote(keyId)}`;
}

function quoteClaim(value: unknown): string {
  return value === undefined ? 'nothing' : quote(value);
}

/** JSON in which nothing moves a terminal's cursor or turns the direction of writing. */
function quote(value: unknown): string {
  return JSON.stringify(value).replaceAll(/\p{C}/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
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
