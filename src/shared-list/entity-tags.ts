import { hash } from 'node:crypto';

/** A validator as in `ETag`, quotes included: `"5d41402abc4b2a76b9719d911017c592"`. The service's tags are strong. */
export type EntityTag = string;

/** The value of `If-Match` or `If-None-Match`: any representation at all, or one of these (RFC 9110 §13.1). */
export type EntityTags = '*' | readonly EntityTag[];

/** Preconditions of a write on the representation that it would change. Without members there are none. */
export interface Preconditions {
  readonly ifMatch?: EntityTags | undefined;
  readonly ifNoneMatch?: EntityTags | undefined;
}

/** The strong tag of bytes, on every instance. 128 bits of SHA-256: no client can make two titles with one tag. */
export function entityTag(representation: string | Uint8Array): EntityTag {
  // JSON makes one string of it; a template would keep the whole digest and join it anew for each answer.
  return JSON.stringify(hash('sha256', representation, 'hex').slice(0, 32));
}

/** Whether a write with these preconditions may change the representation with this tag, RFC 9110 §13.2.2. */
export function preconditionsHold({ ifMatch, ifNoneMatch }: Preconditions, current: EntityTag): boolean {
  if (ifMatch !== undefined && ifMatch !== '*' && !ifMatch.includes(current)) return false;
  return ifNoneMatch === undefined || !matchesWeakly(ifNoneMatch, current);
}

/** Whether `If-None-Match` names this tag. Weakness is ignored (RFC 9110 §13.1.2): a read is then a 304. */
export function matchesWeakly(tags: EntityTags, current: EntityTag): boolean {
  return tags === '*' || tags.some((tag) => tag === current || tag === `W/${current}`);
}

/**
 * Whether one of the tags is this one as a proxy on the way has changed it (contract Order 5): with text behind it, such
 * as `-gzip`, `-br` and `;gzip`, weak or not. Used only for `If-None-Match` of a read, when no tag matches as it stands:
 * a write that took such a tag would overwrite changes that its client has not seen.
 */
export function matchesChanged(tags: EntityTags, current: EntityTag): boolean {
  if (tags === '*') return false;
  const begin = current.slice(0, -1);
  return tags.some((tag) => tag.startsWith(begin, tag.startsWith('W/') ? 2 : 0));
}

/** A tag that no todo has: weak, or with text behind its 32 hexadecimal digits. */
const CHANGED = /^(?:W\/|"[0-9a-f]{32}[^"])/;

/** Whether there are tags, and all of them are changed by a proxy, or of the compressed list. */
export function areAllChanged(tags: EntityTags): boolean {
  return tags !== '*' && tags.length > 0 && tags.every((tag) => CHANGED.test(tag));
}
