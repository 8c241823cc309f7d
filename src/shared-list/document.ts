import type { Header, HeaderParameter, KnownProblem, Operation, Overview } from '../openapi/operation.ts';
import { CreateTodo, IdentitySummary, ReplaceTodo, TodoResponse } from './schemas.ts';

// What the OpenAPI document says of the endpoints of Profile A. The endpoints answer with the problems that it names.

export const overview: Overview = {
  title: 'Todo service, shared list',
  description:
    'One list of todos, each in exactly one category, shared by all callers. Every operation needs a bearer token. ' +
    'Any caller may read; only one with the role `editor` may write.\n\n' +
    'A token for development: `npm run -s token -- --name ada --role editor` in a clone, else ' +
    '`todo-service token create --name ada --role editor`.',
  tags: [
    { name: 'Todos', description: 'The shared list.' },
    { name: 'Identity', description: 'Who is calling.' },
  ],
};

/** What a response with a validator says, RFC 9110 §8.8.3. */
const TAGGED: Readonly<Record<string, Header>> = {
  ETag: {
    description: 'Strong entity tag of exactly this representation.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f]{32}"$' },
    example: '"5d41402abc4b2a76b9719d911017c592"',
  },
  'Cache-Control': {
    description: 'Shared caches store nothing, private ones ask before each use.',
    required: true,
    schema: { type: 'string', const: 'private, no-cache' },
  },
};

/** Of the list: each coding has a tag of its own. */
const TAGGED_LIST: Readonly<Record<string, Header>> = {
  ...TAGGED,
  ETag: {
    description: 'Strong entity tag of exactly this representation in exactly this content coding.',
    required: true,
    schema: { type: 'string', pattern: '^"[0-9a-f]{32}(-gzip)?"$' },
    example: '"5d41402abc4b2a76b9719d911017c592-gzip"',
  },
  Vary: {
    description: 'The content coding depends on `Accept-Encoding`.',
    required: true,
    schema: { type: 'string', const: 'Accept-Encoding' },
  },
};

const NOT_MODIFIED = {
  status: 304,
  description: '`If-None-Match` names the current tag.',
  headers: TAGGED,
} as const;

/** RFC 9110 §13.1. Without examples: the reference page would send them, and fail each request made from it. */
const PRECONDITIONS: readonly HeaderParameter[] = [
  {
    name: 'If-Match',
    description:
      '`*` or entity tags. Unless one is the current tag, nothing happens and the answer is a 412.',
    schema: { type: 'string' },
  },
  {
    name: 'If-None-Match',
    description: '`*` or entity tags. If one is the current tag, a read answers 304 and a write 412.',
    schema: { type: 'string' },
  },
];

export const PRECONDITION_MALFORMED: KnownProblem = {
  when: '`If-Match` or `If-None-Match` cannot be read.',
  status: 400,
  detail: 'If-Match and If-None-Match must be "*" or a list of entity tags in double quotes.',
};

/** To ignore one would make a todo that the client asked not to make. */
export const PRECONDITION_NOT_TAKEN: KnownProblem = {
  when: '`If-Match` or `If-None-Match` is sent: a create takes none.',
  status: 400,
  detail: 'POST /todos takes no precondition: send it without If-Match and If-None-Match.',
};

const PRECONDITION_PROBLEMS: readonly KnownProblem[] = [
  PRECONDITION_MALFORMED,
  {
    when: 'A precondition fails: the todo is not what the request takes it for. Nothing was changed.',
    status: 412,
  },
];

/** Contract I1 to I5. */
const IDEMPOTENCY_KEY: HeaderParameter = {
  name: 'Idempotency-Key',
  description:
    'Makes the request safe to repeat for 24 hours: 1 to 128 characters of your choice, bare or in double quotes. The same ' +
    'key, body and caller make one todo, and every repeat is answered with that todo as it was made.',
  schema: {
    type: 'string',
    pattern: '^(?:"[!#-+\\--\\[\\]-~]{1,128}"|[!#-+\\--\\[\\]-~]{1,128})$',
  },
};

export const KEY_MALFORMED: KnownProblem = {
  when: '`Idempotency-Key` cannot be read.',
  status: 400,
  detail:
    'Idempotency-Key must be one key of 1 to 128 characters from "!" to "~" without double quotes, backslashes and commas; ' +
    'double quotes around it are not part of it.',
};

export const SUBJECT_MISSING: KnownProblem = {
  when: '`Idempotency-Key` is sent with a token that has no `sub`.',
  status: 400,
  detail: 'Idempotency-Key needs a token with the claim "sub".',
};

export const KEY_IN_PROGRESS: KnownProblem = {
  when: 'The first request with this `Idempotency-Key` is still under way. `Retry-After` says when to repeat this one.',
  status: 409,
  title: 'Request In Progress',
  retryAfter: true,
};

