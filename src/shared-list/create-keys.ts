import { hash } from 'node:crypto';
import { CREATED, MISSING, type TodoMembers } from './members.ts';

/** The parts of a create kept for its repeats. Both are SHA-256: of one size, and no subject can be read from them. */
export interface CreateKey {
  /** The digest of issuer, subject and the key that the caller chose: another caller's same key is a different one. */
  readonly key: string;
  /** The digest of the members of the create. */
  readonly body: string;
}

const REQUIRED = CREATED.filter(({ name, is }) => !is(MISSING[name]));

/** Creates of before such a member was added keep their digests. */
const OTHERS = CREATED.filter(({ name, is }) => is(MISSING[name]));

/** @param key As the caller chose it, without quotes (contract I5). */
export function createKey(
  caller: readonly [issuer: string, subject: string],
  key: string,
  todo: TodoMembers,
): CreateKey {
  const values: unknown[] = REQUIRED.map(({ name }) => todo[name]);
  for (const { name } of OTHERS) if (todo[name] !== MISSING[name]) values.push([name, todo[name]]);
  return { key: digest([...caller, key]), body: digest(values) };
}

/** A digest of 43 characters. JSON keeps the parts apart, and escapes lone surrogates, which UTF-8 cannot encode. */
function digest(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}
