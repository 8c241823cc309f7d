import type { Answer } from '../http/message/answer.ts';
import type { Call } from '../http/message/call.ts';
import { type CreateKey, createKey } from '../store/create-key.ts';
import type { NewTodo } from '../store/todo.ts';
import { KEY_MALFORMED, SUBJECT_MISSING } from './answers.ts';

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
