import type { Problem } from '../problem/problem.ts';

/** A JSON Schema literal. With `$id` it becomes the component of that name, and a reference where it is used. */
export interface JsonSchema {
  readonly $id?: string;
  readonly [keyword: string]: unknown;
}

/** A response that is no problem. */
export interface Answer {
  readonly status: 200 | 201 | 204 | 304;
  readonly description: string;
  /** The schema of the `application/json` body; absent when there is no body. */
  readonly body?: JsonSchema;
  readonly headers?: Readonly<Record<string, Header>>;
}

/** OpenAPI's Header Object. */
export interface Header {
  readonly description: string;
  /** True when every response of this kind has the header. */
  readonly required?: boolean;
  readonly schema: JsonSchema;
  readonly example?: string;
}

/** A request header that the endpoint reads. It is never required. */
export interface HeaderParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** An error that an operation can answer with. */
export interface KnownProblem extends Problem {
  /** A sentence, CommonMark. */
  readonly when: string;
  /** Whether `Retry-After` may say when the request may be repeated. */
  readonly retryAfter?: true;
}

/**
 * What the OpenAPI document says of a route and the route itself does not. Parameters,
 * security and the problems that every route of its kind can have follow from its path, its access and
 * `requestBody`.
 */
export interface Operation {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly requestHeaders?: readonly HeaderParameter[];
  readonly requestBody?: JsonSchema;
  /** None for an operation that never succeeds. */
  readonly answers: readonly Answer[];
  /** The problems of this endpoint alone. */
  readonly problems?: readonly KnownProblem[];
}

/** What a document says as a whole. */
export interface Overview {
  readonly title: string;
  /** CommonMark. */
  readonly description: string;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
}
