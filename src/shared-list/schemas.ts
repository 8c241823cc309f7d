import { MAX_ID, TITLE_MAX_LENGTH } from './todo.ts';

// JSON Schema literals: validation, static types and the OpenAPI document all come from these.

/**
 * White space (the characters with the property White_Space), one character that is none, and the rest; nowhere U+0000
 * or a lone surrogate, which not every database can store. Pairs of surrogates are for tools that compile patterns
 * without the flag `u`; with it they match nothing.
 */
const STORABLE_NOT_BLANK =
  '^[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]*(?:[^\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\u0000\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])(?:[^\\u0000\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])*$';

const title = {
  type: 'string',
  description: '1 to 100 Unicode code points, not only white space. Stored and returned exactly as sent.',
  minLength: 1,
  maxLength: TITLE_MAX_LENGTH,
  pattern: STORABLE_NOT_BLANK,
} as const;

const categoryId = {
  type: 'integer',
  format: 'int32',
  description: 'The id of an existing category. The first start makes `Work` (1) and `Life` (2).',
  minimum: 1,
  maximum: MAX_ID,
} as const;

/** Request body of `POST /todos`. */
export const CreateTodo = {
  $id: 'CreateTodo',
  type: 'object',
  required: ['title', 'categoryId'],
  properties: { title, categoryId },
  examples: [{ title: 'Buy milk', categoryId: 2 }],
} as const;

/** Request body of `PUT /todos/{id}`. */
export const ReplaceTodo = {
  $id: 'ReplaceTodo',
  type: 'object',
  required: ['title', 'categoryId'],
  properties: {
    title,
    // Without `default`, of which generators make a member that must be sent.
    done: { type: 'boolean', description: 'An omitted value is read as false.' },
    categoryId,
  },
  examples: [{ title: 'Buy oat milk', done: true, categoryId: 2 }],
} as const;

/** The read shape of a todo, members in the specification's order. */
export const TodoResponse = {
  $id: 'TodoResponse',
  type: 'object',
  required: ['id', 'title', 'done', 'categoryId'],
  properties: {
    id: {
      type: 'integer',
      format: 'int32',
      description: 'Assigned by the service, never used again.',
      minimum: 1,
      maximum: MAX_ID,
    },
    title: { type: 'string' },
    done: { type: 'boolean' },
    categoryId: { type: 'integer', format: 'int32', minimum: 1, maximum: MAX_ID },
  },
  examples: [{ id: 5, title: 'Buy milk', done: false, categoryId: 2 }],
} as const;

/** The response body of `GET /me`. */
export const IdentitySummary = {
  $id: 'IdentitySummary',
  type: 'object',
  required: ['name'],
  properties: { name: { type: ['string', 'null'], description: 'Null when the token has no name.' } },
  examples: [{ name: 'Ada' }],
} as const;
