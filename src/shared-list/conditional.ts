import type { IncomingHttpHeaders } from 'node:http';
import type { Answer, Headers } from '../http/message/answer.ts';
import {
  admitsWrite,
  type EntityTag,
  matchesWeakly,
  type Preconditions,
  parseEntityTags,
} from '../store/entity-tag.ts';
import { PRECONDITION_MALFORMED } from './answers.ts';

/** A shared cache keeps nothing, a private one asks before each use. */
const PRIVATE = 'private, no-cache';

const NONE: Preconditions = {};

/**
 * Goes on with the preconditions of a request (RFC 9110 §13.1). `If-Modified-Since` and `If-Unmodified-Since` are
 * ignored: no representation has a modification date. A header that names no entity tags is a 400 on every route: the
 * end of step 4 in the contract's order.
 */
export function withPreconditions(
  headers: IncomingHttpHeaders,
  handle: (preconditions: Preconditions) => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const match = headers['if-match'];
  const noneMatch = headers['if-none-match'];
  if (match === undefined && noneMatch === undefined) return handle(NONE);
  const ifMatch = match === undefined ? undefined : parseEntityTags(match);
  const ifNoneMatch = noneMatch === undefined ? undefined : parseEntityTags(noneMatch);
  const malformed =
    (match !== undefined && ifMatch === undefined) || (noneMatch !== undefined && ifNoneMatch === undefined);
  return malformed ? PRECONDITION_MALFORMED : handle({ ifMatch, ifNoneMatch });
}

/** What a read with these preconditions gets of a representation with this tag, RFC 9110 §13.2.2. */
export function decideRead(preconditions: Preconditions, current: EntityTag): 200 | 304 | 412 {
  const { ifMatch, ifNoneMatch } = preconditions;
  if (!admitsWrite({ ifMatch }, current)) return 412;
  return ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, current) ? 304 : 200;
}

/** The headers of a representation with this validator. */
export function tagged(etag: EntityTag): Headers {
  return { etag, 'cache-control': PRIVATE };
}