export const KEY_REUSED: KnownProblem = {
  when: 'The `Idempotency-Key` was used for another body.',
  status: 422,
  title: 'Idempotency Key Reused',
};

const IDEMPOTENCY_PROBLEMS = [KEY_MALFORMED, SUBJECT_MISSING, KEY_IN_PROGRESS, KEY_REUSED];

/** Contract D9. */
export const OUTCOME_UNKNOWN: KnownProblem = {
  when: 'The database was lost while it wrote. There is no `Retry-After` then.',
  status: 503,
  detail: 'It is unknown whether the change was made. Read before repeating it.',
};

export const CATEGORY_NOT_FOUND: KnownProblem = {
  when: 'No category has the id `categoryId`.',
  status: 400,
  title: 'Category not found',
};

/** The problems of a body that only this endpoint's schema and the store know. */
const BODY_PROBLEMS: readonly KnownProblem[] = [
  {
    when: 'The body breaks a rule of its schema: `errors` lists the failing members.',
    status: 400,
    title: 'One or more validation errors occurred.',
    errors: {
      title: ['title must not be empty or only white space.'],
      categoryId: ['categoryId must be an integer from 1 to 2147483647.'],
    },
  },
  CATEGORY_NOT_FOUND,
];

export const me: Operation = {
  operationId: 'getMe',
  tag: 'Identity',
  summary: 'Who am I?',
  description: 'The name of the authenticated identity, as the token gives it.',
  answers: [{ status: 200, description: 'The identity.', body: IdentitySummary }],
  problems: [PRECONDITION_MALFORMED],
};

export const listTodos: Operation = {
  operationId: 'listTodos',
  tag: 'Todos',
  summary: 'List all todos',
  description:
    'All todos, ordered by `id` ascending; compressed with gzip where that is worth it and admitted.',
  requestHeaders: PRECONDITIONS,
  answers: [
    {
      status: 200,
      description: 'The todos; an empty array when there are none.',
      headers: TAGGED_LIST,
      body: { type: 'array', items: TodoResponse },
    },
    { ...NOT_MODIFIED, headers: TAGGED_LIST },
  ],
  problems: PRECONDITION_PROBLEMS,
};

export const getTodo: Operation = {
  operationId: 'getTodo',
  tag: 'Todos',
  summary: 'Read a todo',
  description: 'One todo by its id.',
  requestHeaders: PRECONDITIONS,
  answers: [{ status: 200, description: 'The todo.', headers: TAGGED, body: TodoResponse }, NOT_MODIFIED],
  problems: PRECONDITION_PROBLEMS,
};

export const createTodo: Operation = {
  operationId: 'createTodo',
  tag: 'Todos',
  summary: 'Create a todo',
  description: 'Adds a todo that is not done. Unknown members of the body are ignored.',
  requestHeaders: [IDEMPOTENCY_KEY],
  requestBody: CreateTodo,
  answers: [
    {
      status: 201,
      description:
        'The new todo; for an `Idempotency-Key` that was used before, the todo as it was made then.',
      headers: {
        Location: {
          description: 'Path of the new todo.',
          required: true,
          schema: { type: 'string', format: 'uri-reference', pattern: '^/todos/[1-9][0-9]*$' },
          example: '/todos/5',
        },
        ...TAGGED,
      },
      body: TodoResponse,
    },
  ],
  problems: [
    ...BODY_PROBLEMS,
    PRECONDITION_MALFORMED,
    ...IDEMPOTENCY_PROBLEMS,
    PRECONDITION_NOT_TAKEN,
    OUTCOME_UNKNOWN,
  ],
};

export const replaceTodo: Operation = {
  operationId: 'replaceTodo',
  tag: 'Todos',
  summary: 'Replace a todo',
  description:
    'Replaces `title`, `done` and `categoryId`. Checked in this order: whether the todo exists, whether the ' +
    'category does, preconditions.',
  requestHeaders: PRECONDITIONS,
  requestBody: ReplaceTodo,
  answers: [{ status: 204, description: 'The todo has been replaced.' }],
  problems: [...BODY_PROBLEMS, ...PRECONDITION_PROBLEMS, OUTCOME_UNKNOWN],
};

export const deleteTodo: Operation = {
  operationId: 'deleteTodo',
  tag: 'Todos',
  summary: 'Delete a todo',
  description: 'Removes the todo. Its id is never used again.',
  requestHeaders: PRECONDITIONS,
  answers: [{ status: 204, description: 'The todo has been removed.' }],
  problems: [...PRECONDITION_PROBLEMS, OUTCOME_UNKNOWN],
};
