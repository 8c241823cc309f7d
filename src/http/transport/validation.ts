import type { IncomingMessage } from 'node:http';
import type { Problem } from '../../problem/problem.ts';
import { MAX_FIELD_LINES } from './framing.ts';
import { readTarget } from './target.ts';

/** uri-host [ ":" port ], RFC 9110 §7.2, never empty: an IP literal, or a registered name or IPv4 address. */
const HOST =
  /^(?:\[[0-9a-f:.]+\]|\[v[0-9a-f]+\.[\w.~!$&'()*+,;=:-]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})+)(?::\d*)?$/i;

/**
 * What is wrong with a request before routing (contract, Order of checks 1). Puts the decoded path into
 * `request.url`; the result is the problem when the request is refused.
 */
export function faultOf(request: IncomingMessage): Problem | undefined {
  if (request.rawHeaders.length > 2 * MAX_FIELD_LINES) return { status: 431 };
  const detail = malformationOf(request);
  return detail === undefined ? undefined : { status: 400, detail };
}

function malformationOf(request: IncomingMessage): string | undefined {
  if (request.httpVersionMajor !== 1) return NOT_HTTP.detail;
  if (request.method === 'SOURCE') return 'The method SOURCE is for ICE.';
  const repeated = repeatedField(request.rawHeaders);
  if (repeated !== undefined) {
    return repeated === 'host' ? HOST_FAULT : `The header ${repeated} must not be repeated.`;
  }
  const target = readTarget(request.url ?? '', request.method ?? '');
  if (typeof target === 'string') return target;
  const { host, 'transfer-encoding': coding } = request.headers;
  if (host === undefined ? request.httpVersionMinor !== 0 : !HOST.test(host)) return HOST_FAULT;
  if (target.authority !== undefined && !HOST.test(target.authority)) return HOST_FAULT;
  if (coding !== undefined && (request.httpVersionMinor === 0 || coding.toLowerCase() !== 'chunked')) {
    return 'The only transfer coding is chunked, and HTTP/1.0 has none.';
  }
  request.url = target.path;
  return undefined;
}

/** What a request line of another protocol gets. */
export const NOT_HTTP = { status: 400, detail: 'The HTTP version must be 1.0 or 1.1.' } as const;

const HOST_FAULT = 'The request must have exactly one valid Host header.';

/**
 * The first field of which neither of two could be trusted and which is there twice. Node.js keeps the first
 * and says nothing; a repeated Content-Length its parser refuses by itself. Most lines cost one comparison of lengths.
 */
function repeatedField(lines: readonly string[]): string | undefined {
  let host = false;
  let type = false;
  let authorization = false;
  for (let i = 0; i < lines.length; i += 2) {
    const field = lines[i] ?? '';
    switch (field.length) {
      case 'host'.length:
        if (field.toLowerCase() !== 'host') break;
        if (host) return 'host';
        host = true;
        break;
      case 'content-type'.length:
        if (field.toLowerCase() !== 'content-type') break;
        if (type) return 'content-type';
        type = true;
        break;
      case 'authorization'.length:
        if (field.toLowerCase() !== 'authorization') break;
        if (authorization) return 'authorization';
        authorization = true;
        break;
    }
  }
  return undefined;
}
