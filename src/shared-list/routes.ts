import type { FastifyInstance } from 'fastify';
import { identityOf } from '../auth/admit.ts';
import { sendJson, sendJsonText } from '../http/json-reply.ts';
import { READ } from '../http/match.ts';
import { withJson, withoutBody } from '../http/with-body.ts';
import { say } from '../problem/doors.ts';
import { parseCreateTodo, parseReplaceTodo } from './bodies.ts';
import * as document from './document.ts';
import type { TodoStore } from './store.ts';

const CATEGORY_NOT_FOUND = { status: 400, title: 'Category not found' };

/** The endpoints of Profile A. */
export function sharedListRoutes(app: FastifyInstance, store: TodoStore): void {
  app.route({
    method: READ,
    url: '/me',
    config: { access: 'authenticated' },
    schema: document.me,
    handler: withoutBody((request, reply) => sendJson(reply, { name: identityOf(request).name })),
  });

  app.route({
    method: READ,
    url: '/todos',
    config: { access: 'authenticated' },
    schema: document.listTodos,
    handler: withoutBody(async (_request, reply) => sendJsonText(reply, (await store.list()).bytes)),
  });

  app.route({
    method: READ,
    url: '/todos/:id',
    config: { access: 'authenticated' },
    schema: document.getTodo,
    handler: withoutBody(async (request, reply) => {
      const todo = await store.find(request.todoId);
      return todo === undefined ? reply.code(404).send() : sendJsonText(reply, todo.json);
    }),
  });

  app.route({
    method: 'POST',
    url: '/todos',
    config: { access: 'CanWriteTodos' },
    schema: document.createTodo,
    handler: withJson(parseCreateTodo, async (body, request, reply) => {
      const todo = await store.add(body);
      if (todo === 'category-missing') return say(request, reply, CATEGORY_NOT_FOUND);
      return sendJsonText(reply.code(201).header('Location', `/todos/${todo.id}`), todo.json);
    }),
  });

  app.route({
    method: 'PUT',
    url: '/todos/:id',
    config: { access: 'CanWriteTodos' },
    schema: document.replaceTodo,
    handler: withJson(parseReplaceTodo, async (body, request, reply) => {
      switch (await store.replace(request.todoId, body)) {
        case 'replaced':
          return reply.code(204).send();
        case 'todo-missing':
          return reply.code(404).send();
        case 'category-missing':
          return say(request, reply, CATEGORY_NOT_FOUND);
        case 'precondition-failed':
          return reply.code(412).send();
      }
    }),
  });

  app.route({
    method: 'DELETE',
    url: '/todos/:id',
    config: { access: 'CanWriteTodos' },
    schema: document.deleteTodo,
    handler: withoutBody(async (request, reply) => {
      switch (await store.remove(request.todoId)) {
        case 'removed':
          return reply.code(204).send();
        case 'todo-missing':
          return reply.code(404).send();
        case 'precondition-failed':
          return reply.code(412).send();
      }
    }),
  });
}
