import { isJsonObject } from '../../lib/parse-json.ts';
import type { ClaimPath, Claims } from '../identity.ts';

/** Words for roles, the likeliest first. */
const WORDS = ['roles', 'role', 'groups', 'group'];
const OTHER_WORDS = ['permissions', 'entitlements'];

/** Levels of claims that are searched. Roles stand in one to three. */
const MAX_DEPTH = 8;

/**
 * The claims that may be proposed for roles, the likeliest first, then the shallowest: claims whose name is a word for
 * roles, or ends in one, and that no user can set as far as names tell. Members of a list are left out, because its order
 * may change.
 */
export function findRoleClaims(claims: Claims): readonly ClaimPath[] {
  const found: { readonly path: ClaimPath; readonly rank: number }[] = [];
  const look = (object: Claims, path: ClaimPath): void => {
    for (const [name, value] of Object.entries(object)) {
      const here = [...path, name];
      const rank = rankOf(here);
      if (rank !== undefined) found.push({ path: here, rank });
      if (isJsonObject(value) && here.length < MAX_DEPTH) look(value, here);
    }
  };
  look(claims, []);
  return found.sort((a, b) => a.rank - b.rank || a.path.length - b.path.length).map(({ path }) => path);
}

/**
 * The rank of a claim; undefined when it is not proposed. A single role of several words is often a role that the user
 * asks for.
 */
function rankOf(path: ClaimPath): number | undefined {
  const words = wordsOf(path.at(-1)?.split(/[/#]/).at(-1) ?? '');
  const word = words.at(-1) ?? '';
  const rank = WORDS.indexOf(word);
  if (rank < 0 && !OTHER_WORDS.includes(word)) return undefined;
  if (words.length > 1 && !word.endsWith('s')) return undefined;
  if (isOfUsers(path) || words.some((one) => one === '' || WISHES.has(one))) return undefined;
  return rank < 0 ? WORDS.length : rank;
}

/**
 * The words of a compound: `cognito:groups`, `realm_roles`, `appRoles`, `ADGroups`. The first or the last is empty where
 * the name begins or ends with a separator.
 */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{M}\p{N}]+/u);
}

/** Words before roles that are not granted. */
const WISHES = new Set([
  ...['custom', 'self', 'request', 'requested', 'desired', 'wanted', 'preferred', 'proposed'],
  ...['suggested', 'claimed', 'selected', 'chosen', 'pending', 'unverified', 'untrusted', 'unsafe'],
]);

/**
 * Whether users set a claim themselves: their metadata in any spelling, attributes of Cognito, traits of Ory Kratos,
 * wishes.
 */
function isOfUsers(path: ClaimPath): boolean {
  const names = path.join('/').normalize('NFKC').toLowerCase();
  return (
    /(?:users?|unsafe|untrusted)meta/.test(names.replaceAll(/[^a-z]/g, '')) ||
    /(?:^|[^a-z])(?:custom:|(?:requested|desired|preferred|wanted|traits)(?:[^a-z]|$))/.test(names)
  );
}
