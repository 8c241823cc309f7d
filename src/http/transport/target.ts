/** Segments of unreserved characters and signs: nothing to decode, nothing to cut off. */
const PLAIN_PATH = /^(?:\/[\w.~+-]*)+$/;

/** Origin or absolute form (RFC 9112 §3.2), printable ASCII without `#` and `\`. */
const TARGET = /^(?:https?:\/\/([^/?]+)(?=[/?]|$)|(?=\/))(\/[^?]*)?(?:\?.*)?$/i;
const PRINTABLE = /^[!-~]+$/;

/** What a request target names: a path for the router and, in absolute form, the authority that replaces `Host`. */
export interface Target {
  /** Percent-decoded once (contract R1), unless it holds characters that stand in no route. Without query. */
  readonly path: string;
  readonly authority?: string;
}

/**
 * Reads a request target (RFC 9112 §3.2). The result is a sentence for people when the target is refused
 * (contract, Order of checks 1): not in origin or absolute form, or escapes that are not UTF-8 or hold NUL,
 * CR or LF.
 */
export function readTarget(target: string, method: string): Target | string {
  if (PLAIN_PATH.test(target)) return { path: target };
  if (target === '*' && method === 'OPTIONS') return { path: '*' };
  const match = TARGET.exec(target);
  if (match === null || !PRINTABLE.test(target) || /[#\\]/.test(target)) {
    return 'The request target must be a path or an absolute http URI.';
  }
  const [, authority, rawPath = '/'] = match;
  const decoded = decodePath(rawPath);
  if (decoded === undefined) {
    return 'The escapes in the path must be UTF-8, without NUL, CR and LF.';
  }
  // An escaped slash is data, not a delimiter (RFC 3986 §2.2): such a path stays as it was sent and matches nothing.
  const path = PLAIN_PATH.test(decoded) && !/%2f/i.test(rawPath) ? decoded : rawPath;
  return authority === undefined ? { path } : { path, authority };
}

function decodePath(rawPath: string): string | undefined {
  try {
    const decoded = decodeURIComponent(rawPath);
    return /[\0\r\n]/.test(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}
