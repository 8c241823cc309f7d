import { actor, type Tell } from '../events.ts';
import { type Answer, admitsGzip, JSON_UTF_8, json } from '../http/message/answer.ts';
import type { Call } from '../http/message/call.ts';
import { type Route, withBody } from '../http/message/routes.ts';
import { marked } from '../mark.ts';
import { andThen } from '../promises.ts';
import type { Preconditions } from '../store/entity-tag.ts';
import type { ListRepresentation } from '../store/list/version.ts';
import type { CreateOutcome, Once, TodoStore } from '../store/store.ts';
import type { NewTodo, TodoRepresentation } from '../store/todo.ts';
import * as answers from './answers.ts';
import { parseCreateTodo, parseReplaceTodo, prepareBodies } from './bodies.ts';
import { decideRead, tagged, withPreconditions } from './conditional.ts';
import { createOnce, withIdempotencyKey } from './create-once.ts';

/** The endpoints of Profile A. */
export function sharedListRoutes(store: TodoStore, tell: Tell): readonly Route[] {
  prepareBodies();
  const addOnce = createOnce();

  /** Says who changed what (docs/logging.md). */
  function audit(event: 'todo-created' | 'todo-replaced' | 'todo-deleted', call: Call, id: number): void {
    tell({ event, id, ...actor(call.identity), traceId: call.traceId });
  }

  /** Writes the log line of a create before anybody hears of the todo: who waits for its key, or for a later write. */
  async function addAudited(call: Call, todo: NewTodo, once: Once | undefined): Promise<CreateOutcome> {
    const created = await marked(call.mark, 'add', () => store.add(todo, once, call.mark));
    if (typeof created === 'object' && !('repeated' in created)) audit('todo-created', call, created.id);
    return created;
  }

  return [
    {
      method: 'GET',
      path: '/me',
      access: 'authenticated',
      // It has no tag: there is nothing that a precondition could be about.
      handle: ({ identity: { name }, headers }) => withPreconditions(headers, () => json({ name })),
    },
    {
      method: 'GET',
      path: '/todos',
      access: 'authenticated',
      handle: ({ headers, mark }) =>
        withPreconditions(headers, (preconditions) => {
          const gzip = admitsGzip(headers['accept-encoding']);
          const wish = { gzip, ifNoneMatch: preconditions.ifNoneMatch };
          const list = marked(mark, 'list', () => store.list(wish));
          return andThen(list, (current) => answerList(preconditions, current));
        }),
    },
    {
      method: 'GET',
      path: '/todos/:id',
      access: 'authenticated',
      handle: ({ headers, id, mark }) =>
        withPreconditions(headers, (preconditions) => {
          const found = marked(mark, 'find', () => store.find(id));
          return andThen(found, (todo) => answerTodo(preconditions, todo));
        }),
    },
    withBody({ method: 'POST', path: '/todos', access: 'CanWriteTodos' }, parseCreateTodo, (call, body) =>
      withPreconditions(call.headers, ({ ifMatch, ifNoneMatch }) =>
        withIdempotencyKey(call, body, async (key) => {
          if (ifMatch !== undefined || ifNoneMatch !== undefined) return answers.PRECONDITION_NOT_TAKEN;
          const add = (once?: Once) => addAudited(call, body, once);
          const created = await (key === undefined ? add() : addOnce(key, add));
          switch (created) {
            case 'key-reused':
              return answers.KEY_REUSED;
            case 'in-progress':
              return answers.KEY_IN_PROGRESS;
            case 'category-missing':
              return answers.CATEGORY_NOT_FOUND;
            default:
              return answerCreated('repeated' in created ? created.repeated : created);
          }
        }),
      ),
    ),
    withBody({ method: 'PUT', path: '/todos/:id', access: 'CanWriteTodos' }, parseReplaceTodo, (call, body) =>
      withPreconditions(call.headers, async (preconditions) => {
        const { id, mark } = call;
        switch (await marked(mark, 'replace', () => store.replace(id, body, preconditions, mark))) {
          case 'replaced':
            audit('todo-replaced', call, id);
            return { status: 204 };
          case 'todo-missing':
            return { status: 404 };
          case 'category-missing':
            return answers.CATEGORY_NOT_FOUND;
          case 'precondition-failed':
            return answers.PRECONDITION_FAILED;
        }
      }),
    ),
    {
      method: 'DELETE',
      path: '/todos/:id',
      access: 'CanWriteTodos',
      handle: (call) =>
        withPreconditions(call.headers, async (preconditions) => {
          const { id, mark } = call;
          switch (await marked(mark, 'remove', () => store.remove(id, preconditions, mark))) {
            case 'removed':
              audit('todo-deleted', call, id);
              return { status: 204 };
            case 'todo-missing':
              return { status: 404 };
            case 'precondition-failed':
              return answers.PRECONDITION_FAILED;
          }
        }),
    },
  ];
}

function answerCreated({ id, etag, json }: TodoRepresentation): Answer {
  const headers = { ...tagged(etag), location: `/todos/${id}`, 'content-type': JSON_UTF_8 };
  return { status: 201, headers, body: json };
}

function answerList(preconditions: Preconditions, { body, coding, etag }: ListRepresentation): Answer {
  const status = decideRead(preconditions, etag);
  if (status === 412) return answers.PRECONDITION_FAILED;
  const headers: Record<string, string> = { ...tagged(etag), vary: 'Accept-Encoding' };
  if (status === 304) return { status, headers };
  if (coding === 'gzip') headers['content-encoding'] = 'gzip';
  headers['content-type'] = JSON_UTF_8;
  return { status, headers, body };
}

function answerTodo(preconditions: Preconditions, todo: TodoRepresentation | undefined): Answer {
  if (todo === undefined) return { status: 404 };
  const status = decideRead(preconditions, todo.etag);
  if (status === 412) return answers.PRECONDITION_FAILED;
  const headers = tagged(todo.etag);
  if (status === 304) return { status, headers };
  return { status, headers: { ...headers, 'content-type': JSON_UTF_8 }, body: todo.json };
}
