import { hash } from 'node:crypto';
import { MEMBERS, type NewTodo } from './todo.ts';

/** What is kept of a create that may be repeated. Two of SHA-256: of one size, and a subject cannot be read from it. */
export interface CreateKey {
  /** The digest of issuer, subject and the key that the caller chose: another caller's same key is another one. */
  readonly key: string;
  /** The digest of what is created. */
  readonly body: string;
}

/**
 * @param caller Issuer and subject of the token.
 * @param key As the caller chose it, without quotes (contract I5).
 */
export function createKey(
  caller: readonly [issuer: string, subject: string],
  key: string,
  todo: NewTodo,
): CreateKey {
  return { key: digest([...caller, key]), body: digest(CREATED.map((member) => todo[member])) };
}

/** Title and category: what a create says of a todo. */
const CREATED = MEMBERS.map(({ name }) => name).filter((name) => name !== 'done');

/** 43 characters. JSON keeps the parts apart, and escapes what UTF-8 cannot say. */
function digest(parts: readonly (string | number)[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
