import { quoteJson } from '../../quote.ts';
import { canWriteTodos } from '../admit.ts';
import { DEVELOPMENT_ISSUER } from '../development.ts';
import { type Claims, claimAt, readIdentity } from '../identity.ts';
import type { Keys } from '../keys/keys.ts';
import { CHECKS, type CheckName, type Trust } from './checks.ts';
import { explainMissingRole, toPointer } from './missing-role.ts';
import {
  type Header,
  MAX_TOKEN_LENGTH,
  REFUSED_PARAMETERS,
  readToken,
  type UnverifiedToken,
} from './read-token.ts';
import { describeRefusal, type Refusal, type RefusalCode, utcTime } from './refusal.ts';

// The sentences of `token verify`. They quote the token, so none of them is for an answer (contract A2).

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
  const token = readToken(compact);
  if ('code' in token) {
    const { code, header, claims } = token;
    const explained = header === undefined ? explainForm(compact) : explainHeader(header, claims, code);
    const detail = `${describeRefusal(token)}. ${explained}`.trim();
    return { verdict: 'refused', lines: [line('form', 'failed', detail), ...AFTER_FORM.map(notReached)] };
  }
  const form = `a signed token of ${compact.length} bytes, algorithm ${token.algorithm}, ${nameKey(token)}`;
  const lines = [line('form', 'ok', form)];
  let verdict: Examination['verdict'] = 'accepted';
  for (const { name, fault: find } of CHECKS) {
    const fault = await find(token, trust);
    if (fault?.code === 'keys-unavailable') {
      verdict = 'unavailable';
      lines.push(line('key', 'failed', `no keys could be had from ${trust.keys.describe()}`));
      lines.push(notReached('signature'));
      continue;
    }
    if (fault !== undefined && verdict === 'accepted') verdict = 'refused';
    if (name === 'signature') lines.push(...explainSignature(fault, token, trust));
    else lines.push(line(name, fault === undefined ? 'ok' : 'failed', EXPLAIN[name](fault, token, trust)));
  }
  return { verdict, lines: [...lines, ...describeIdentity(token, trust, verdict === 'accepted')] };
}

type Explain<Said> = (fault: Refusal | undefined, token: UnverifiedToken, trust: Trust) => Said;

/** What is said of each other check, whether it has found a fault or not. */
const EXPLAIN: Readonly<Record<Exclude<CheckName, 'signature'>, Explain<string>>> = {
  issuer: (_fault, { claims }, { issuer }) => explainIssuer(claimAt(claims, ['iss']), issuer),
  audience(fault, { claims }, { audience }) {
    const aud = claimAt(claims, ['aud']);
    if (fault === undefined) return `${quoteClaim(aud)}${audience === 'account' ? ACCOUNT : ''}`;
    const detail = `must be or contain ${quoteJson(audience)}, received ${quoteClaim(aud)}`;
    const list: unknown[] = Array.isArray(aud) ? aud : [aud];
    if (list.includes(audience)) return `${detail}: a list may hold strings only`;
    if (Object.hasOwn(claims, 'at_hash')) return `${detail}: an ID token (it has "at_hash"), ${SEND_ACCESS}`;
    return list.includes('account') ? `${detail}${ACCOUNT}` : detail;
  },
  times(fault, { claims }, trust) {
    const clock = `now it is ${utcTime(trust.now() / 1000)}, ${trust.clockToleranceSeconds} s of tolerance`;
    if (fault === undefined) {
      return `valid until ${utcTime(Number(claims.exp)) ?? 'the end of time'}; ${clock}`;
    }
    const compared = fault.code !== 'expiration-missing' && fault.code !== 'time-form';
    return `${describeRefusal(fault)}${compared ? `; ${clock}` : ''}`;
  },
};

const ACCOUNT =
  '; Keycloak writes "account" into most tokens of a realm: never trust it, add a mapper "Audience"';

const SEND_ACCESS = 'send the access token in its place';

const explainSignature: Explain<readonly Line[]> = (fault, token, { keys }) => {
  if (fault !== undefined && fault.code !== 'signature') {
    return [line('key', 'failed', explainMissingKey(token, fault.code, keys)), notReached('signature')];
  }
  const changed = 'made with another key, or the token was changed after it was signed';
  const bound = Object.hasOwn(token.claims, 'cnf')
    ? '; the token is bound to a key or a certificate ("cnf"), which is not checked here'
    : '';
  return [
    line('key', 'ok', `known, from ${keys.describe()}`),
    fault === undefined
      ? line('signature', 'ok', `made with that key${bound}`)
      : line('signature', 'failed', changed),
  ];
};

