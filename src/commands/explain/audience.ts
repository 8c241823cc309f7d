import type { Trust } from '../../auth/token/checks.ts';
import { type Claims, claimAt } from '../../auth/token/identity.ts';
import { accessTokenClaim, type UnverifiedToken } from '../../auth/token/read-token.ts';
import type { Refusal } from '../../auth/token/refusal.ts';
import { quoteClaim, quoteJson } from '../../lib/quote.ts';
import { explainLookalike } from './lookalike.ts';
import { nameClaim } from './roles.ts';

/** Explains a check, with its fault or without. */
export type Explain<Said = string> = (
  fault: Refusal | undefined,
  token: UnverifiedToken,
  trust: Trust,
) => Said;

/** Explains `aud`, whether it is right or not. */
export const explainAudience: Explain = (fault, { claims }, trust) => {
  const { audiences } = trust;
  const aud = claimAt(claims, ['aud']);
  if (fault === undefined) {
    if (aud === undefined) return 'none, and none is needed';
    return `${quoteClaim(aud)}${audiences.includes('account') ? ACCOUNT : ''}`;
  }
  const detail = explainOther(aud, audiences);
  if (aud === undefined)
    return `${detail}: ask the provider for this audience${proposeInstead(claims, trust)}; to send the ID token is no way`;
  const list = listOf(aud);
  if (list.every((value) => value === '')) return `${detail}: the client has asked for no audience`;
  if (list.some((value) => audiences.some((one) => one === value)))
    return `${detail}: a list may hold strings only`;
  return list.includes('account') ? `${detail}${ACCOUNT}` : detail;
};

const ACCOUNT =
  '; Keycloak writes "account" into most tokens of a realm: never trust it, add a mapper "Audience"';

/** Claims that name the client: a client's ID tokens have them too. */
const OF_CLIENTS = ['client_id', 'azp', 'cid', 'appid'];

/**
 * Proposes a claim in the place of `aud`: of an organization, or of a client where a required claim keeps ID tokens out.
 * Other required claims have to stay: nothing is proposed in their place.
 */
function proposeInstead(claims: Claims, { requiredClaims }: Trust): string {
  const claim = ['org_id', ...OF_CLIENTS].find((name) => typeof claimAt(claims, [name]) === 'string');
  const kind = claim === 'org_id' ? '' : accessTokenClaim(claims);
  if (claim === undefined || kind === undefined) return '';
  const isRequired = kind === '' || requiredClaims?.some(({ name, value }) => `${name}=${value}` === kind);
  if (!isRequired && requiredClaims !== undefined) return '';
  const proposed = `, or let TODO_AUTH_AUDIENCE_CLAIM=${quoteJson(claim)} have it in place of "aud"`;
  return isRequired ? proposed : `${proposed}, with TODO_AUTH_REQUIRED_CLAIMS=${quoteJson(kind)}`;
}

/** Explains the claim that is configured in the place of `aud`. */
export const explainAudienceClaim: Explain = (fault, { claims }, { audiences, audienceClaim = [] }) => {
  const claim = claimAt(claims, audienceClaim);
  const said = fault === undefined ? `is ${quoteClaim(claim)}` : explainOther(claim, audiences);
  return `${nameClaim(audienceClaim)} ${said}`;
};

/** Explains whether a token may be an ID token, which is not for a service, and whose type is not that of RFC 9068 §2.1. */
export function explainIdToken({ type, claims }: UnverifiedToken): string {
  if (type === 'at+jwt') return '';
  const found = ['c_hash', 'at_hash', 'nonce'].find((name) => Object.hasOwn(claims, name));
  if (found === undefined) return '';
  if (found === 'at_hash') return `; it has "at_hash": perhaps an ID token; Dex's access tokens have it too`;
  return `; it has ${quoteJson(found)}: looks like an ID token; the audience is perhaps a client's id`;
}

function explainOther(claim: unknown, audiences: readonly string[]): string {
  const wanted = `must be or contain ${audiences.map(quoteJson).join(' or ')}`;
  return `${wanted}, received ${quoteClaim(claim)}${explainLookalike(listOf(claim), audiences)}`;
}

function listOf(claim: unknown): readonly unknown[] {
  return Array.isArray(claim) ? claim : [claim];
}
