import { type ClaimPath, claimAt } from './token/claims.ts';

/** Who is calling, as a verified token says. Made only by `authenticate`. */
export interface Identity {
  /** The display name, or null when the token has none (contract A9). */
  readonly name: string | null;
  /** The roles of the trusted token, compared exactly (contract A10). */
  readonly roles: readonly string[];
  /** Tells the caller from every other (RFC 7519 §4.1.1, §4.1.2), or null when the token names no subject. */
  readonly caller: readonly [issuer: string, subject: string] | null;
}

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
