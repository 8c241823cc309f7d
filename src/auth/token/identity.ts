import type { Identity } from '../../caller.ts';
import { isJsonObject } from '../../lib/parse-json.ts';

/** The Claims Set of a token, or a part of it. */
export type Claims = Readonly<Record<string, unknown>>;

/** The claims that identify a caller. A configured claim replaces those read by default (contract A9; A10). */
export interface IdentityClaims {
  readonly name?: ClaimPath | undefined;
  readonly role?: ClaimPath | undefined;
  /** The provider's names of the role `editor`; undefined: `editor`. */
  readonly editorRoles?: readonly string[] | undefined;
}

const DEFAULT_NAMES: readonly ClaimPath[] = [['name'], ['unique_name']];
export const DEFAULT_ROLES: readonly ClaimPath[] = [['role'], ['roles']];

/** Identity from the Claims Set of a token whose signature, issuer, audience and times have been checked. */
export function readIdentity(claims: Claims, from: IdentityClaims): Identity {
  const names = from.name === undefined ? DEFAULT_NAMES : [from.name];
  const name = names.map((path) => claimAt(claims, path)).find((value) => value !== undefined);
  return {
    name: typeof name === 'string' ? name : null,
    roles: ownRoles(providerRoles(claims, from), from.editorRoles),
    caller: callerIn(claimAt(claims, ['iss']), claimAt(claims, ['sub'])),
  };
}

/** Issuer and subject; null for an empty subject. */
function callerIn(issuer: unknown, subject: unknown): Identity['caller'] {
  if (typeof issuer !== 'string' || typeof subject !== 'string' || subject === '') return null;
  return [issuer, subject];
}

/** The roles of a token by the names that the provider gives them (contract A10). */
export function providerRoles(claims: Claims, { role }: IdentityClaims): readonly string[] {
  if (role !== undefined) return rolesOf(claimAt(claims, role));
  return DEFAULT_ROLES.flatMap((path) => stringsIn(claimAt(claims, path)));
}

/** The roles in a configured claim; of an object, the names of the members that are granted. */
export function rolesOf(claim: unknown): readonly string[] {
  if (!isJsonObject(claim)) return stringsIn(claim);
  return Object.entries(claim).flatMap(([name, value]) => {
    const isGranted = value === true || (isJsonObject(value) && Object.keys(value).length > 0);
    return isGranted ? [name] : [];
  });
}

/** The roles in a claim. A string is one role, commas and blanks included; members that are no strings are left out. */
function stringsIn(claim: unknown): string[] {
  const values: unknown[] = Array.isArray(claim) ? claim : [claim];
  return values.filter((value) => typeof value === 'string');
}

/** Roles by this service's names. With configured names of `editor`, the provider's own counts only as one of them. */
function ownRoles(roles: readonly string[], editorRoles: readonly string[] | undefined): readonly string[] {
  if (editorRoles === undefined) return roles;
  return roles.flatMap((role) => {
    if (editorRoles.includes(role)) return ['editor'];
    return role === 'editor' ? [] : [role];
  });
}

/** The member names that lead from the Claims Set to a claim. */
export type ClaimPath = readonly string[];

const POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/;
const ARRAY_INDEX = /^(?:0|[1-9][0-9]*)$/;

/** A claim's name, or a JSON Pointer (RFC 6901): `roles`, `/realm_access/roles`. Undefined for a malformed pointer. */
export function parseClaimPath(text: string): ClaimPath | undefined {
  if (!text.startsWith('/')) return [text];
  if (!POINTER.test(text)) return undefined;
  return text
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The claim's value, or undefined. Only own properties count: `constructor` is no claim of every token. */
export function claimAt(claims: unknown, path: ClaimPath): unknown {
  let value = claims;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) && !ARRAY_INDEX.test(name)) return undefined;
    if (!Object.hasOwn(value, name)) return undefined;
    value = Reflect.get(value, name);
  }
  return value;
}
