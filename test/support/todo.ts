import type { Todo } from '../../src/shared-list/members.ts';

/** A todo as a client reads it, its members in the order of the specification. */
export function todo(id: number, title: string, done = false, categoryId = 1): Todo {
  return { id, title, done, categoryId };
}
