import type { IncomingMessage } from 'node:http';
import { readTarget } from './target.ts';

/** uri-host [ ":" port ], RFC 9110 §7.2, never empty: an IP literal, or a registered name or IPv4 address. */
const HOST =
  /^(?:\[[0-9a-f:.]+\]|\[v[0-9a-f]+\.[\w.~!$&'()*+,;=:-]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::\d*)?$/i;

/** Fields that a request must not repeat: neither of two could be trusted. */
const SINGULAR: ReadonlySet<string> = new Set(['authorization', 'content-type', 'content-length']);

/** Lengths of the names that the look cares about, so that most header lines cost one comparison. */
const LENGTHS: ReadonlySet<number> = new Set(['host', ...SINGULAR].map((name) => name.length));

/**
 * The strict look at a request before routing (contract, Order of checks 1). Puts the decoded path into
 * `request.url`; the result is a sentence for people when the request is refused.
 */
export function faultOf(request: IncomingMessage): string | undefined {
  if (request.httpVersionMajor !== 1) return 'The HTTP version must be 1.0 or 1.1.';
  const hosts = [];
  const seen = new Set<string>();
  const lines = request.rawHeaders;
  for (let i = 0; i < lines.length; i += 2) {
    const field = lines[i] ?? '';
    if (!LENGTHS.has(field.length)) continue;
    const name = field.toLowerCase();
    if (name === 'host') hosts.push(lines[i + 1] ?? '');
    else if (SINGULAR.has(name)) {
      if (seen.has(name)) return `The header ${name} must not be repeated.`;
      seen.add(name);
    }
  }
  const target = readTarget(request.url ?? '', request.method ?? '');
  if (typeof target === 'string') return target;
  const mayLackHost = request.httpVersionMinor === 0 && hosts.length === 0;
  const names = target.authority === undefined ? hosts : [...hosts, target.authority];
  if ((hosts.length !== 1 && !mayLackHost) || !names.every((host) => HOST.test(host))) {
    return 'The request must have exactly one valid Host header.';
  }
  request.url = target.path;
  return undefined;
}
