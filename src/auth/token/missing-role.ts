import { isJsonObject } from '../../lib/parse-json.ts';
import { quoteJson } from '../../lib/quote.ts';
import {
  type ClaimPath,
  type Claims,
  claimAt,
  DEFAULT_ROLES,
  type IdentityClaims,
  rolesOf,
} from '../identity.ts';
import { findRoleClaims } from './role-claims.ts';

/** A claim that is read for roles, or may be proposed for them. */
interface Candidate {
  readonly pointer: string;
  /** The roles of its value, were it configured. */
  readonly roles: readonly string[];
  readonly isRead: boolean;
  readonly isObject: boolean;
}

/**
 * Explains why a token without the role cannot write, and names the setting that helps; empty where no setting is known.
 * Proposes no claim that users may set: with such a claim, users could make themselves editors.
 */
export function explainMissingRole(claims: Claims, from: IdentityClaims): string {
  const candidates = candidatesIn(claims, from);
  const { editorRoles = ['editor'] } = from;
  const said =
    explainElsewhere(candidates, editorRoles) ??
    explainNear(candidates, from) ??
    explainUnsplit(candidates, editorRoles) ??
    explainNoClaim(claims, candidates) ??
    explainObject(candidates);
  return said === undefined ? '' : `; ${said}`;
}

/** The candidates, with the claims that are read first. By default, an object is none of them. */
function candidatesIn(claims: Claims, { role }: IdentityClaims): readonly Candidate[] {
  const read = (role === undefined ? DEFAULT_ROLES : [role]).map(toPointer);
  const paths = role === undefined ? findRoleClaims(claims) : [role, ...findRoleClaims(claims)];
  const byPointer = new Map(paths.map((path) => [toPointer(path), claimAt(claims, path)]));
  return [...byPointer]
    .filter(([, value]) => value !== undefined)
    .map(([pointer, value]) => ({
      pointer,
      roles: rolesOf(value),
      isRead: read.includes(pointer) && (role !== undefined || !isJsonObject(value)),
      isObject: isJsonObject(value),
    }))
    .sort((a, b) => Number(b.isRead) - Number(a.isRead));
}

function explainElsewhere(
  candidates: readonly Candidate[],
  editorRoles: readonly string[],
): string | undefined {
  for (const { pointer, roles, isObject } of candidates.filter(({ isRead }) => !isRead)) {
    const role = roles.find((one) => editorRoles.includes(one));
    if (role === undefined) continue;
    const where = isObject ? 'is the name of a member of an object' : 'stands in another claim';
    return `${quoteJson(role)} ${where}: ${wouldRead(pointer)} it. ${ONLY_THE_PROVIDER}`;
  }
  return undefined;
}

const ONLY_THE_PROVIDER = 'Only the provider may be able to set that claim';

function wouldRead(pointer: string): string {
  return `TODO_AUTH_ROLE_CLAIM=${quoteJson(pointer)} would read`;
}

/** Explains a role that is nearly right. Names no value: a token must not decide which role of the provider may write. */
function explainNear(candidates: readonly Candidate[], { editorRoles }: IdentityClaims): string | undefined {
  const near = candidates.find(({ pointer, roles }) => {
    const areGroups = editorRoles === undefined && /groups?$/i.test(pointer);
    return roles.some((role) => isNear(role, editorRoles ?? []) || (areGroups && GUID.test(role)));
  });
  if (near === undefined) return undefined;
  const setting = 'TODO_AUTH_EDITOR_ROLE says what the provider calls "editor"';
  if (near.isRead) return `roles are compared exactly: ${setting}`;
  return `roles stand in another claim: ${wouldRead(near.pointer)} it, and ${setting}. ${ONLY_THE_PROVIDER}`;
}

/** RFC 9562 §4: Entra ID names groups by GUIDs. */
const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Whether a role differs only by case, path, prefix or distinguished name (RFC 4514), or is `editor` where other names
 * are configured.
 */
function isNear(role: string, editorRoles: readonly string[]): boolean {
  const text = role.trim().toLowerCase();
  return ['editor', ...editorRoles].some((editorRole) => {
    const wanted = editorRole.toLowerCase();
    if (text === wanted || text.startsWith(`cn=${wanted},`)) return true;
    return [':', '/', '\\'].some((mark) => text.endsWith(`${mark}${wanted}`));
  });
}

function explainUnsplit(
  candidates: readonly Candidate[],
  editorRoles: readonly string[],
): string | undefined {
  for (const { pointer, roles } of candidates) {
    const role = roles.find((one) => one.split(/[\s,;]+/).some((part) => editorRoles.includes(part)));
    if (role !== undefined)
      return `${quoteJson(role)} in ${quoteJson(pointer)} is one role: a string is never split, a list has several`;
  }
  return undefined;
}

function explainNoClaim(claims: Claims, candidates: readonly Candidate[]): string | undefined {
  const distributed = claimAt(claims, ['_claim_names']);
  if (
    Object.hasOwn(claims, 'hasgroups') ||
    (isJsonObject(distributed) && Object.hasOwn(distributed, 'groups'))
  ) {
    return 'the user has more groups than Entra ID writes into a token (its overage): use app roles';
  }
  if (candidates.length > 0) return undefined;
  return 'the token has no claim of roles: the client may have to ask for the scope "groups"';
}

/** Explains roles in an object, which by default is not read (contract A10), where no role is found. */
function explainObject(candidates: readonly Candidate[]): string | undefined {
  const [first] = candidates.filter(({ roles }) => roles.length > 0);
  if (first === undefined || first.isRead || !first.isObject) return undefined;
  return `roles are the names of members of an object: ${wouldRead(first.pointer)} it. ${ONLY_THE_PROVIDER}`;
}

/** RFC 6901 §3. */
function toPointer(path: ClaimPath): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The name of a claim as people configure it. */
export function nameClaim(path: ClaimPath): string {
  return quoteJson(path.length === 1 ? String(path[0]) : toPointer(path));
}
