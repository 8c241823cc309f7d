import type { ClaimPath, Claims } from '../../auth/token/identity.ts';
import { isJsonObject } from '../../lib/parse-json.ts';

/** Words for roles, the likeliest first. */
const WORDS = ['roles', 'role', 'groups', 'group'];
const OTHER_WORDS = ['permissions', 'entitlements'];

/** Levels of claims that are searched. Roles stand in one to three. */
const MAX_DEPTH = 8;

/**
 * The claims that may be proposed for roles, the likeliest first, then the shallowest: claims whose name is a word for
 * roles, or ends in one, and that no user and no stranger can set as far as names tell. Members of a list are left out,
 * because its order may change.
 */
export function findRoleClaims(claims: Claims, audiences: readonly string[]): readonly ClaimPath[] {
  const found: { readonly path: ClaimPath; readonly rank: number }[] = [];
  const look = (object: Claims, path: ClaimPath): void => {
    for (const [name, value] of Object.entries(object)) {
      const here = [...path, name];
      const rank = isOfProject(here, audiences) ? rankOf(here) : undefined;
      if (rank !== undefined) found.push({ path: here, rank });
      if (isJsonObject(value) && here.length < MAX_DEPTH) look(value, here);
    }
  };
  look(claims, []);
  return found.sort((a, b) => a.rank - b.rank || a.path.length - b.path.length).map(({ path }) => path);
}

/**
 * Whether a claim, if it is one of Zitadel, has the roles of the project that is the audience. A claim without the id has
 * those of the project of the client, which may be a stranger's: any client may ask for any audience.
 */
function isOfProject(path: ClaimPath, audiences: readonly string[]): boolean {
  if (!path.some((name) => /^urn:zitadel:/i.test(name))) return true;
  return audiences.some((id) => path.length === 1 && path[0] === `urn:zitadel:iam:org:project:${id}:roles`);
}

/**
 * The rank of a claim; undefined when it is not proposed. A single role of several words is often a role that the user
 * asks for.
 */
function rankOf(path: ClaimPath): number | undefined {
  const names = path.flatMap((name) => name.normalize('NFKC').replace(ORIGIN, '').split(/[/#]/)).map(wordsOf);
  const words = names.at(-1) ?? [];
  const word = words.at(-1) ?? '';
  const rank = WORDS.indexOf(word);
  if (rank < 0 && !OTHER_WORDS.includes(word)) return undefined;
  if (words.length > 1 && !word.endsWith('s')) return undefined;
  const all = names.flat();
  const isOfUsers = OF_USERS.test(all.join('').replaceAll(/[^a-z]/g, ''));
  // A singular counts as its plural.
  const isNotGranted = all.some((one) => [one, `${one}s`].some((word) => NOT_GRANTED.has(word)));
  if (isOfUsers || words.includes('') || isNotGranted) return undefined;
  return rank < 0 ? WORDS.length : rank;
}

const ORIGIN = /^https?:\/\/[^/]*\//i;

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

/** Names of what users set for themselves. */
const OF_USERS = /users?(?:meta|info|data|attribute|profile|preference|pref|setting)/;

/** Words for what nobody has granted, or no longer, then for what users edit (OpenID Connect Core §5.1). */
const NOT_GRANTED = new Set(
  `custom self requests requested desired wanted preferred proposed suggested claimed selected chosen
   pending unverified untrusted unsafe possible eligible available optional candidates invited former
   expired revoked denied excluded blocked inactive address addresses names nicknames usernames profiles
   preferences prefs settings emails phones pictures avatars websites locales genders birthdates
   birthdays zoneinfo timezones traits bios about contacts alias aliases labels tags notes interests
   favorites favourites followed signups registrations`.split(/\s+/),
);
