import type { Identity } from '../identity.ts';
import { type ClaimPath, claimAt } from './claim-path.ts';

/** Which claims say who somebody is. A configured claim replaces the ones read by default (contract A9, A10). */
export interface IdentityClaims {
  readonly name?: ClaimPath | undefined;
  readonly role?: ClaimPath | undefined;
}

const DEFAULT_NAMES: readonly ClaimPath[] = [['name'], ['unique_name']];
const DEFAULT_ROLES: readonly ClaimPath[] = [['role'], ['roles']];

/** Identity from the Claims Set of a token whose signature, issuer, audience and times have been checked. */
export function readIdentity(claims: Readonly<Record<string, unknown>>, from: IdentityClaims): Identity {
  const names = from.name === undefined ? DEFAULT_NAMES : [from.name];
  const roles = from.role === undefined ? DEFAULT_ROLES : [from.role];
  const name = names.map((path) => claimAt(claims, path)).find((value) => value !== undefined);
  return {
    name: typeof name === 'string' ? name : null,
    roles: roles.flatMap((path) => rolesIn(claimAt(claims, path))),
    caller: callerIn(claimAt(claims, ['iss']), claimAt(claims, ['sub'])),
  };
}

/** An empty subject names nobody. */
function callerIn(issuer: unknown, subject: unknown): Identity['caller'] {
  if (typeof issuer !== 'string' || typeof subject !== 'string' || subject === '') return null;
  return [issuer, subject];
}

/** A string is one role, whatever commas or blanks it holds; members of a list that are no strings are none. */
function rolesIn(claim: unknown): string[] {
  const values: unknown[] = Array.isArray(claim) ? claim : [claim];
  return values.filter((value) => typeof value === 'string');
}
