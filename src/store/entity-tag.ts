import { hash } from 'node:crypto';

/** A validator as `ETag` carries it, quotes included: `"5d41402abc4b2a76b9719d911017c592"`. Ours are strong. */
export type EntityTag = string;

/** The value of `If-Match` or `If-None-Match`: any representation at all, or one of these (RFC 9110 §13.1). */
export type EntityTags = '*' | readonly EntityTag[];

/** What a write asks of the representation that it would change. Without members it asks nothing. */
export interface Preconditions {
  readonly ifMatch?: EntityTags | undefined;
  readonly ifNoneMatch?: EntityTags | undefined;
}

/**
 * The strong tag of a representation: equal for equal bytes, on every instance and after every restart.
 * 128 bits of SHA-256, so that nobody can make two titles with one tag.
 */
export function entityTag(representation: string | Uint8Array): EntityTag {
  // JSON makes one string of it; a template would keep the whole digest and join it anew for each answer.
  return JSON.stringify(hash('sha256', representation, 'hex').slice(0, 32));
}

/** Whether a write with these preconditions may change the representation with this tag, RFC 9110 §13.2.2. */
export function admitsWrite({ ifMatch, ifNoneMatch }: Preconditions, current: EntityTag): boolean {
  if (ifMatch !== undefined && ifMatch !== '*' && !ifMatch.includes(current)) return false;
  return ifNoneMatch === undefined || !matchesWeakly(ifNoneMatch, current);
}

/** Whether `If-None-Match` names this tag: weakness is ignored (RFC 9110 §13.1.2), so 304 on a read. */
export function matchesWeakly(tags: EntityTags, current: EntityTag): boolean {
  return tags === '*' || tags.some((tag) => tag === current || tag === `W/${current}`);
}

// OWS, and an entity-tag or the nothing between two commas (RFC 9110 §5.6.1.2, §8.8.3).
const ELEMENT = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/** Parses `If-Match` or `If-None-Match`; undefined when it is malformed, an empty list included. */
export function parseEntityTags(value: string): EntityTags | undefined {
  if (/^[ \t]*\*[ \t]*$/.test(value)) return '*';
  const tags: EntityTag[] = [];
  ELEMENT.lastIndex = 0;
  while (ELEMENT.lastIndex < value.length) {
    const element = ELEMENT.exec(value);
    if (element === null) return undefined;
    if (element[1] !== undefined) tags.push(element[1]);
  }
  return tags.length === 0 ? undefined : tags;
}
