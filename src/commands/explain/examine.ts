import { canWriteTodos } from '../../auth/admit.ts';
import { DEVELOPMENT_ISSUER } from '../../auth/development.ts';
import { ALGORITHMS, type Algorithm } from '../../auth/keys/algorithms.ts';
import { describeSkipped, type Keys, nameSome } from '../../auth/keys/keys.ts';
import { hasRequiredClaim } from '../../auth/required-claims.ts';
import { CHECKS, type CheckName, type Times, type Trust, timesOf } from '../../auth/token/checks.ts';
import { claimAt, providerRoles, readIdentity } from '../../auth/token/identity.ts';
import { readToken, type UnverifiedToken } from '../../auth/token/read-token.ts';
import { describeRefusal, type RefusalCode, utcTime } from '../../auth/token/refusal.ts';
import { escapeHidden, quoteClaim, quoteJson } from '../../lib/quote.ts';
import { type Explain, explainAudience, explainAudienceClaim, explainIdToken } from './audience.ts';
import { explainUnread } from './form.ts';
import { explainLookalike } from './lookalike.ts';
import { explainRoles, nameClaim } from './roles.ts';

/** One line of `token verify`. `unknown`: an earlier failure left nothing to check. */
interface Line {
  readonly check: 'form' | 'key' | CheckName | 'name' | 'roles' | 'may write';
  readonly result: 'ok' | 'failed' | 'unknown';
  readonly detail: string;
}

/** For people alone: the lines quote the token, and an answer never has any part of it (contract A2). */
export interface Examination {
  /** The caller is known, or the answer is 401, or 503 without keys. */
  readonly verdict: 'accepted' | 'refused' | 'unavailable';
  readonly lines: readonly Line[];
}

/** All checks, so that a token with three faults shows all three. After a failed signature, claims are not proven. */
export async function examineToken(compact: string, trust: Trust): Promise<Examination> {
  const token = readToken(compact);
  if ('code' in token) {
    const algorithms = token.code === 'algorithm' ? await algorithmsOf(trust.keys) : [];
    const detail = `${describeRefusal(token)}. ${explainUnread(compact, token, algorithms)}`.trim();
    const names = askedChecks(trust).flatMap(({ name }) => (name === 'signature' ? [...OF_KEY] : [name]));
    const after = [...names, ...OF_IDENTITY].map(notReached);
    return { verdict: 'refused', lines: [line('form', 'failed', detail), ...after] };
  }
  const form = `a signed token of ${compact.length} bytes, algorithm ${token.algorithm}, ${nameKey(token)}`;
  const lines = [line('form', 'ok', form)];
  let verdict: Examination['verdict'] = 'accepted';
  for (const { name, fault: find } of askedChecks(trust)) {
    const fault = await find(token, trust);
    if (fault?.code === 'keys-unavailable') {
      if (verdict === 'accepted') verdict = 'unavailable';
      lines.push(line('key', 'failed', explainNoKeys(token, trust.keys)));
      lines.push(notReached('signature'));
      continue;
    }
    if (fault !== undefined && verdict === 'accepted') verdict = 'refused';
    if (name === 'signature') lines.push(...explainSignature(fault, token, trust));
    else lines.push(line(name, fault === undefined ? 'ok' : 'failed', EXPLAIN[name](fault, token, trust)));
  }
  return { verdict, lines: [...lines, ...describeIdentity(token, trust, lines)] };
}

/** The algorithms of the keys at hand; all that keys may have, where there are none. */
async function algorithmsOf(keys: Keys): Promise<readonly Algorithm[]> {
  if (keys.current() === undefined) await keys.refresh();
  const taken = ALGORITHMS.filter((name) => keys.current()?.some(({ algorithms }) => algorithms.has(name)));
  return taken.length > 0 ? taken : ALGORITHMS;
}

const OF_KEY = ['key', 'signature'] as const;
const OF_IDENTITY = ['name', 'roles', 'may write'] as const;

/** The checks to report. A setting that is not set has no line. */
function askedChecks(trust: Trust) {
  return CHECKS.filter(({ isAsked }) => isAsked?.(trust) ?? true);
}

