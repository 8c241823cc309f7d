import { quoteJson } from '../../lib/quote.ts';
import { type Claims, claimAt } from '../identity.ts';
import type { Trust } from './checks.ts';
import { nameClaim } from './missing-role.ts';
import type { UnverifiedToken } from './read-token.ts';
import type { Refusal, Verdict } from './refusal.ts';

/** Explains `aud`, whether it is right or not. */
export function explainAudience(
  fault: Refusal | undefined,
  { claims }: UnverifiedToken,
  { audiences, audienceClaim }: Trust,
): string {
  const aud = claimAt(claims, ['aud']);
  if (fault === undefined) {
    if (aud === undefined && audienceClaim !== undefined) return 'none, and none is needed';
    return `${quoteClaim(aud)}${audiences.includes('account') ? ACCOUNT : ''}`;
  }
  const detail = `${wanted(audiences)}, received ${quoteClaim(aud)}`;
  if (aud === undefined) return `${detail}${explainMissingAudience(claims)}`;
  const list: unknown[] = Array.isArray(aud) ? aud : [aud];
  if (list.every((value) => value === '')) return `${detail}: the client has asked for no audience`;
  if (list.some((value) => audiences.some((one) => one === value)))
    return `${detail}: a list may hold strings only`;
  return list.includes('account') ? `${detail}${ACCOUNT}` : detail;
}

const ACCOUNT =
  '; Keycloak writes "account" into most tokens of a realm: never trust it, add a mapper "Audience"';

/** Claims that name the client or an organization, at providers that write no `aud`. */
const INSTEAD_OF_AUD = ['client_id', 'azp', 'org_id'];

function explainMissingAudience(claims: Claims): string {
  const name = INSTEAD_OF_AUD.find((claim) => typeof claimAt(claims, [claim]) === 'string');
  const setting =
    name === undefined
      ? ''
      : `, or let TODO_AUTH_AUDIENCE_CLAIM=${quoteJson(name)} have it in place of "aud"`;
  return `: ask the provider for this audience${setting}; to send the ID token is no way`;
}

/** Explains the claim that is configured in the place of `aud`. */
export function explainAudienceClaim(
  fault: Refusal | undefined,
  { claims }: UnverifiedToken,
  { audiences, audienceClaim = [] }: Trust,
): string {
  const claim = claimAt(claims, audienceClaim);
  if (fault === undefined) return `${nameClaim(audienceClaim)} is ${quoteClaim(claim)}`;
  return `${nameClaim(audienceClaim)} ${wanted(audiences)}, received ${quoteClaim(claim)}`;
}

/**
 * Explains whether a token may be an ID token, which is for an application and not for this service (RFC 9068 §2.2 has
 * none of these claims).
 */
export function explainIdToken(claims: Claims, verdict: Verdict): string {
  const has = (name: string) => Object.hasOwn(claims, name);
  if (verdict === 'refused' && has('at_hash')) {
    return `; it has "at_hash": perhaps an ID token; Dex's access tokens have it too`;
  }
  // Entra ID and Okta call the scope `scp`.
  const isOfSession = has('sid') && !has('scope') && !has('scp');
  const found = ['at_hash', 'c_hash', 'nonce'].find(has) ?? (isOfSession ? 'sid' : undefined);
  if (verdict !== 'accepted' || found === undefined) return '';
  return `; it has ${quoteJson(found)}: looks like an ID token; the audience is perhaps a client's id`;
}

function wanted(audiences: readonly string[]): string {
  return `must be or contain ${audiences.map(quoteJson).join(' or ')}`;
}

export function quoteClaim(value: unknown): string {
  return value === undefined ? 'nothing' : quoteJson(value);
}
