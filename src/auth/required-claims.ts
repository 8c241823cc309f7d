import { decodeEntry, isBare } from '../lib/list-setting.ts';
import { hasComment } from '../lib/white-space.ts';
import { type ClaimPath, type Claims, claimAt, parseClaimPath } from './token/identity.ts';

/** The value that a claim of every token must have (contract A14). */
export interface RequiredClaim {
  /** The name as the setting spells it. */
  readonly name: string;
  readonly path: ClaimPath;
  /** Undefined: the claim must not be there. */
  readonly value: string | undefined;
}

/**
 * A name behind `!`, before it is decoded: a name, an address or a JSON Pointer, without an empty segment. A stricter
 * grammar than that of other names, because a claim that no provider writes is missing in every token (contract A14).
 */
const FORBIDDEN_NAME =
  /^(?:(?:[a-z]+:\/\/)?(?:[\w.:-]|%23)+(?:\/(?:[\w.:-]|%23)+)*|(?:\/(?:[\w.:-]|%23|~[01])+)+)$/;

/** An entry `name=value` or `!name`; undefined when it is malformed. */
export function parseRequiredClaim(entry: string): RequiredClaim | undefined {
  const isForbidden = entry.startsWith('!');
  const [name = '', ...values] = entry.slice(isForbidden ? 1 : 0).split('=');
  if (values.length !== (isForbidden ? 0 : 1)) return undefined;
  if (isForbidden ? !FORBIDDEN_NAME.test(name) : hasComment(name)) return undefined;
  if (![name, ...values].every(isBare)) return undefined;
  const decoded = decodeEntry(name);
  const path = decoded === undefined ? undefined : parseClaimPath(decoded);
  const value = decodeEntry(values[0] ?? '');
  if (path === undefined || value === undefined) return undefined;
  return { name, path, value: isForbidden ? undefined : value };
}

/** Whether a claim has the value, or is a list with it; a list in it does not count. A claim that is null is there. */
export function hasRequiredClaim(claims: Claims, { path, value }: RequiredClaim): boolean {
  const claim = claimAt(claims, path);
  if (value === undefined) return claim === undefined;
  const members: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return members.some((member) => textOf(member) === value);
}

/** The text of a value. A larger integer may differ from the token's: numbers beyond 2^53 are rounded (RFC 8259 §6). */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'boolean' || Number.isSafeInteger(value) ? JSON.stringify(value) : undefined;
}
