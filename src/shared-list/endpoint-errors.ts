import type { Answer } from '../http/answer.ts';

export const PRECONDITION_MALFORMED: Answer = {
  status: 400,
  detail: 'If-Match and If-None-Match must be "*" or a list of entity tags in double quotes.',
};

/** Ignoring the precondition would make a todo that the client asked not to make. */
export const PRECONDITION_NOT_TAKEN: Answer = {
  status: 400,
  detail: 'POST /todos takes no precondition: send it without If-Match and If-None-Match.',
};

/** RFC 9110 §13.1. */
export const PRECONDITION_FAILED: Answer = { status: 412 };

/** Contract Order 5. nginx makes the tag of a compressed answer weak; Apache httpd appends `-gzip` or `-br`. */
export const TAGS_CHANGED: Answer = {
  status: 412,
  detail:
    'All tags of If-Match are weak, or go on behind their 32 hexadecimal digits: a proxy that compresses has changed ' +
    'them, or they are of the list. No todo has such a tag. Switch compression off in the proxy.',
};

/** Contract I5. */
export const KEY_MALFORMED: Answer = {
  status: 400,
  detail:
    'Idempotency-Key must be one key of 1 to 128 characters from "!" to "~" without double quotes, backslashes and commas; ' +
    'double quotes around it are not part of it.',
};

/** Contract I5. */
export const SUBJECT_MISSING: Answer = {
  status: 400,
  detail: 'Idempotency-Key needs a token with the claim "sub".',
};

/** Contract I3. */
export const KEY_IN_PROGRESS: Answer = {
  status: 409,
  title: 'Request In Progress',
  headers: { 'retry-after': '1' },
};

/** Contract I4. */
export const KEY_REUSED: Answer = { status: 422, title: 'Idempotency Key Reused' };

/** Contract Endpoints A, rule 3. */
export const CATEGORY_NOT_FOUND: Answer = { status: 400, title: 'Category not found' };

/** Seconds until a client may try again: a database is back, or free, sooner than a person notices. Contract D9. */
export const UNAVAILABLE: Answer = { status: 503, headers: { 'retry-after': '1' } };

/** No `Retry-After`: an operator has to mend the database first (contract D11). */
export const BROKEN: Answer = { status: 503 };

/** Contract D9. */
export const OUTCOME_UNKNOWN: Answer = {
  status: 503,
  detail: 'It is unknown whether the change was made. Read before repeating it.',
};
