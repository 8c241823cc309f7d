import type { Operation, Overview } from '../openapi/operation.ts';

// What the OpenAPI document says of the endpoints of Profile B.

export const overview: Overview = {
  title: 'Todo service, error demo',
  description:
    'A todo in memory that can be completed once, and an endpoint that always fails: how this service says errors. ' +
    'There is no authentication.',
  tags: [
    { name: 'Todos', description: 'Todos in memory, new at every start.' },
    { name: 'Failure', description: 'What an unhandled exception looks like from outside.' },
  ],
};

const Todo = {
  $id: 'Todo',
  type: 'object',
  required: ['id', 'title', 'done'],
  properties: {
    id: { type: 'integer', format: 'int32' },
    title: { type: 'string' },
    done: { type: 'boolean' },
  },
  examples: [{ id: 1, title: 'Read RFC 9457', done: false }],
} as const;

export const getTodo: Operation = {
  operationId: 'getTodo',
  tag: 'Todos',
  summary: 'Read a todo',
  description: 'One todo by its id. The service starts with one, id 1.',
  answers: [{ status: 200, description: 'The todo.', body: Todo }],
};

export const completeTodo: Operation = {
  operationId: 'completeTodo',
  tag: 'Todos',
  summary: 'Complete a todo',
  description: 'Marks a todo complete. This can be done once.',
  answers: [
    {
      status: 200,
      description: 'The todo, now done.',
      body: {
        allOf: [Todo],
        type: 'object',
        properties: { done: { type: 'boolean', const: true } },
        examples: [{ id: 1, title: 'Read RFC 9457', done: true }],
      },
    },
  ],
  problems: [
    {
      when: 'The todo is complete already; nothing changes.',
      status: 409,
      title: 'Todo is already completed',
      detail: 'The todo with the id 1 is already complete and cannot be completed again.',
    },
  ],
};

export const crash: Operation = {
  operationId: 'crash',
  tag: 'Failure',
  summary: 'Fail on purpose',
  description: 'Throws an exception that nothing handles. Never succeeds, so no success is listed.',
  answers: [],
};
