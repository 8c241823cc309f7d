import { type EntityTag, entityTag } from './entity-tag.ts';

/** Longest title, in Unicode code points. Specification, Limits. */
export const TITLE_MAX_LENGTH = 100;

/** Largest todo id and category id: the top of the signed 32-bit range. Specification, Limits. */
export const MAX_ID = 2_147_483_647;

/** As in `openapi/shared-list.v1.json`, which says it to clients. */
const TITLE = /^\p{White_Space}*[^\p{White_Space}\0\p{Cs}][^\0\p{Cs}]*$/u;

declare const parsed: unique symbol;

/** 1 to 100 code points, not only white space, well-formed, no U+0000. Made only by the parser in `shared-list/bodies.ts`, and by `isTitle`. */
export type Title = string & { readonly [parsed]: 'Title' };

/** 1 to 2147483647. Says nothing about whether the category exists: only the store knows. */
export type CategoryId = number & { readonly [parsed]: 'CategoryId' };

/** Whether a value keeps the rules of a title (contract B10). */
export function isTitle(value: unknown): value is Title {
  // A character has at most two UTF-16 units.
  if (typeof value !== 'string' || value.length > 2 * TITLE_MAX_LENGTH || !TITLE.test(value)) return false;
  return value.length <= TITLE_MAX_LENGTH || [...value].length <= TITLE_MAX_LENGTH;
}

/** Whether a value can be the id of a todo or of a category. */
export function isId(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_ID;
}

/** What a member of a todo is, and its column holds. */
interface Kinds {
  readonly text: string;
  readonly boolean: boolean;
  readonly integer: number;
}

/**
 * The members of a todo that a write sets, in the order of the specification, and their columns. The rows, the JSON and
 * what is compared of a create follow from this list.
 */
export const MEMBERS = [
  { name: 'title', column: 'title', kind: 'text' },
  { name: 'done', column: 'done', kind: 'boolean' },
  { name: 'categoryId', column: 'category_id', kind: 'integer' },
] as const satisfies readonly {
  readonly name: string;
  readonly column: string;
  readonly kind: keyof Kinds;
}[];

type Members = { readonly [Member in (typeof MEMBERS)[number] as Member['name']]: Kinds[Member['kind']] };

/** The read shape `TodoResponse`. Made only by a store. */
export interface Todo extends Members {
  readonly id: number;
}

/** A parsed `ReplaceTodo`: what is stored afterwards, whole. */
export interface Replacement extends Members {
  readonly title: Title;
  readonly categoryId: CategoryId;
}

/** A parsed `CreateTodo`. A todo always begins with `done` false. */
export type NewTodo = Omit<Replacement, 'done'>;

/** The columns of `MEMBERS`, for a list in SQL. */
export const COLUMN_NAMES = MEMBERS.map(({ column }) => column);

/** In the order of `MEMBERS`. */
export function valuesOf(todo: Replacement) {
  return MEMBERS.map(({ name }) => todo[name]);
}

/** The `TodoResponse` as JSON text. It depends on the todo alone, so every instance and every start makes the same. */
export function todoJson(todo: Todo): string {
  const json: { -readonly [Member in keyof Todo]?: Todo[keyof Todo] } = { id: todo.id };
  for (const { name } of MEMBERS) json[name] = todo[name];
  return JSON.stringify(json);
}

/** A todo as it goes over the wire: the `TodoResponse` as JSON text, and the tag of exactly this text. */
export interface TodoRepresentation {
  readonly id: number;
  /** Members in the specification's order. */
  readonly json: string;
  /** Strong (RFC 9110 §8.8.3). */
  readonly etag: EntityTag;
}

export function represent(todo: Todo): TodoRepresentation {
  const json = todoJson(todo);
  return { id: todo.id, json, etag: entityTag(json) };
}
