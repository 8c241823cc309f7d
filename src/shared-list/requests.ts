import type { IncomingHttpHeaders } from 'node:http';
import type { Answer } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import type { Parsed } from '../http/json-body.ts';
import { type CreateKey, createKey } from './create-keys.ts';
import { KEY_MALFORMED, SUBJECT_MISSING } from './endpoint-errors.ts';
import type { EntityTag, EntityTags, Preconditions } from './entity-tags.ts';
import { CREATED, hasMembers, MEMBERS, MISSING, type Row, type Sent, type TodoMembers } from './members.ts';

export const parseCreateTodo = (body: object) => parse(body, CREATED);

export const parseReplaceTodo = (body: object) => parse(body, MEMBERS);

/** Parses the members of a body; others are ignored (contract B6). */
function parse(body: Sent, members: readonly Row[]): Parsed<TodoMembers> {
  const value: Sent = { ...MISSING };
  for (const { name } of members) {
    const sent = body[name];
    if (sent !== undefined) value[name] = sent;
  }
  return hasMembers(value) ? { value } : { errors: errorsOf(value, members, body) };
}

/** The `errors` of a validation failure (contract B12): all failing members, in the order of the specification. */
function errorsOf(value: Sent, members: readonly Row[], body: object): Record<string, readonly string[]> {
  const failing = members.filter(({ name, is }) => !is(value[name]));
  const errors = failing.map(({ name, faults }) => {
    const found = name in value ? faults(value[name]) : [`is required${misspelling(name, body)}`];
    return [name, found.map((fault) => `${name} ${fault}.`)];
  });
  return Object.fromEntries(errors);
}

/** Contract B8: a member in another letter case is named where the right one is missing. */
function misspelling(member: string, body: object): string {
  const seen = Object.keys(body).find((name) => name.toLowerCase() === member.toLowerCase());
  return seen === undefined ? '' : `; "${seen}" was sent, but member names are case-sensitive`;
}

/**
 * The preconditions of a request (RFC 9110 §13.1); undefined when a header names no entity tags. `If-Modified-Since` and
 * `If-Unmodified-Since` are ignored: no representation has a modification date.
 */
export function readPreconditions(headers: IncomingHttpHeaders): Preconditions | undefined {
  const ifMatch = parseEntityTags(headers['if-match']);
  const ifNoneMatch = parseEntityTags(headers['if-none-match']);
  return ifMatch === null || ifNoneMatch === null ? undefined : { ifMatch, ifNoneMatch };
}

/** An entity-tag, or the empty element between two commas (RFC 9110 §5.6.1.2, §8.8.3). */
const ELEMENT = /[ \t]*(?:((?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

/** Parses `If-Match` or `If-None-Match`; undefined without the header, null when it is malformed. */
export function parseEntityTags(value: string | undefined): EntityTags | undefined | null {
  if (value === undefined) return undefined;
  if (/^[ \t]*\*[ \t]*$/.test(value)) return '*';
  const tags: EntityTag[] = [];
  ELEMENT.lastIndex = 0;
  while (ELEMENT.lastIndex < value.length) {
    const element = ELEMENT.exec(value);
    if (element === null) return null;
    if (element[1] !== undefined) tags.push(element[1]);
  }
  return tags;
}

/** 1 to 128 characters U+0021 to U+007E without `"`, `\` and `,`; bare, or in double quotes with nothing behind. */
const KEY = /^(?:"([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,128})"|([\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,128}))$/;

/** The key in `Idempotency-Key`, or undefined (contract I5). Node.js joins two lines with a comma, which no key has. */
export function parseIdempotencyKey(value: string): string | undefined {
  const [, quoted, bare] = KEY.exec(value) ?? [];
  return quoted ?? bare;
}

/** The key of a create, undefined without one, or the answer to a fault of the key. */
export function readCreateKey(
  { headers, identity: { caller } }: Pick<Call, 'headers' | 'identity'>,
  todo: TodoMembers,
): CreateKey | Answer | undefined {
  const value = headers['idempotency-key'];
  if (value === undefined) return undefined;
  const key = parseIdempotencyKey(String(value));
  if (key === undefined) return KEY_MALFORMED;
  return caller === null ? SUBJECT_MISSING : createKey(caller, key, todo);
}
