import { type EntityTag, entityTag } from './entity-tag.ts';
import type { Todo } from './todo.ts';

/** A todo as it goes over the wire: the `TodoResponse` as JSON text, and the tag of exactly this text. */
export interface TodoRepresentation {
  readonly id: number;
  /** Members in the specification's order. */
  readonly json: string;
  /** Strong (RFC 9110 §8.8.3). */
  readonly etag: EntityTag;
}

/** Text and tag depend on the todo alone, so every instance and every start makes the same. */
export function represent({ id, title, done, categoryId }: Todo): TodoRepresentation {
  const json = JSON.stringify({ id, title, done, categoryId });
  return { id, json, etag: entityTag(json) };
}
