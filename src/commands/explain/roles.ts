import {
  type ClaimPath,
  type Claims,
  claimAt,
  DEFAULT_ROLES,
  type IdentityClaims,
  providerRoles,
  rolesOf,
} from '../../auth/token/identity.ts';
import { isJsonObject } from '../../lib/parse-json.ts';
import { quoteJson } from '../../lib/quote.ts';
import { explainLookalike } from './lookalike.ts';

/**
 * Explains why a token does not have the role: the shape of what is read, and the other claims that may have roles. It
 * shows them and proposes none, for users or strangers may have set them: with such a claim they would be editors.
 */
export function explainRoles(claims: Claims, from: IdentityClaims): string {
  const lookalike = explainLookalike(providerRoles(claims, from), from.editorRoles ?? ['editor']);
  if (lookalike !== '') return lookalike;
  const read = from.role === undefined ? DEFAULT_ROLES : [from.role];
  const shapes = read.flatMap((path) => explainShape(path, claimAt(claims, path), from.role !== undefined));
  const said = [...shapes, ...explainOverage(claims), ...showOthers(claims, read.map(nameClaim))];
  return said.map((one) => `; ${one}`).join('');
}

/** Explains a claim in a shape that has fewer roles than it seems to have. */
function explainShape(path: ClaimPath, value: unknown, isConfigured: boolean): string[] {
  const name = nameClaim(path);
  if (value === undefined) return [];
  if (isJsonObject(value)) {
    if (!isConfigured) return [`${name} is an object, whose members are roles only in a configured claim`];
    const counts = 'no member of it is true or an object with a member';
    return rolesOf(value).length > 0 ? [] : [`${name} is an object without roles: ${counts}`];
  }
  const roles = rolesOf(value);
  if (roles.length < [value].flat().length) return [`${name} is ${quoteJson(value)}: only strings are roles`];
  if (roles.some((role) => role.startsWith('[') && role.endsWith(']')))
    return [`${name} has a list that is written as one string: in Keycloak, its mapper lacks "Multivalued"`];
  if (roles.some((role) => role.startsWith('{') && role.endsWith('}')))
    return [`${name} has an object that is written as one string`];
  return roles.some((role) => /[\s,;]/.test(role))
    ? [`a string of ${name} is one role, and never split`]
    : [];
}

/** Entra ID leaves groups out of a token where a user has too many (its overage), and says where they are. */
function explainOverage(claims: Claims): string[] {
  const distributed = claimAt(claims, ['_claim_names', 'groups']);
  if (distributed === undefined && !Object.hasOwn(claims, 'hasgroups')) return [];
  return ['the user has more groups than Entra ID writes into a token (its overage): use app roles'];
}

/** Claims that are shown, at most. */
const MAX_SHOWN = 8;

const ONLY = 'Only a claim that administrators alone set may have roles';

/** Shows the claims that may have roles and are not read, by their names as the setting takes them. */
function showOthers(claims: Claims, read: readonly string[]): string[] {
  const found = findRoleClaims(claims, []).filter((path) => !read.includes(nameClaim(path)));
  if (found.length === 0) return [];
  const shown = found
    .slice(0, MAX_SHOWN)
    .map((path) => `${nameClaim(path)} is ${quoteJson(claimAt(claims, path))}`);
  const more = found.length > MAX_SHOWN ? `, and ${found.length - MAX_SHOWN} more` : '';
  return [`${shown.join(', ')}${more}. ${ONLY}: docs/identity-providers.md#who-may-set-this-claim`];
}

/** The claims whose last word is one for roles, at any depth. Those in a list are left out: its order may change. */
function findRoleClaims(object: Claims, above: ClaimPath): ClaimPath[] {
  return Object.entries(object).flatMap(([name, value]) => {
    const path = [...above, name];
    const below = isJsonObject(value) ? findRoleClaims(value, path) : [];
    return WORD.test(name) || COMPOUND.test(name) ? [path, ...below] : below;
  });
}

const WORD = /(?:^|[^\p{L}\p{M}\p{N}])(?:role|group|permission|entitlement)s?$/iu;
const COMPOUND = /(?:Role|Group|Permission|Entitlement)s?$/;

/** The name of a claim as people configure it, quoted: a JSON Pointer (RFC 6901 §3) where it is nested. */
export function nameClaim(path: ClaimPath): string {
  const [first = ''] = path;
  if (path.length === 1 && !first.startsWith('/')) return quoteJson(first);
  return quoteJson(path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''));
}
