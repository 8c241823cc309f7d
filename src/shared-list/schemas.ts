import { MAX_ID, TITLE_MAX_LENGTH } from '../store/todo.ts';

// JSON Schema literals: validation, static types and the OpenAPI document all come from these.

/**
 * White space, one character that is none, and the rest; nowhere U+0000 or a lone surrogate, which not every database
 * can store. Generators set the flag `u` where they see `\p`, and take escapes that begin with `\u` apart.
 */
const STORABLE_NOT_BLANK = '^\\p{White_Space}*[^\\p{White_Space}\\x00\\p{Cs}][^\\x00\\p{Cs}]*$';

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
    // No `default`: generators would make the member required.
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