function describeIdentity(token: UnverifiedToken, trust: Trust, accepted: boolean): Line[] {
  const identity = readIdentity(token.claims, trust.claims);
  const editor = canWriteTodos(identity);
  const roles = identity.roles.map(quoteJson).join(', ') || `none in ${nameRoleClaims(trust)}`;
  const name = identity.name === null ? 'null: no claim of the token is a name' : quoteJson(identity.name);
  const mayWrite = editor ? 'yes' : 'no, only the role "editor" may; reading is allowed';
  return [
    line('name', 'ok', name),
    line('roles', 'ok', editor ? roles : `${roles}${explainMissingRole(token.claims)}`),
    accepted ? line('may write', 'ok', mayWrite) : line('may write', 'failed', 'no, the token is refused'),
  ];
}

function line(check: Line['check'], result: Line['result'], detail: string): Line {
  return { check, result, detail };
}

function notReached(check: Line['check']): Line {
  return line(check, 'unknown', 'not reached');
}

/** What people paste by mistake; empty for anything else. */
function explainForm(compact: string): string {
  const parts = compact.split('.').length;
  if (compact.length > MAX_TOKEN_LENGTH) {
    return `It has ${compact.length} bytes. Where the head of the request exceeds 16 KiB, the answer is 431.`;
  }
  if (/^bearer\b/i.test(compact)) return 'Leave out the word "Bearer".';
  if (/["']/.test(compact)) return 'It has quotation marks in it.';
  if (/\s/.test(compact)) return 'It has white space in it.';
  if (parts === 5) return 'It has five parts: an encrypted token. Ask the issuer for a signed one.';
  if (parts === 1) return 'It has one part: not a JWT. Ask the issuer for an access token for this audience.';
  if (parts !== 3) return `It has ${parts} parts, and a signed token has three.`;
  if (compact.includes('=')) return 'It has padding ("="), which RFC 7515 §2 leaves out.';
  return '';
}

/** What in a header, or of the kind of a token, is not accepted; empty when nothing is wrong with it. */
function explainHeader(header: Header, claims: Claims | undefined, code: RefusalCode): string {
  switch (code) {
    case 'header-parameter': {
      const refused = REFUSED_PARAMETERS.filter((name) => Object.hasOwn(header, name));
      return `It is ${refused.map(quoteJson).join(', ')}.`;
    }
    case 'kind':
      if (claims !== undefined) return `Its claim "typ" is ${quoteJson(claims.typ)}: ${SEND_ACCESS}.`;
      return `Its "typ" must be "JWT" or "at+jwt" when present, received ${quoteJson(header.typ)}.`;
    case 'algorithm':
      return header.alg === undefined ? 'It has no "alg".' : `Its "alg" is ${quoteJson(header.alg)}.`;
    default:
      return '';
  }
}

/** Which keys there are, where none fits. */
function explainMissingKey(token: UnverifiedToken, code: RefusalCode, keys: Keys): string {
  const set = keys.current() ?? [];
  const known = set.map(({ keyId, algorithms }) => {
    return `${keyId === undefined ? 'one without kid' : quoteJson(keyId)} for ${[...algorithms.keys()].join(', ')}`;
  });
  const purpose = code === 'algorithm' ? ` is for ${token.algorithm}` : '';
  const detail = `no key with ${nameKey(token)}${purpose} in ${keys.describe()}`;
  const arePublic = set.length > 0 && !set.some(({ algorithms }) => algorithms.has('HS256'));
  if (token.algorithm.startsWith('HS') && arePublic) {
    return `${detail}: a provider publishes no key for HMAC; let it sign with RS256 or ES256`;
  }
  const list = known.length === 0 ? 'there are none' : `there is ${known.join('; ')}`;
  return `${detail}: ${list}`;
}

function explainIssuer(received: unknown, issuer: string): string {
  if (received === issuer) return quoteJson(issuer);
  if (issuer === DEVELOPMENT_ISSUER) {
    return `must be ${quoteJson(issuer)}, received ${quoteClaim(received)}: no TODO_AUTH_ISSUER is set`;
  }
  const detail = `must be ${quoteJson(issuer)} (TODO_AUTH_ISSUER), received ${quoteClaim(received)}`;
  if (received === DEVELOPMENT_ISSUER)
    return `${detail}: a development token, which only development accepts`;
  const slash = received === `${issuer}/` || (typeof received === 'string' && `${received}/` === issuer);
  return slash ? `${detail}: mind the final slash` : detail;
}

/** Where roles are read from. */
function nameRoleClaims({ claims }: Trust): string {
  if (claims.role === undefined) return 'the claims "role" and "roles"';
  return `the claim ${quoteJson(claims.role.length === 1 ? String(claims.role[0]) : toPointer(claims.role))}`;
}

function nameKey({ keyId }: UnverifiedToken): string {
  return keyId === undefined ? 'no kid' : `kid ${quoteJson(keyId)}`;
}

function quoteClaim(value: unknown): string {
  return value === undefined ? 'nothing' : quoteJson(value);
}
