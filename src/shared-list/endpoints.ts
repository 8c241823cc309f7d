import { actor } from '../caller.ts';
import type { LogEvent } from '../events.ts';
import { type Answer, admitsGzip, type CacheControl, type Headers, JSON_UTF_8 } from '../http/answer.ts';
import type { Call } from '../http/call.ts';
import { withBody } from '../http/json-body.ts';
import type { Route } from '../http/route.ts';
import type { Body } from '../lib/answer-body.ts';
import { andThen } from '../lib/promises.ts';
import { createOnce } from './create-once.ts';
import * as errors from './endpoint-errors.ts';
import {
  areAllChanged,
  type EntityTag,
  matchesChanged,
  matchesWeakly,
  type Preconditions,
  preconditionsHold,
} from './entity-tags.ts';
import type { TodoMembers, TodoRepresentation } from './members.ts';
import { parseCreateTodo, parseReplaceTodo, readCreateKey, readPreconditions } from './requests.ts';
import {
  type CreateOutcome,
  type ListRepresentation,
  type Once,
  OutcomeUnknown,
  StoreBroken,
  StoreUnavailable,
  type TodoStore,
} from './store.ts';

const PRIVATE: CacheControl = 'private, no-cache';

/** The endpoints of Profile A. */
export function sharedListRoutes(store: TodoStore, logEvent: LogEvent): readonly Route[] {
  const addOnce = createOnce();

  /** Writes the line of a change, with its caller (docs/logging.md). */
  function audit(event: 'todo-created' | 'todo-replaced' | 'todo-deleted', call: Call, id: number): void {
    logEvent({ event, id, ...actor(call.identity), traceId: call.traceId });
  }

  /** Creates a todo. Its line comes before its answer, and before those to repeats of its key and to later writes. */
  async function addAudited(call: Call, todo: TodoMembers, once?: Once): Promise<CreateOutcome> {
    const created = await call.step('add', () => store.add(todo, once, call.onCommitted));
    if (typeof created === 'object' && !('repeated' in created)) audit('todo-created', call, created.id);
    return created;
  }

  return [
    {
      method: 'GET',
      path: '/me',
      access: 'authenticated',
      // The answer has no tag: a precondition has nothing to compare.
      handle: conditional(({ identity: { name } }) => ({
        status: 200,
        headers: { 'cache-control': PRIVATE, vary: 'Authorization', 'content-type': JSON_UTF_8 },
        body: JSON.stringify({ name }),
      })),
    },
    {
      method: 'GET',
      path: '/todos',
      access: 'authenticated',
      handle: conditional((call, preconditions) => {
        const coding = admitsGzip(call.headers['accept-encoding']) ? 'gzip' : 'identity';
        const list = call.step('list', () => store.list(coding, preconditions));
        return andThen(list, (current) => answerList(preconditions, current));
      }),
    },
    {
      method: 'GET',
      path: '/todos/:id',
      access: 'authenticated',
      handle: conditional((call, preconditions) => {
        const found = call.step('find', () => store.find(call.id));
        return andThen(found, (todo) => answerTodo(preconditions, todo));
      }),
    },
    withBody(
      { method: 'POST', path: '/todos', access: 'CanWriteTodos' },
      parseCreateTodo,
      conditional(async (call, preconditions, todo) => {
        const key = readCreateKey(call, todo);
        if (key !== undefined && 'status' in key) return key;
        if (preconditions.ifMatch !== undefined || preconditions.ifNoneMatch !== undefined)
          return errors.PRECONDITION_NOT_TAKEN;
        const created = await (key === undefined
          ? addAudited(call, todo)
          : addOnce(key, (once) => addAudited(call, todo, once)));
        if (typeof created === 'string') return UNCHANGED[created];
        return answerCreated('repeated' in created ? created.repeated : created);
      }),
    ),
    withBody(
      { method: 'PUT', path: '/todos/:id', access: 'CanWriteTodos' },
      parseReplaceTodo,
      conditional(async (call, preconditions, replacement) => {
        const { id, onCommitted } = call;
        const outcome = await call.step('replace', () =>
          store.replace(id, replacement, preconditions, onCommitted),
        );
        if (outcome === 'precondition-failed') return preconditionFailed(preconditions);
        if (outcome !== 'replaced') return UNCHANGED[outcome];
        audit('todo-replaced', call, id);
        return { status: 204 };
      }),
    ),
    {
      method: 'DELETE',
      path: '/todos/:id',
      access: 'CanWriteTodos',
      handle: conditional(async (call, preconditions) => {
        const { id, onCommitted } = call;
        const outcome = await call.step('remove', () => store.remove(id, preconditions, onCommitted));
        if (outcome === 'precondition-failed') return preconditionFailed(preconditions);
        if (outcome !== 'removed') return UNCHANGED[outcome];
        audit('todo-deleted', call, id);
        return { status: 204 };
      }),
    },
  ];
}

