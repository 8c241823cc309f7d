import type { FastifyInstance } from 'fastify';
import { sendJson } from '../http/message/json-reply.ts';
import { READ } from '../http/message/match.ts';
import { withoutBody } from '../http/message/with-body.ts';
import { say } from '../problem/doors.ts';
import * as document from './document.ts';

interface Todo {
  readonly id: number;
  readonly title: string;
  readonly done: boolean;
}

/** The endpoints of Profile B: one todo in memory, new at every start (contract D2). */
export function errorDemoRoutes(app: FastifyInstance): void {
  const todos = new Map<number, Todo>([[1, { id: 1, title: 'Read RFC 9457', done: false }]]);

  app.route({
    method: READ,
    url: '/todos/:id',
    config: { access: 'open' },
    schema: document.getTodo,
    handler: withoutBody((request, reply) => {
      const todo = todos.get(request.todoId);
      return todo === undefined ? reply.code(404).send() : sendJson(reply, todo);
    }),
  });

  app.route({
    method: 'POST',
    url: '/todos/:id/complete',
    config: { access: 'open' },
    schema: document.completeTodo,
    handler: withoutBody((request, reply) => {
      const todo = todos.get(request.todoId);
      if (todo === undefined) return reply.code(404).send();
      if (todo.done) {
        const detail = `The todo with the id ${todo.id} is already complete and cannot be completed again.`;
        return say(reply, { status: 409, title: 'Todo is already completed', detail });
      }
      const completed = { ...todo, done: true };
      todos.set(todo.id, completed);
      return sendJson(reply, completed);
    }),
  });

  app.route({
    method: READ,
    url: '/crash',
    config: { access: 'open' },
    schema: document.crash,
    handler: withoutBody(() => {
      throw new Error('This endpoint always fails: its message and its stack belong in the log alone');
    }),
  });
}
