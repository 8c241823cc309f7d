import type { FastifyInstance, FastifyReply } from 'fastify';
import { identityOf } from '../auth/admit.ts';
import { admitsGzip } from '../http/message/content-coding.ts';
import { sendJson, sendJsonPieces, sendJsonText } from '../http/message/json-reply.ts';
import { READ } from '../http/message/match.ts';
import { withJson, withoutBody } from '../http/message/with-body.ts';
import { say } from '../problem/doors.ts';
import { parseCreateTodo, parseReplaceTodo, prepareBodies } from './bodies.ts';
import { decideRead, tagged, withPreconditions } from './conditional.ts';
import * as document from './document.ts';
import type { Preconditions } from './entity-tag.ts';
import type { ListRepresentation } from './list/version.ts';
import type { TodoRepresentation } from './representation.ts';
import type { TodoStore } from './store.ts';

const CATEGORY_NOT_FOUND = { status: 400, title: 'Category not found' };

/** The endpoints of Profile A. */
export function sharedListRoutes(app: FastifyInstance, store: TodoStore): void {
  app.addHook('onListen', async () => prepareBodies());

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
    handler: withoutBody((request, reply) =>
      withPreconditions(request, reply, (preconditions) => {
        const gzip = admitsGzip(request.headers['accept-encoding']);
        const list = store.list({ gzip, ifNoneMatch: preconditions.ifNoneMatch });
        if (list instanceof Promise) return list.then((current) => sendList(reply, preconditions, current));
        sendList(reply, preconditions, list);
      }),
    ),
  });

  app.route({
    method: READ,
    url: '/todos/:id',
    config: { access: 'authenticated' },
    schema: document.getTodo,
    handler: withoutBody((request, reply) =>
      withPreconditions(request, reply, (preconditions) => {
        const found = store.find(request.todoId);
        if (found instanceof Promise) return found.then((todo) => sendTodo(reply, preconditions, todo));
        // Returning the reply would make Fastify wait for it as for a promise.
        sendTodo(reply, preconditions, found);
      }),
    ),
  });

  app.route({
    method: 'POST',
    url: '/todos',
    config: { access: 'CanWriteTodos' },
    schema: document.createTodo,
    handler: withJson(parseCreateTodo, async (body, _request, reply) => {
      const todo = await store.add(body);
      if (todo === 'category-missing') return say(reply, CATEGORY_NOT_FOUND);
      tagged(reply, todo.etag).code(201).header('Location', `/todos/${todo.id}`);
      return sendJsonText(reply, todo.json);
    }),
  });

  app.route({
    method: 'PUT',
    url: '/todos/:id',
    config: { access: 'CanWriteTodos' },
    schema: document.replaceTodo,
    handler: withJson(parseReplaceTodo, async (body, request, reply) =>
      withPreconditions(request, reply, async (preconditions) => {
        switch (await store.replace(request.todoId, body, preconditions)) {
          case 'replaced':
            return reply.code(204).send();
          case 'todo-missing':
            return reply.code(404).send();
          case 'category-missing':
            return say(reply, CATEGORY_NOT_FOUND);
          case 'precondition-failed':
            return reply.code(412).send();
        }
      }),
    ),
  });

  app.route({
    method: 'DELETE',
    url: '/todos/:id',
    config: { access: 'CanWriteTodos' },
    schema: document.deleteTodo,
    handler: withoutBody((request, reply) =>
      withPreconditions(request, reply, async (preconditions) => {
        switch (await store.remove(request.todoId, preconditions)) {
          case 'removed':
            return reply.code(204).send();
          case 'todo-missing':
            return reply.code(404).send();
          case 'precondition-failed':
            return reply.code(412).send();
        }
      }),
    ),
  });
}

function sendList(
  reply: FastifyReply,
  preconditions: Preconditions,
  { pieces, coding, etag }: ListRepresentation,
): FastifyReply {
  const status = decideRead(preconditions, etag);
  if (status === 412) return reply.code(412).send();
  tagged(reply, etag).header('Vary', 'Accept-Encoding');
  if (status === 304) return reply.code(304).send();
  if (coding === 'gzip') reply.header('Content-Encoding', 'gzip');
  return sendJsonPieces(reply, pieces);
}

function sendTodo(
  reply: FastifyReply,
  preconditions: Preconditions,
  todo: TodoRepresentation | undefined,
): FastifyReply {
  if (todo === undefined) return reply.code(404).send();
  const status = decideRead(preconditions, todo.etag);
  if (status === 412) return reply.code(412).send();
  tagged(reply, todo.etag);
  return status === 304 ? reply.code(304).send() : sendJsonText(reply, todo.json);
}
