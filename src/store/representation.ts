import { type EntityTag, entityTag } from './entity-tag.ts';
import { type Todo, todoJson } from './todo.ts';

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
