import type { FastifyReply, FastifyRequest } from 'fastify';
import { say } from '../problem/doors.ts';
import {
  admitsWrite,
  type EntityTag,
  matchesWeakly,
  type Preconditions,
  parseEntityTags,
} from './entity-tag.ts';

const NONE: Preconditions = {};

/**
 * The preconditions of a request (RFC 9110 §13.1), or `malformed` for a header that names no entity tags.
 * `If-Modified-Since` and `If-Unmodified-Since` are ignored: no representation has a modification date.
 */
export function preconditionsOf({ headers }: FastifyRequest): Preconditions | 'malformed' {
  const match = headers['if-match'];
  const noneMatch = headers['if-none-match'];
  if (match === undefined && noneMatch === undefined) return NONE;
  const ifMatch = match === undefined ? undefined : parseEntityTags(match);
  const ifNoneMatch = noneMatch === undefined ? undefined : parseEntityTags(noneMatch);
  const malformed =
    (match !== undefined && ifMatch === undefined) || (noneMatch !== undefined && ifNoneMatch === undefined);
  return malformed ? 'malformed' : { ifMatch, ifNoneMatch };
}

/** The answer to a precondition header that cannot be read: the end of step 4 in the contract's order. */
export function sayMalformed(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const detail = 'If-Match and If-None-Match must be "*" or a list of entity tags in double quotes.';
  return say(reply, { status: 400, detail });
}

/** What a read with these preconditions gets of a representation with this tag, RFC 9110 §13.2.2. */
export function decideRead(preconditions: Preconditions, current: EntityTag): 200 | 304 | 412 {
  const { ifMatch, ifNoneMatch } = preconditions;
  if (!admitsWrite({ ifMatch }, current)) return 412;
  return ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, current) ? 304 : 200;
}

/** Puts the validator on an answer. A shared cache keeps nothing, a private one asks before each use. */
export function tagged(reply: FastifyReply, etag: EntityTag): FastifyReply {
  return reply.header('ETag', etag).header('Cache-Control', 'private, no-cache');
}