/** A handler that gets the preconditions of its request. Malformed ones are a 400, on every route (contract Order 4). */
function conditional<Parsed = void>(
  handle: (call: Call, preconditions: Preconditions, parsed: Parsed) => Answer | Promise<Answer>,
): (call: Call, parsed: Parsed) => Answer | Promise<Answer> {
  return (call, parsed) => {
    const preconditions = readPreconditions(call.headers);
    return preconditions === undefined ? errors.PRECONDITION_MALFORMED : handle(call, preconditions, parsed);
  };
}

/** The answer to a write that changed nothing, by its outcome. */
const UNCHANGED = {
  'todo-missing': { status: 404 },
  'category-missing': errors.CATEGORY_NOT_FOUND,
  'key-reused': errors.KEY_REUSED,
  'in-progress': errors.KEY_IN_PROGRESS,
};

function preconditionFailed({ ifMatch = [] }: Preconditions): Answer {
  return areAllChanged(ifMatch) ? errors.TAGS_CHANGED : errors.PRECONDITION_FAILED;
}

function answerCreated({ id, etag, json }: TodoRepresentation): Answer {
  const location = `/todos/${id}`;
  const headers = { etag, 'cache-control': PRIVATE, location, 'content-type': JSON_UTF_8 };
  return { status: 201, headers, body: json };
}

function answerList(preconditions: Preconditions, { body, coding, etag }: ListRepresentation): Answer {
  const validators = { etag, 'cache-control': PRIVATE, vary: 'Accept-Encoding' };
  const encoding: Headers = coding === 'gzip' ? { 'content-encoding': 'gzip' } : {};
  return answerRead(preconditions, validators, { ...encoding, 'content-type': JSON_UTF_8 }, body);
}

function answerTodo(preconditions: Preconditions, todo: TodoRepresentation | undefined): Answer {
  if (todo === undefined) return { status: 404 };
  const { etag, json } = todo;
  const validators = { etag, 'cache-control': PRIVATE };
  return answerRead(preconditions, validators, { 'content-type': JSON_UTF_8 }, json);
}

/** The answer to a read with these preconditions, RFC 9110 §13.2.2. A 304 has the `validators` alone. */
function answerRead(
  { ifMatch, ifNoneMatch }: Preconditions,
  validators: Headers & { readonly etag: EntityTag },
  content: Headers,
  body: Body,
): Answer {
  const { etag } = validators;
  if (!preconditionsHold({ ifMatch }, etag)) return preconditionFailed({ ifMatch });
  if (ifNoneMatch !== undefined && (matchesWeakly(ifNoneMatch, etag) || matchesChanged(ifNoneMatch, etag))) {
    return { status: 304, headers: validators };
  }
  return { status: 200, headers: { ...validators, ...content }, body };
}

/** The 503 of an unusable database; undefined for a bug. `Retry-After`: a repeat may succeed (contract D9; D11). */
export function answerStoreFault(logEvent: LogEvent): (error: unknown, call: Call) => Answer | undefined {
  return (error, call) => {
    if (error instanceof StoreUnavailable) {
      logEvent({ event: 'store-unavailable', traceId: call.traceId, reason: error.message });
      return errors.UNAVAILABLE;
    }
    // The log has one line for the file or the schema, not one for each request.
    if (error instanceof StoreBroken) return errors.BROKEN;
    if (error instanceof OutcomeUnknown) {
      const { method, found, identity, traceId } = call;
      logEvent({ event: 'todo-outcome-unknown', method, id: found?.id, ...actor(identity), traceId });
      logEvent({ event: 'outcome-unknown', traceId, reason: error.message });
      return errors.OUTCOME_UNKNOWN;
    }
    return undefined;
  };
}
