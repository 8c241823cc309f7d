import { actor, type Tell } from '../events.ts';
import { type Answer, admitsGzip, type Headers, JSON_UTF_8, json } from '../http/message/answer.ts';
import { withBody } from '../http/message/body.ts';
import type { Call, Route } from '../http/message/routes.ts';
import { andThen } from '../promises.ts';
import { admitsWrite, type EntityTag, matchesWeakly, type Preconditions } from '../store/entity-tag.ts';
import type { ListRepresentation } from '../store/list/version.ts';
import {
  type CreateOutcome,
  type Once,
  OutcomeUnknown,
  StoreBroken,
  StoreUnavailable,
  type TodoStore,
} from '../store/store.ts';
import type { NewTodo, TodoRepresentation } from '../store/todo.ts';
import * as answers from './answers.ts';
import { parseCreateTodo, parseReplaceTodo, prepareBodies } from './bodies.ts';
import { createOnce } from './create-once.ts';
import { readCreateKey, readPreconditions } from './request-headers.ts';

/** The endpoints of Profile A. */
export function sharedListRoutes(store: TodoStore, tell: Tell): readonly Route[] {
  prepareBodies();
  const addOnce = createOnce();

  /** Says who changed what (docs/logging.md). */
  function audit(event: 'todo-created' | 'todo-replaced' | 'todo-deleted', call: Call, id: number): void {
    tell({ event, id, ...actor(call.identity), traceId: call.traceId });
  }

  /** Writes the log line of a create before anybody hears of the todo: who waits for its key, or for a later write. */
  async function addAudited(call: Call, todo: NewTodo, once?: Once): Promise<CreateOutcome> {
    const created = await call.step('add', () => store.add(todo, once, call.mark));
    if (typeof created === 'object' && !('repeated' in created)) audit('todo-created', call, created.id);
    return created;
  }

  return [
    {
      method: 'GET',
      path: '/me',
      access: 'authenticated',
      handle({ identity: { name }, headers }) {
        // It has no tag: there is nothing that a precondition could be about.
        return readPreconditions(headers) === undefined ? answers.PRECONDITION_MALFORMED : json({ name });
      },
    },
    {
      method: 'GET',
      path: '/todos',
      access: 'authenticated',
      handle(call) {
        const preconditions = readPreconditions(call.headers);
        if (preconditions === undefined) return answers.PRECONDITION_MALFORMED;
        const gzip = admitsGzip(call.headers['accept-encoding']);
        const list = call.step('list', () => store.list({ gzip, ifNoneMatch: preconditions.ifNoneMatch }));
        return andThen(list, (current) => answerList(preconditions, current));
      },
    },
    {
      method: 'GET',
      path: '/todos/:id',
      access: 'authenticated',
      handle(call) {
        const preconditions = readPreconditions(call.headers);
        if (preconditions === undefined) return answers.PRECONDITION_MALFORMED;
        const found = call.step('find', () => store.find(call.id));
        return andThen(found, (todo) => answerTodo(preconditions, todo));
      },
    },
    withBody(
      { method: 'POST', path: '/todos', access: 'CanWriteTodos' },
      parseCreateTodo,
      async (call, todo) => {
        const preconditions = readPreconditions(call.headers);
        if (preconditions === undefined) return answers.PRECONDITION_MALFORMED;
        const key = readCreateKey(call, todo);
        if (key !== undefined && 'status' in key) return key;
        if (preconditions.ifMatch !== undefined || preconditions.ifNoneMatch !== undefined)
          return answers.PRECONDITION_NOT_TAKEN;
        const created = await (key === undefined
          ? addAudited(call, todo)
          : addOnce(key, (once) => addAudited(call, todo, once)));
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
      },
    ),
    withBody(
      { method: 'PUT', path: '/todos/:id', access: 'CanWriteTodos' },
      parseReplaceTodo,
      async (call, replacement) => {
        const { headers, id, mark } = call;
        const preconditions = readPreconditions(headers);
        if (preconditions === undefined) return answers.PRECONDITION_MALFORMED;
        switch (await call.step('replace', () => store.replace(id, replacement, preconditions, mark))) {
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
      },
    ),
    {
      method: 'DELETE',
      path: '/todos/:id',
      access: 'CanWriteTodos',
      async handle(call) {
        const { headers, id, mark } = call;
        const preconditions = readPreconditions(headers);
        if (preconditions === undefined) return answers.PRECONDITION_MALFORMED;
        switch (await call.step('remove', () => store.remove(id, preconditions, mark))) {
          case 'removed':
            audit('todo-deleted', call, id);
            return { status: 204 };
          case 'todo-missing':
            return { status: 404 };
          case 'precondition-failed':
            return answers.PRECONDITION_FAILED;
        }
      },
    },
  ];
}

/** A shared cache keeps nothing, a private one asks before each use. */
const PRIVATE = 'private, no-cache';

/** The headers of a representation with this validator. */
function tagged(etag: EntityTag): Headers {
  return { etag, 'cache-control': PRIVATE };
}

/** What a read with these preconditions gets of a representation with this tag, RFC 9110 §13.2.2. */
function decideRead({ ifMatch, ifNoneMatch }: Preconditions, current: EntityTag): 200 | 304 | 412 {
  if (!admitsWrite({ ifMatch }, current)) return 412;
  return ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, current) ? 304 : 200;
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

/**
 * Tells a database in trouble from a bug: 503, with `Retry-After` where nothing was changed and trying again helps
 * (contract D9, D11).
 */
export function answerStoreFault(tell: Tell): (error: unknown, call: Call) => Answer | undefined {
  return (error, call) => {
    if (error instanceof StoreUnavailable) {
      tell({ event: 'store-unavailable', traceId: call.traceId, reason: error.message });
      return answers.UNAVAILABLE;
    }
    // The log has one line for the file or the schema, not one for each request.
    if (error instanceof StoreBroken) return answers.BROKEN;
    if (error instanceof OutcomeUnknown) {
      const { method, found, identity, traceId } = call;
      tell({ event: 'todo-outcome-unknown', method, id: found?.id, ...actor(identity), traceId });
      tell({ event: 'outcome-unknown', traceId, reason: error.message });
      return answers.OUTCOME_UNKNOWN;
    }
    return undefined;
  };
}
