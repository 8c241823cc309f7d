/** Longest title, in Unicode code points. Specification, Limits. */
export const TITLE_MAX_LENGTH = 100;

/** Largest todo id and category id: the top of the signed 32-bit range. Specification, Limits. */
export const MAX_ID = 2_147_483_647;

declare const parsed: unique symbol;

/** 1 to 100 code points, not only white space, well-formed, no U+0000. Made only by the parser in `bodies.ts`. */
export type Title = string & { readonly [parsed]: 'Title' };

/** 1 to 2147483647. Says nothing about whether the category exists: only the store knows. */
export type CategoryId = number & { readonly [parsed]: 'CategoryId' };

/** The read shape `TodoResponse`, members in the specification's order. Made only by a store. */
export interface Todo {
  readonly id: number;
  readonly title: string;
  readonly done: boolean;
  readonly categoryId: number;
}

/** The `TodoResponse` as JSON text. It depends on the todo alone, so every instance and every start makes the same. */
export function todoJson({ id, title, done, categoryId }: Todo): string {
  return JSON.stringify({ id, title, done, categoryId });
}

/** A parsed `ReplaceTodo`: what is stored afterwards, whole. */
export interface Replacement {
  readonly title: Title;
  readonly done: boolean;
  readonly categoryId: CategoryId;
}

/** A parsed `CreateTodo`. A todo always begins with `done` false. */
export type NewTodo = Omit<Replacement, 'done'>;
