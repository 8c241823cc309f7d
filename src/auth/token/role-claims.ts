import { isJsonObject } from '../../parse-json.ts';
import type { ClaimPath, Claims } from '../identity.ts';

/** Words for roles, the likeliest first. */
const WORDS = ['roles', 'role', 'groups', 'group'];
const OTHER_WORDS = ['permissions', 'entitlements'];

/** Levels of claims. Roles stand in one to three. */
const MAX_DEPTH = 8;

/**
 * The claims that may be proposed for roles, the likeliest first, then the shallowest: those whose name is a word for
 * roles, or ends in one behind a namespace, and that no user can set as far as names tell. Never a part of a list,
 * whose order nobody promises.
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

/** Undefined: the claim is not proposed. */
function rankOf(path: ClaimPath): number | undefined {
  const word = path.at(-1)?.split(/[:/#]/).at(-1)?.toLowerCase() ?? '';
  const rank = WORDS.indexOf(word);
  if ((rank < 0 && !OTHER_WORDS.includes(word)) || isOfUsers(path)) return undefined;
  return rank < 0 ? WORDS.length : rank;
}

/** What users say of themselves: metadata of theirs in any spelling, attributes of Amazon Cognito, traits of Ory Kratos, wishes. */
function isOfUsers(path: ClaimPath): boolean {
  const names = path.join('/').normalize('NFKC').toLowerCase();
  const letters = names.replaceAll(/[^a-z]/g, '');
  return (
    /(?:users?|unsafe|untrusted)meta/.test(letters) ||
    /(?:^|[:/])custom:/.test(names) ||
    /(?:^|[^a-z])(?:requested|desired|preferred|wanted|traits)(?:[^a-z]|$)/.test(names)
  );
}
