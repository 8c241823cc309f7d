import type { Identity } from './identity.ts';

declare const granted: unique symbol;

/** An identity that may create, replace and delete todos. Made only by `canWriteTodos`. */
export type Editor = Identity & { readonly [granted]: 'CanWriteTodos' };

/**
 * The write policy `CanWriteTodos`: the role `editor`, lower case, exact match (specification,
 * Authentication 3). It looks at the role alone, never at who made a todo.
 */
export function canWriteTodos(identity: Identity): identity is Editor {
  return identity.roles.includes('editor');
}
