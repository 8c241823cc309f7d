/**
 * The reasons why a token is refused: a stable code for the log and for tests, and a sentence for `WWW-Authenticate`. The
 * list is closed: an answer never has any part of the token (contract A2).
 */
const DESCRIPTIONS = {
  'token-too-long': 'The token is longer than 12 KiB',
  'token-form': 'The token is not a signed token in compact form',
  'header-form': 'The header of the token cannot be read',
  'header-parameter': 'The header of the token has a parameter that is not accepted',
  kind: 'The token is of a kind that is not accepted',
  algorithm: 'The algorithm of the token is not accepted',
  'claims-form': 'The claims of the token cannot be read',
  'key-unknown': 'The key of the token is unknown',
  signature: 'The signature of the token is invalid',
  issuer: 'The issuer of the token is not accepted',
  audience: 'The token is for another audience',
  'required-claim': 'The token does not have the required claims',
  'expiration-missing': 'The token has no expiration time',
  'time-form': 'The token has a time that is not a number',
  expired: 'The token expired',
  'not-yet-valid': 'The token is not valid yet',
  'issued-later': 'The token was issued in the future',
} as const;

export type RefusalCode = keyof typeof DESCRIPTIONS;

export interface Refusal {
  readonly code: RefusalCode;
  /** Numeric Date (seconds since 1970, RFC 7519 §2) from which a token is no longer, or not yet, valid. */
  readonly time?: number;
  /** The name of the required claim that the token lacks, from the setting: for the log, not for the answer. */
  readonly claim?: string;
}

/** 9999-12-31T23:59:59Z. Later or negative times have no spelling of four-digit years. */
const LAST_SECOND = 253_402_300_799;

/** The sentence for people, ASCII without quotation marks (RFC 6750 §3), with the time where that helps. */
export function describeRefusal({ code, time }: Refusal): string {
  const sentence = DESCRIPTIONS[code];
  const utc = time === undefined ? undefined : utcTime(time);
  if (utc === undefined) return sentence;
  return code === 'expired' ? `${sentence} at ${utc}` : `The token is not valid before ${utc}`;
}

/** `2026-11-21T07:57:06Z`, or undefined outside the years 1970 to 9999. */
export function utcTime(numericDate: number): string | undefined {
  if (!(numericDate >= 0 && numericDate <= LAST_SECOND)) return undefined;
  return `${new Date(Math.floor(numericDate) * 1000).toISOString().slice(0, 19)}Z`;
}

/** 401 without credentials: RFC 6750 §3.1 gives no error code to a request that carries none (contract A1). */
export const CHALLENGE = 'Bearer realm="todo-service"';

/** 403: the token is valid and its roles do not suffice (contract A3). */
export const INSUFFICIENT_SCOPE = `${CHALLENGE}, error="insufficient_scope"`;

/** 401 for a token that failed, RFC 6750 §3 (contract A2). */
export function invalidToken(refusal: Refusal): string {
  return `${CHALLENGE}, error="invalid_token", error_description="${describeRefusal(refusal)}"`;
}
