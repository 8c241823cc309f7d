import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../http/message/answer.ts';
import type { Call } from '../http/message/routes.ts';
import {
  type CreateKey,
  createKey,
  type EntityTag,
  type EntityTags,
  type NewTodo,
  type Preconditions,
} from '../store/todo.ts';
import { KEY_MALFORMED, SUBJECT_MISSING } from './answers.ts';

// A fault of these headers is a 400 at the end of step 4 in the contract's order.

const NONE: Preconditions = {};

/**
 * The preconditions of a request (RFC 9110 §13.1); undefined when a header names no entity tags. `If-Modified-Since` and
 * `If-Unmodified-Since` are ignored: no representation has a modification date.
 */
export function readPreconditions(headers: IncomingHttpHeaders): Preconditions | undefined {
  const match = headers['if-match'];
  const noneMatch = headers['if-none-match'];
  if (match === undefined && noneMatch === undefined) return NONE;
  const ifMatch = match === undefined ? undefined : parseEntityTags(match);
  const ifNoneMatch = noneMatch === undefined ? undefined : parseEntityTags(noneMatch);
  const malformed =
    (match !== undefined && ifMatch === undefined) || (noneMatch !== undefined && ifNoneMatch === undefined);
  return malformed ? undefined : { ifMatch, ifNoneMatch };
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

/** 1 to 128 characters U+0021 to U+007E without `"`, `\` and `,`; bare, or in double quotes with nothing behind. */
const KEY = /^(?:"([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,128})"|([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,128}))$/;

/**
 * The key in a value of `Idempotency-Key`, or undefined when it is malformed (contract I5). Node.js joins the values
 * of two lines with a comma, which no key has.
 */
export function parseIdempotencyKey(value: string): string | undefined {
  const [, quoted, bare] = KEY.exec(value) ?? [];
  return quoted ?? bare;
}

/** The key of a create, undefined without one, or the answer to a fault of it. */
export function readCreateKey(
  { headers, identity: { caller } }: Call,
  todo: NewTodo,
): CreateKey | Answer | undefined {
  const value = headers['idempotency-key'];
  if (value === undefined) return undefined;
  const key = parseIdempotencyKey(String(value));
  if (key === undefined) return KEY_MALFORMED;
  return caller === null ? SUBJECT_MISSING : createKey(caller, key, todo);
}
