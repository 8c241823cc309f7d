import type { Replacement } from './todo.ts';

/** The columns of `todos` that a write sets, in the order of `valuesOf`. */
export const COLUMNS = ['title', 'done', 'category_id'] as const;

export function valuesOf({ title, done, categoryId }: Replacement) {
  return [title, done, categoryId] as const;
}
