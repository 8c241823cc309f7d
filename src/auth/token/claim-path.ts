/** The member names that lead from the Claims Set to a claim. */
export type ClaimPath = readonly string[];

const POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/;
const ARRAY_INDEX = /^(?:0|[1-9][0-9]*)$/;

/**
 * A claim's name, or a JSON Pointer (RFC 6901) when it begins with a slash: `roles`,
 * `https://todo.example/roles`, `/realm_access/roles`. Undefined when the pointer is malformed.
 */
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
