import { hash } from 'node:crypto';
import type { Identity } from '../auth/identity.ts';
import type { Answer } from '../http/message/answer.ts';
import type { Call } from '../http/message/call.ts';
import { COLUMNS } from './columns.ts';
import { KEY_MALFORMED, SUBJECT_MISSING } from './document.ts';
import type { NewTodo } from './todo.ts';

/** What is kept of a create that may be repeated. Two of SHA-256: of one size, and a subject cannot be read from it. */
export interface CreateKey {
  /** The digest of issuer, subject and the key that the caller chose: another caller's same key is another one. */
  readonly key: string;
  /** The digest of what is created. */
  readonly body: string;
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

/** @param key as `parseIdempotencyKey` gives it. */
export function createKey(caller: NonNullable<Identity['caller']>, key: string, todo: NewTodo): CreateKey {
  return { key: digest([...caller, key]), body: digest(CREATED.map((member) => todo[member])) };
}

/** Title and category: what a create says of a todo. */
const CREATED = COLUMNS.map(([member]) => member).filter((member) => member !== 'done');

/** 43 characters. JSON keeps the parts apart, and escapes what UTF-8 cannot say. */
function digest(parts: readonly (string | number)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}

/** Goes on with the key of a create, if there is one. A fault of it is a 400: the end of step 4 in the contract's order. */
export function withIdempotencyKey(
  { headers, identity: { caller } }: Call,
  todo: NewTodo,
  handle: (key: CreateKey | undefined) => Promise<Answer>,
): Answer | Promise<Answer> {
  const value = headers['idempotency-key'];
  if (value === undefined) return handle(undefined);
  const key = parseIdempotencyKey(String(value));
  if (key === undefined) return KEY_MALFORMED;
  if (caller === null) return SUBJECT_MISSING;
  return handle(createKey(caller, key, todo));
}
