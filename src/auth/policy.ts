import type { Identity } from './identity.ts';

/**
 * The write policy `CanWriteTodos`: the role `editor`, lower case, exact match (specification,
 * Authentication 3). It looks at the role alone, never at who made a todo.
 */
export function canWriteTodos({ roles }: Identity): boolean {
  return roles.includes('editor');
}
