import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { TodoRepresentation } from '../../src/shared-list/representation.ts';
import type { TodoStore } from '../../src/shared-list/store.ts';
import type { CategoryId, NewTodo, Replacement, Title, Todo } from '../../src/shared-list/todo.ts';

/** A parsed `CreateTodo`, for tests that begin behind the parser. */
export function newTodo(title: string, categoryId: number): NewTodo {
  return { title: title as Title, categoryId: categoryId as CategoryId };
}

/** A parsed `ReplaceTodo`, for tests that begin behind the parser. */
export function replacement(title: string, done: boolean, categoryId: number): Replacement {
  return { title: title as Title, done, categoryId: categoryId as CategoryId };
}

/** Adds a todo to a category that exists. */
export async function addedTo(store: TodoStore, title: string, categoryId = 1): Promise<TodoRepresentation> {
  const outcome = await store.add(newTodo(title, categoryId));
  assert.ok(typeof outcome === 'object', `adding to category ${categoryId} gave ${outcome}`);
  return outcome;
}

export async function found(store: TodoStore, id: number): Promise<Todo | undefined> {
  const representation = await store.find(id);
  return representation === undefined ? undefined : JSON.parse(representation.json);
}

export async function listed(store: TodoStore): Promise<Todo[]> {
  return JSON.parse((await store.list()).bytes.toString());
}

/** 1 to 100 code points of all planes, without U+0000 and surrogates (contract B10). */
export const titles = fc
  .array(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).filter((character) => character !== '\0'),
    { minLength: 1, maxLength: 100 },
  )
  .map((characters) => characters.join(''));
