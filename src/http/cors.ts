import type { IncomingMessage } from 'node:http';
import type { LogEvent } from '../events.ts';
import { readList } from '../lib/list-setting.ts';
import { isOneAddress } from '../lib/one-address.ts';
import type { Settings } from '../settings/read.ts';
import type { Answer } from './answer.ts';

/** Methods of all routes together: a preflight permits nothing that the request is refused for (contract R6). */
const METHODS = 'DELETE, GET, HEAD, POST, PUT';

/** `*` is every header but `Authorization`. Firefox remembers a preflight only for the headers that are named. */
const REQUEST_HEADERS = '*, Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key';

/** Seconds that a browser may remember a preflight. Chromium's own limit is two hours. */
const PREFLIGHT_SECONDS = '7200';

/** Characters of an origin that a line shows. */
const MAX_SHOWN = 100;

export type Cors = ReturnType<typeof openCors>;

/**
 * Lets browser applications of some origins in (the CORS protocol of https://fetch.spec.whatwg.org/).
 *
 * @param origins exact, such as `https://app.example`; no other origin learns anything, and no credentials are allowed.
 */
export function openCors(origins: readonly string[], logEvent: LogEvent) {
  const allowed = new Set(origins);
  return {
    /** Adds the headers that tell a browser whether its application may read the answer. */
    apply<T extends Pick<Answer, 'headers'>>(answer: T, { headers: { origin } }: IncomingMessage): T {
      if (allowed.size === 0) return answer;
      const more: Record<string, string> = { ...answer.headers };
      const { vary } = more;
      more.vary = vary === undefined ? 'Origin' : `${vary}, Origin`;
      if (origin !== undefined && allowed.has(origin)) {
        more['access-control-allow-origin'] = origin;
        more['access-control-expose-headers'] = '*';
      }
      return { ...answer, headers: more };
    },
    /** Whether a request is a preflight of an allowed origin. Otherwise no page could read the refusal of its path. */
    permits: (request: IncomingMessage) => allowed.has(originOfPreflight(request) ?? ''),
    /** The answer to a preflight of an allowed origin; undefined for any other request. */
    preflight(request: IncomingMessage): Answer | undefined {
      const origin = originOfPreflight(request);
      if (origin === undefined) return undefined;
      if (!allowed.has(origin)) {
        logEvent({ event: 'preflight-refused', origin: origin.slice(0, MAX_SHOWN) });
        return undefined;
      }
      return {
        status: 204,
        headers: {
          'access-control-allow-methods': METHODS,
          'access-control-allow-headers': REQUEST_HEADERS,
          'access-control-max-age': PREFLIGHT_SECONDS,
        },
      };
    },
  };
}

function originOfPreflight({ method, url, headers }: IncomingMessage): string | undefined {
  if (method !== 'OPTIONS' || url === '*') return undefined;
  return headers['access-control-request-method'] === undefined ? undefined : headers.origin;
}

/** Origins as browsers send them (RFC 6454 §6.2): scheme, host in lower case, port unless it is the default. */
export function readOrigins(settings: Settings): readonly string[] {
  const value = settings.read('TODO_CORS_ORIGINS') ?? '';
  const { entries, malformed } = readList(value, originOf, 'trimmed');
  for (const origin of malformed) {
    // A password may also have commas.
    const received = settings.quoted('TODO_CORS_ORIGINS', value.includes('@') ? value : origin);
    const wanted = 'must list origins like "https://app.example", comma-separated';
    settings.refuse('TODO_CORS_ORIGINS', wanted, received);
  }
  return entries;
}

function originOf(text: string): string | undefined {
  const url = URL.parse(text);
  return url?.origin === text && /^https?:[^*]+$/.test(text) && isOneAddress(text) ? text : undefined;
}
