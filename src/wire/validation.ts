import type { IncomingMessage } from 'node:http';
import { orUndefined } from '../lib/errors.ts';
import type { Fault } from './fault.ts';
import { MAX_FIELD_LINES } from './framing.ts';

/** uri-host [ ":" port ], RFC 9110 §7.2, never empty: an IP literal, or a registered name or IPv4 address. */
const HOST_AND_PORT =
  /^(?:\[[0-9a-f:.]+\]|\[v[0-9a-f]+\.[\w.~!$&'()*+,;=:-]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::\d*)?$/i;

/**
 * The fault of a request before routing (contract Order 1). Without a fault, puts the decoded path into `request.url`. On
 * a Unix socket a target may have no authority: `Host` is empty then (RFC 9112 §3.2).
 */
export function faultOf(request: IncomingMessage, onUnixSocket = false): Fault | undefined {
  if (request.rawHeaders.length > 2 * MAX_FIELD_LINES) return { status: 431 };
  if (request.httpVersionMajor !== 1) return NOT_HTTP;
  if (request.method === 'SOURCE') return malformed('The method SOURCE is for ICE.');
  const repeated = repeatedField(request.rawHeaders);
  if (repeated === 'host') return NO_HOST;
  if (repeated !== undefined) return malformed(`The header ${repeated} must not be repeated.`);
  const { host, 'transfer-encoding': coding } = request.headers;
  if (host === undefined && request.httpVersionMinor !== 0) return NO_HOST;
  const mayBe = host === undefined || (host === '' && onUnixSocket);
  if (!mayBe && !HOST_AND_PORT.test(host)) return NO_HOST;
  if (coding !== undefined && (request.httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) {
    return malformed('The only transfer coding is chunked, and HTTP/1.0 has none.');
  }
  // Last: a preflight is permitted whatever its escapes (contract R6), and has no other fault at this point.
  const target = readTarget(request.url ?? '', request.method ?? '');
  if ('status' in target) return target;
  if (target.authority !== undefined && !HOST_AND_PORT.test(target.authority)) return NO_HOST;
  request.url = target.path;
  return undefined;
}

/** The fault of a path whose only fault is its escapes. Compared by identity. */
export const WRONG_ESCAPES = malformed('The escapes in the path must be UTF-8, without NUL, CR and LF.');

/** The fault of a request line of another protocol. Compared by identity. */
export const NOT_HTTP = malformed('The HTTP version must be 1.0 or 1.1.');

const NO_HOST = malformed('The request must have exactly one valid Host header.');

function malformed(detail: string): Fault {
  return { status: 400, detail };
}

/** Fields that must not be repeated: no choice between two values is safe. By length: a line costs one look-up. */
const ONCE = new Map(['host', 'content-type', 'authorization'].map((field) => [field.length, field]));

/** The first of them that is repeated. Node.js keeps the first value; its parser refuses a repeated Content-Length. */
function repeatedField(lines: readonly string[]): string | undefined {
  let seen = 0;
  for (let i = 0; i < lines.length; i += 2) {
    const field = lines[i] ?? '';
    const name = ONCE.get(field.length);
    if (name === undefined || field.toLowerCase() !== name) continue;
    const bit = 1 << name.length;
    if ((seen & bit) !== 0) return name;
    seen |= bit;
  }
  return undefined;
}

/** Segments of unreserved characters and signs: nothing to decode, nothing to cut off. */
const PLAIN_PATH = /^(?:\/[\w.~+-]*)+$/;

/** Origin or absolute form (RFC 9112 §3.2), printable ASCII without `#` and `\`. */
const TARGET = /^(?:https?:\/\/([^/?]+)|(?=\/))(\/[^?]*)?/i;
const PRINTABLE = /^[!-~]+$/;

/** The parts of a request target: a path for the router and, in absolute form, the authority that replaces `Host`. */
interface Target {
  /** Percent-decoded once (contract R1), unless it holds characters that no route has. Without query. */
  readonly path: string;
  readonly authority?: string;
}

/**
 * Reads a request target (RFC 9112 §3.2). The result is the fault when the target is refused (contract Order 1): not in
 * origin or absolute form, or escapes that are not UTF-8 or hold NUL, CR or LF.
 */
export function readTarget(target: string, method: string): Target | Fault {
  if (PLAIN_PATH.test(target)) return { path: target };
  if (target === '*' && method === 'OPTIONS') return { path: '*' };
  const match = TARGET.exec(target);
  if (match === null || !PRINTABLE.test(target) || /[#\\]/.test(target)) {
    return malformed('The request target must be a path or an absolute http URI.');
  }
  const [, authority, rawPath = '/'] = match;
  const decoded = orUndefined(() => decodeURIComponent(rawPath));
  if (decoded === undefined || /[\0\r\n]/.test(decoded)) return WRONG_ESCAPES;
  // An escaped slash is data, not a delimiter (RFC 3986 §2.2): such a path stays as it was sent and matches nothing.
  const path = PLAIN_PATH.test(decoded) && !/%2f/i.test(rawPath) ? decoded : rawPath;
  return authority === undefined ? { path } : { path, authority };
}