/** The explanation of each other check, with a fault or without. */
const EXPLAIN: Readonly<Record<Exclude<CheckName, 'signature'>, Explain>> = {
  issuer: (_fault, { claims }, { issuer }) => explainIssuer(claimAt(claims, ['iss']), issuer),
  type: (fault, { type }, { tokenType }) =>
    fault === undefined
      ? quoteClaim(type)
      : `must be ${quoteClaim(tokenType)} (TODO_AUTH_TOKEN_TYPE), received ${quoteClaim(type)}`,
  audience: (fault, token, trust) => `${explainAudience(fault, token, trust)}${explainIdToken(token)}`,
  'audience claim': explainAudienceClaim,
  /** Never quotes the token, whose claim may have any content. */
  required(fault, { claims }, { requiredClaims = [] }) {
    if (fault === undefined) {
      return requiredClaims
        .map(({ name, value }) => `${value === undefined ? 'no ' : ''}${quoteJson(name)}`)
        .join(', ');
    }
    const lacking = requiredClaims.filter((required) => !hasRequiredClaim(claims, required));
    const said = lacking.map(({ name, path, value }) => {
      if (value === undefined) return `${quoteJson(name)} must not be there`;
      return `${quoteJson(name)} ${claimAt(claims, path) === undefined ? 'is missing' : 'must have another value'}`;
    });
    return `${said.join(', ')} (TODO_AUTH_REQUIRED_CLAIMS)`;
  },
  times(fault, { claims }, trust) {
    const clock = `now it is ${utcTime(trust.now() / 1000)}, ${trust.clockToleranceSeconds} s of tolerance`;
    const lifetime = explainLifetime(timesOf(claims), trust.now() / 1000);
    if (fault === undefined) {
      return `valid until ${utcTime(Number(claims.exp)) ?? 'the end of time'}; ${clock}${lifetime}`;
    }
    const said = describeRefusal(fault);
    if (fault.code === 'expiration-missing') return said;
    if (fault.code === 'time-form') return `${said}: ${explainTimeForm(timesOf(claims))}`;
    const issued = fault.code === 'issued-later' ? `: "iat" is ${claims.iat}` : '';
    return `${said}${issued}; ${clock}${lifetime}`;
  },
};

/** Names the times that are no finite number, as `1e999` is none. */
function explainTimeForm(times: Times): string {
  const wrong = Object.entries(times).filter(([, value]) => value !== undefined && !Number.isFinite(value));
  const shown = (value: unknown) => (typeof value === 'number' ? 'a number without end' : quoteJson(value));
  return wrong
    .map(([name, value]) => `"${name}" must be seconds since 1970, received ${shown(value)}`)
    .join(', ');
}

/** Seconds. */
const LONG_LIFETIME = 3600;

/** Explains the lifetime; without `iat` and `nbf`, the time that is left. `now` in seconds. */
function explainLifetime({ exp, iat, nbf }: Times, now: number): string {
  const begin = iat ?? nbf ?? now;
  if (typeof exp !== 'number' || typeof begin !== 'number' || exp - begin <= LONG_LIFETIME) return '';
  return `; it lives for ${Math.ceil(exp - begin)} s, more than an hour, and nobody can end it sooner`;
}

const explainSignature: Explain<readonly Line[]> = (fault, token, { keys }) => {
  if (fault !== undefined && fault.code !== 'signature')
    return [line('key', 'failed', explainMissingKey(token, fault.code, keys)), notReached('signature')];
  const skipped = explainSkipped(token, keys);
  const changed = 'made with another key, or the token was changed after it was signed';
  const bound = Object.hasOwn(token.claims, 'cnf')
    ? '; the token is bound to a key or a certificate ("cnf"), and taken without proof of it'
    : '';
  return [
    line('key', 'ok', `known, from ${keys.describe()}`),
    fault === undefined
      ? line('signature', 'ok', `made with that key${bound}`)
      : line('signature', 'failed', skipped === undefined ? changed : `${changed}; ${skipped}`),
  ];
};

