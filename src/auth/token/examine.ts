import { canWriteTodos } from '../admit.ts';
import { readIdentity } from '../identity.ts';
import { CHECKS, type CheckName, type Trust } from './checks.ts';
import {
  explainAudience,
  explainForm,
  explainHeader,
  explainIssuer,
  explainMissingKey,
  explainMissingRole,
  nameKey,
  nameRoleClaims,
  quote,
} from './explain.ts';
import { readToken, type UnverifiedToken } from './read-token.ts';
import { describeRefusal, type Refusal, utcTime } from './refusal.ts';

/** One line of what `token verify` says. `unknown`: an earlier failure left nothing to check. */
export interface Line {
  readonly check: 'form' | 'key' | CheckName | 'name' | 'roles' | 'may write';
  readonly result: 'ok' | 'failed' | 'unknown';
  readonly detail: string;
}

export interface Examination {
  /** What `authenticate` would make of it: the service knows the caller, or answers 401, or 503 without keys. */
  readonly verdict: 'accepted' | 'refused' | 'unavailable';
  readonly lines: readonly Line[];
}

const AFTER_FORM = ['key', 'signature', 'issuer', 'audience', 'times', 'name', 'roles', 'may write'] as const;

/**
 * The checks of the service, of which none is left out, so that a token with three faults shows all three. What is
 * said after a failed signature is what the token claims, not what is true.
 */
export async function examineToken(compact: string, trust: Trust): Promise<Examination> {
  const read = readToken(compact);
  if (read.outcome === 'refused') {
    const { refusal, header } = read;
    const explained = header === undefined ? explainForm(compact) : explainHeader(header, refusal.code);
    const detail = `${describeRefusal(refusal)}. ${explained}`.trim();
    return { verdict: 'refused', lines: [failed('form', detail), ...AFTER_FORM.map(unknown)] };
  }
  const { token } = read;
  const lines = [
    ok('form', `a signed token of ${compact.length} bytes, algorithm ${token.algorithm}, ${nameKey(token)}`),
  ];
  let verdict: Examination['verdict'] = 'accepted';
  for (const { name, fault: find } of CHECKS) {
    const fault = await find(token, trust);
    if (fault?.code === 'keys-unavailable') {
      verdict = 'unavailable';
      lines.push(failed('key', `no keys could be had from ${trust.keys.describe()}`), unknown('signature'));
      continue;
    }
    if (fault !== undefined && verdict === 'accepted') verdict = 'refused';
    lines.push(...EXPLANATIONS[name](fault, token, trust));
  }
  return { verdict, lines: [...lines, ...describeIdentity(token, trust, verdict === 'accepted')] };
}

type Explain = (fault: Refusal | undefined, token: UnverifiedToken, trust: Trust) => readonly Line[];

/** What is said of each check, whether it has found a fault or not. */
const EXPLANATIONS: Readonly<Record<CheckName, Explain>> = {
  signature: explainSignature,
  issuer: (fault, token, trust) => [lineOf('issuer', fault, explainIssuer(token, trust))],
  audience: (fault, token, trust) => [lineOf('audience', fault, explainAudience(fault, token, trust))],
  times: explainTimes,
};

function explainSignature(
  fault: Refusal | undefined,
  token: UnverifiedToken,
  { keys }: Trust,
): readonly Line[] {
  const known = ok('key', `known, from ${keys.describe()}`);
  if (fault === undefined) return [known, ok('signature', 'made with that key')];
  if (fault.code === 'signature') {
    const detail = 'made with another key, or the token was changed after it was signed';
    return [known, failed('signature', detail)];
  }
  return [failed('key', explainMissingKey(token, fault.code, keys)), unknown('signature')];
}

function explainTimes(
  fault: Refusal | undefined,
  { claims }: UnverifiedToken,
  trust: Trust,
): readonly Line[] {
  const now = trust.now() / 1000;
  const clock = `now it is ${utcTime(now)}, ${trust.clockToleranceSeconds} s of tolerance`;
  if (fault === undefined) {
    return [ok('times', `valid until ${utcTime(Number(claims.exp)) ?? 'the end of time'}; ${clock}`)];
  }
  const compared = fault.code !== 'expiration-missing' && fault.code !== 'time-form';
  return [failed('times', `${describeRefusal(fault)}${compared ? `; ${clock}` : ''}`)];
}

function describeIdentity(token: UnverifiedToken, trust: Trust, accepted: boolean): Line[] {
  const identity = readIdentity(token.claims, trust.claims);
  const editor = canWriteTodos(identity);
  const roles = identity.roles.map(quote).join(', ');
  const rolesDetail = roles === '' ? `none in ${nameRoleClaims(trust)}` : roles;
  return [
    ok('name', identity.name === null ? 'null: no claim of the token is a name' : quote(identity.name)),
    ok('roles', editor ? rolesDetail : `${rolesDetail}${explainMissingRole(token)}`),
    accepted
      ? ok('may write', editor ? 'yes' : 'no, only the role "editor" may; reading is allowed')
      : failed('may write', 'no, the token is refused'),
  ];
}

function lineOf(check: CheckName, fault: Refusal | undefined, detail: string): Line {
  return fault === undefined ? ok(check, detail) : failed(check, detail);
}

function ok(check: Line['check'], detail: string): Line {
  return { check, result: 'ok', detail };
}

function failed(check: Line['check'], detail: string): Line {
  return { check, result: 'failed', detail };
}

function unknown(check: Line['check']): Line {
  return { check, result: 'unknown', detail: 'not reached' };
}
