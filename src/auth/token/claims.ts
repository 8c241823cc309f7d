import type { Refusal } from './refusal.ts';

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

/** The Claims Set of a token, or a part of it. */
export type Claims = Readonly<Record<string, unknown>>;

/** RFC 7519 §4.1.1: equal character by character, no normalization. */
export function checkIssuer(claims: Claims, issuer: string): Refusal | undefined {
  return claimAt(claims, ['iss']) === issuer ? undefined : { code: 'issuer' };
}

/** RFC 7519 §4.1.3: a string, or a list of strings of which one is ours. */
export function checkAudience(claims: Claims, audience: string): Refusal | undefined {
  const aud = claimAt(claims, ['aud']);
  const list: unknown[] = Array.isArray(aud) ? aud : [aud];
  const accepted = list.every((value) => typeof value === 'string') && list.includes(audience);
  return accepted ? undefined : { code: 'audience' };
}

/** Seconds since 1970: from the first, before the second. */
export interface Validity {
  readonly from: number;
  readonly until: number;
}

/** When `checkTimes` finds no fault with the claims of a token of which it has just found none. */
export function validityOf(claims: Claims, tolerance: number): Validity {
  const seconds = (name: string, otherwise: number) => Number(claimAt(claims, [name]) ?? otherwise);
  const begin = Math.max(seconds('nbf', Number.NEGATIVE_INFINITY), seconds('iat', Number.NEGATIVE_INFINITY));
  return { from: begin - tolerance, until: seconds('exp', 0) + tolerance };
}

/**
 * RFC 7519 §4.1.4 to §4.1.6: valid before `exp` and from `nbf` on, each moved by the tolerance for clocks that differ.
 * `exp` is required; every time must be a finite number, which `1e999` is not (contract A5). `now` and `tolerance` in
 * seconds.
 */
export function checkTimes(claims: Claims, now: number, tolerance: number): Refusal | undefined {
  const exp = claimAt(claims, ['exp']);
  const nbf = claimAt(claims, ['nbf']);
  const iat = claimAt(claims, ['iat']);
  if (exp === undefined) return { code: 'expiration-missing' };
  if (!isNumericDate(exp)) return { code: 'time-form' };
  if (nbf !== undefined && !isNumericDate(nbf)) return { code: 'time-form' };
  if (iat !== undefined && !isNumericDate(iat)) return { code: 'time-form' };
  if (now >= exp + tolerance) return { code: 'expired', time: exp };
  if (nbf !== undefined && now < nbf - tolerance) return { code: 'not-yet-valid', time: nbf };
  if (iat !== undefined && now < iat - tolerance) return { code: 'issued-later' };
  return undefined;
}

function isNumericDate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