/** Shows no claims of a token that fails another check than that of its times: it may be a stranger's. */
function describeIdentity(token: UnverifiedToken, trust: Trust, checked: readonly Line[]): Line[] {
  const failed = checked.filter(({ result }) => result !== 'ok');
  const isOurs = failed.every(({ check }) => check === 'times');
  const identity = readIdentity(token.claims, trust.claims);
  const editor = canWriteTodos(identity);
  const { editorRoles, role } = trust.claims;
  const read = role === undefined ? 'the claims "role" and "roles"' : `the claim ${nameClaim(role)}`;
  const roles = providerRoles(token.claims, trust.claims).map(quoteJson).join(', ') || `none in ${read}`;
  const name = identity.name === null ? 'null: no claim of the token is a name' : quoteJson(identity.name);
  const writers =
    editorRoles === undefined
      ? '"editor"'
      : `${editorRoles.map(quoteJson).join(' or ')} (TODO_AUTH_EDITOR_ROLE)`;
  const mayWrite = editor ? 'yes' : `no, only the role ${writers} may; reading is allowed`;
  return [
    line('name', 'ok', name),
    line('roles', 'ok', editor || !isOurs ? roles : `${roles}${explainRoles(token.claims, trust.claims)}`),
    failed.length === 0
      ? line('may write', 'ok', mayWrite)
      : line('may write', 'failed', 'no, the token is refused'),
  ];
}

function line(check: Line['check'], result: Line['result'], detail: string): Line {
  return { check, result, detail };
}

function notReached(check: Line['check']): Line {
  return line(check, 'unknown', 'not reached');
}

function explainNoKeys(token: UnverifiedToken, keys: Keys): string {
  const reason = keys.figures?.().lastFailure;
  const because = reason === undefined ? '' : `: ${escapeHidden(reason).replaceAll('\n', '\\n')}`;
  return `no keys could be had from ${keys.describe()}${because}${explainShared(token)}`;
}

/** Lists the keys, where none fits. */
function explainMissingKey(token: UnverifiedToken, code: RefusalCode, keys: Keys): string {
  const set = keys.current() ?? [];
  const known = set.map(({ keyId, algorithms }) => {
    return `${keyId === undefined ? 'one without kid' : quoteJson(keyId)} for ${[...algorithms.keys()].join(', ')}`;
  });
  const purpose = code === 'algorithm' ? ` is for ${token.algorithm}` : '';
  const skipped = explainSkipped(token, keys);
  const detail = skipped ?? `no key with ${nameKey(token)}${purpose} in ${keys.describe()}`;
  const arePublic = set.length > 0 && !set.some(({ algorithms }) => algorithms.has('HS256'));
  if (token.algorithm.startsWith('HS') && arePublic)
    return `${detail}: a provider publishes no key for HMAC; let it sign with RS256 or ES256`;
  if (known.length === 0) return `${detail}: there are none`;
  return `${detail}${skipped === undefined ? ':' : ';'} there is ${nameSome(known)}`;
}

/** Explains why the key that a token names is published and not used; for a token without `kid`, why each is not. */
function explainSkipped({ keyId }: UnverifiedToken, keys: Keys): string | undefined {
  const skipped = keys.skipped().filter((key) => keyId === undefined || key.keyId === keyId);
  if (skipped.length === 0) return undefined;
  if (keyId === undefined) return `skipped: ${describeSkipped(skipped)}`;
  return `kid ${quoteJson(keyId)} is published, but ${nameSome(skipped.map(({ reason }) => reason))}`;
}

/** Explains a token by HMAC: no issuer publishes its key, and some have only such keys. */
function explainShared({ algorithm }: UnverifiedToken): string {
  if (!algorithm.startsWith('HS')) return '';
  return (
    '; the token is signed with a shared secret: TODO_AUTH_SECRET_FILE names a file with it ("text:" for a secret that ' +
    'is used as it is written)'
  );
}

function explainIssuer(received: unknown, issuer: string): string {
  if (received === issuer) return quoteJson(issuer);
  if (issuer === DEVELOPMENT_ISSUER)
    return `must be ${quoteJson(issuer)}, received ${quoteClaim(received)}: no TODO_AUTH_ISSUER is set`;
  const detail = `must be ${quoteJson(issuer)} (TODO_AUTH_ISSUER), received ${quoteClaim(received)}`;
  if (received === DEVELOPMENT_ISSUER)
    return `${detail}: a development token, which only development accepts`;
  const slash = received === `${issuer}/` || (typeof received === 'string' && `${received}/` === issuer);
  return slash ? `${detail}: mind the final slash` : `${detail}${explainLookalike([received], [issuer])}`;
}

function nameKey({ keyId }: UnverifiedToken): string {
  return keyId === undefined ? 'no kid' : `kid ${quoteJson(keyId)}`;
}
