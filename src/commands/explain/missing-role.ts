import type { Trust } from '../../auth/token/checks.ts';
import { type ClaimPath, type Claims, claimAt, DEFAULT_ROLES, rolesOf } from '../../auth/token/identity.ts';
import { isJsonObject } from '../../lib/parse-json.ts';
import { quoteJson } from '../../lib/quote.ts';
import { explainLookalike } from './lookalike.ts';
import { findRoleClaims } from './role-claims.ts';

/** A claim that is read for roles, or may be proposed for them. */
interface Candidate {
  readonly pointer: string;
  readonly value: unknown;
  /** By default, an object is not read (contract A10). */
  readonly isRead: boolean;
}

/** One role of a candidate, were it configured. */
interface Found extends Candidate {
  readonly role: string;
}

const EDITOR = ['editor'];

/**
 * Explains why a token without the role cannot write, and names the setting that helps; empty where no setting is known.
 * Proposes no claim that users or strangers may set: with such a claim, they could make themselves editors.
 */
export function explainMissingRole(claims: Claims, trust: Pick<Trust, 'claims' | 'audiences'>): string {
  const { role, editorRoles = EDITOR } = trust.claims;
  const read = role === undefined ? DEFAULT_ROLES : [role];
  const candidates = [...read, ...findRoleClaims(claims, trust.audiences)]
    .map((path, at): Candidate => {
      const value = claimAt(claims, path);
      const isRead = at < read.length && (role !== undefined || !isJsonObject(value));
      return { pointer: toPointer(path), value, isRead };
    })
    .filter(({ value }) => value !== undefined);
  const found = candidates.flatMap((one) =>
    rolesOf(one.value).map((name): Found => ({ ...one, role: name })),
  );
  const ofRead = found.flatMap((one) => (one.isRead ? [one.role] : []));
  const said =
    explainElsewhere(found, editorRoles) ??
    explainNear(found, editorRoles) ??
    explainUnsplit(found, editorRoles) ??
    explainNoString(candidates, ofRead) ??
    explainNoClaim(claims, candidates) ??
    explainObject(found);
  return explainLookalike(ofRead, editorRoles) || (said === undefined ? '' : `; ${said}`);
}

function explainElsewhere(found: readonly Found[], editorRoles: readonly string[]): string | undefined {
  const one = found.find(({ role, isRead }) => !isRead && editorRoles.includes(role));
  if (one === undefined) return undefined;
  const where = isJsonObject(one.value) ? 'is the name of a member of an object' : 'stands in another claim';
  return `${quoteJson(one.role)} ${where}: ${wouldRead(one)} it. ${ONLY_THE_PROVIDER}`;
}

const ONLY_THE_PROVIDER = 'Only the provider may be able to set that claim';

function wouldRead({ pointer }: Candidate): string {
  return `TODO_AUTH_ROLE_CLAIM=${quoteJson(pointer)} would read`;
}

/** Explains a role that is nearly right. Names no value: a token must not decide which role of the provider may write. */
function explainNear(found: readonly Found[], editorRoles: readonly string[]): string | undefined {
  const near = found.find(({ pointer, role }) => {
    const isGroup = editorRoles === EDITOR && /groups?$/i.test(pointer) && GUID.test(role);
    return isGroup || isNear(role, editorRoles);
  });
  if (near === undefined) return undefined;
  const commas = near.role.includes(',') ? `, with ${COMMAS}` : '';
  const setting = `TODO_AUTH_EDITOR_ROLE says what the provider calls "editor"${commas}`;
  if (near.isRead) return `roles are compared exactly: ${setting}`;
  return `roles stand in another claim: ${wouldRead(near)} it, and ${setting}. ${ONLY_THE_PROVIDER}`;
}

const COMMAS = '%2C for each comma of a distinguished name';

/** RFC 9562 §4: Entra ID names groups by GUIDs. */
const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Whether a role differs only by case, path, prefix or distinguished name (RFC 4514), or is `editor` where other names
 * are configured.
 */
function isNear(role: string, editorRoles: readonly string[]): boolean {
  const text = role.trim().toLowerCase();
  return [...EDITOR, ...editorRoles].some((editorRole) => {
    const wanted = editorRole.toLowerCase();
    if (text === wanted || text.startsWith(`cn=${wanted},`)) return true;
    return [':', '/', '\\'].some((separator) => text.endsWith(`${separator}${wanted}`));
  });
}

function explainUnsplit(found: readonly Found[], editorRoles: readonly string[]): string | undefined {
  const one = found.find(({ role }) => role.split(/[\s,;]+/).some((part) => editorRoles.includes(part)));
  if (one === undefined) return undefined;
  const said = `${quoteJson(one.role)} in ${quoteJson(one.pointer)} is one role`;
  if (one.role.split(',').filter((part) => part.includes('=')).length > 1)
    return `${said}: TODO_AUTH_EDITOR_ROLE names all of it, with ${COMMAS}`;
  return `${said}: a string is never split, a list has several`;
}

/** Explains claims that are read and have no string, such as a boolean or a list of objects. Quotes no object. */
function explainNoString(candidates: readonly Candidate[], roles: readonly string[]): string | undefined {
  const one = candidates.find(({ isRead, value }) => {
    return isRead && (Array.isArray(value) ? value.length > 0 : !isJsonObject(value));
  });
  if (one === undefined || roles.length > 0) return undefined;
  const what = Array.isArray(one.value) ? 'a list without strings' : quoteJson(one.value);
  return `${quoteJson(one.pointer)} is ${what}, and only strings are roles`;
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
  if (Object.hasOwn(claims, 'urn:zitadel:iam:org:project:roles')) {
    return 'those of Zitadel are of the project of the client: ask for the scope "urn:zitadel:iam:org:projects:roles"';
  }
  return 'the token has no claim of roles: the client may have to ask for the scope "groups"';
}

/** Explains roles in an object, where no role is found. */
function explainObject([first]: readonly Found[]): string | undefined {
  if (first === undefined || first.isRead || !isJsonObject(first.value)) return undefined;
  return `roles are the names of members of an object: ${wouldRead(first)} it. ${ONLY_THE_PROVIDER}`;
}

/** RFC 6901 §3. */
function toPointer(path: ClaimPath): string {
  return path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The name of a claim as people configure it. */
export function nameClaim(path: ClaimPath): string {
  return quoteJson(path.length === 1 ? String(path[0]) : toPointer(path));
}
