import type { CategoryId, NewTodo, Replacement, Title } from '../../src/shared-list/todo.ts';

/** A parsed `CreateTodo`, for tests that begin behind the parser. */
export function newTodo(title: string, categoryId: number): NewTodo {
  return { title: title as Title, categoryId: categoryId as CategoryId };
}

/** A parsed `ReplaceTodo`, for tests that begin behind the parser. */
export function replacement(title: string, done: boolean, categoryId: number): Replacement {
  return { title: title as Title, done, categoryId: categoryId as CategoryId };
}
