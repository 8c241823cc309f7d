import pino from 'pino';
import { authenticateWith } from '../../src/auth/admit.ts';
import { fixedKeys, inOrder, type Keys } from '../../src/auth/keys/keys.ts';
import { fromSecret, readJwk } from '../../src/auth/keys/verification-key.ts';
import type { Trust } from '../../src/auth/token/checks.ts';
import type { LogEvent } from '../../src/events.ts';
import { eventLogger } from '../../src/telemetry/log.ts';
import { AUDIENCE, ISSUER, jwks, SECRET } from './forge.ts';

/** What a service is told that trusts the test issuer. */
export const TRUST = { issuer: ISSUER, audiences: [AUDIENCE], claims: {}, clockToleranceSeconds: 30 };

/** The keys that the test issuer publishes. */
export function issuerKeys(): Keys {
  return fixedKeys(inOrder(jwks().keys.map(usable)), 'the test issuer');
}

export function secretKeys(): Keys {
  return fixedKeys([fromSecret(SECRET)], 'the test secret');
}

export function usable(jwk: unknown) {
  const key = readJwk(jwk);
  if ('reason' in key) throw new Error(key.reason);
  return key;
}

/** Says what comes of a token with these keys: `accepted`, or why not. */
export function verdictsWith(keys: Keys, trust: Partial<Trust> = {}): (token: string) => Promise<string> {
  const authenticate = authenticateWith({ ...TRUST, ...trust, keys, now: Date.now });
  return async (token) => (await authenticate(`Bearer ${token}`)).code;
}

/** Asks a service with tokens. */
export function callerOf(baseUrl: string) {
  return {
    read: (token: string, path = '/todos') =>
      fetch(baseUrl + path, { headers: { authorization: `Bearer ${token}` } }),
    write(token: string) {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = '{"title":"Water the plants","categoryId":1}';
      return fetch(`${baseUrl}/todos`, { method: 'POST', headers, body });
    },
  };
}

/** A line of the log. */
export interface Line {
  readonly level: number;
  readonly event: string;
  readonly msg: string;
  readonly reason: string;
  readonly kids?: readonly string[];
  readonly keys?: number;
}

/** A log that a test reads. */
export function keptLog(): { readonly logEvent: LogEvent; readonly lines: Line[] } {
  const lines: Line[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  return { logEvent: eventLogger(log), lines };
}
