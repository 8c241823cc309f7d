import { quoteReceived } from '../../quote.ts';
import type { Settings } from '../../read-settings.ts';
import type { Answer } from './answer.ts';
import type { Call } from './routes.ts';

/** Request headers that a browser may send: those that the endpoints read beyond the ones that are always allowed. */
const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, traceparent';

/** Response headers that a script may read. */
const EXPOSED_HEADERS = 'Location, ETag, WWW-Authenticate, Retry-After';

/** Seconds that a browser may remember a preflight. Chromium's own limit is two hours. */
const PREFLIGHT_SECONDS = '7200';

export type Cors = ReturnType<typeof openCors>;

/**
 * Lets browser applications of some origins in (the CORS protocol of https://fetch.spec.whatwg.org/).
 *
 * @param origins exact, such as `https://app.example`; no other origin learns anything, and no credentials are allowed.
 */
export function openCors(origins: readonly string[]) {
  const allowed = new Set(origins);
  return {
    /** The same answer, which tells a browser whether its application may read it. */
    apply(answer: Answer, { headers: { origin } }: Call): Answer {
      const { vary } = answer.headers ?? {};
      const headers: Record<string, string> = { ...answer.headers };
      headers.vary = vary === undefined ? 'Origin' : `${vary}, Origin`;
      if (origin !== undefined && allowed.has(origin)) {
        headers['access-control-allow-origin'] = origin;
        headers['access-control-expose-headers'] = EXPOSED_HEADERS;
      }
      return { ...answer, headers };
    },
    /** The answer to a preflight of an allowed origin for a path with these methods; undefined when it is no such thing. */
    preflight({ method, headers }: Call, allow: string): Answer | undefined {
      const { origin, 'access-control-request-method': wanted } = headers;
      if (method !== 'OPTIONS' || wanted === undefined) return undefined;
      if (origin === undefined || !allowed.has(origin)) return undefined;
      return {
        status: 204,
        headers: {
          'access-control-allow-methods': allow,
          'access-control-allow-headers': REQUEST_HEADERS,
          'access-control-max-age': PREFLIGHT_SECONDS,
        },
      };
    },
  };
}

/** Origins as browsers send them (RFC 6454 §6.2): scheme, host in lower case, port unless it is the default. */
export function readOrigins(settings: Settings): readonly string[] {
  const value = settings.read('TODO_CORS_ORIGINS') ?? '';
  const origins = value.split(',').map((origin) => origin.trim());
  const given = origins.filter((origin) => origin !== '');
  for (const origin of given) {
    const url = URL.parse(origin);
    if (url !== null && /^https?:$/.test(url.protocol) && url.origin === origin) continue;
    // A password may have commas, too.
    const received = quoteReceived(value.includes('@') ? value : origin);
    const wanted = 'must list origins like "https://app.example", comma-separated';
    settings.refuse('TODO_CORS_ORIGINS', wanted, received);
  }
  return given;
}
