import type { IncomingMessage, RequestListener } from 'node:http';
import type { Authenticate } from '../auth/authenticate.ts';
import { announcesBody } from '../http/body.ts';
import { JSON_UTF_8 } from '../http/json-reply.ts';
import { parseId } from '../http/match.ts';
import { newTraceId } from '../observe/trace.ts';
import { admitsProblem } from '../problem/negotiation.ts';
import { PROBLEM_JSON, problemBody } from '../problem/problem.ts';
import { isUnconditional, PRIVATE } from './conditional.ts';
import type { TodoRepresentation } from './representation.ts';
import type { TodoStore } from './store.ts';

const TODOS = '/todos/';

/** What a short way looks at. */
export interface ShortWayParts {
  readonly authenticate: Authenticate;
  readonly store: TodoStore;
  readonly listeners: { readonly draining: boolean };
}

/**
 * Answers `GET /todos/{id}` before `walk` when everything for it is at hand: no body, no precondition, a
 * remembered token, a known todo, and a service that is not draining. Any other request goes on to `walk`.
 *
 * The walk in `app.ts` is the rule and this its abbreviation: each answer is byte for byte what `walk` would
 * give, to which `test/operations/short-way.test.ts` holds it. What decides are the walk's own functions; only
 * the writing is done anew. No hook runs, so it is not for a service that somebody looks on at.
 */
export function shortWay(
  { authenticate, store, listeners }: ShortWayParts,
  walk: RequestListener,
): RequestListener {
  if (authenticate.recall === undefined || store.atHand === undefined) return walk;
  return (request, response) => {
    const todo = listeners.draining ? undefined : todoAtHand(request, authenticate, store);
    if (todo === undefined) walk(request, response);
    else if (todo !== 'missing') response.writeHead(200, headOf(todo)).end(todo.json);
    else if (!admitsProblem(request.headers.accept)) walk(request, response);
    else {
      const problem = problemBody({ status: 404 }, newTraceId(request.headers.traceparent));
      response.writeHead(404, headOfProblem(problem)).end(problem);
    }
  };
}

/** The todo that a caller asks for who may read it; undefined when it takes more than a look to know either. */
function todoAtHand(
  request: IncomingMessage,
  { recall }: Authenticate,
  store: TodoStore,
): TodoRepresentation | 'missing' | undefined {
  const { method, url = '', headers } = request;
  if (method !== 'GET' || !url.startsWith(TODOS) || announcesBody(request)) return undefined;
  const id = parseId(url.slice(TODOS.length));
  if (id === undefined || headers.authorization === undefined || !isUnconditional(headers)) return undefined;
  return recall?.(headers.authorization)?.outcome === 'identified' ? store.atHand?.(id) : undefined;
}

/** Names and values in turns. */
function headOf({ etag, json }: TodoRepresentation): string[] {
  return [
    'etag',
    etag,
    'cache-control',
    PRIVATE,
    'content-type',
    JSON_UTF_8,
    'x-content-type-options',
    'nosniff',
    'content-length',
    String(Buffer.byteLength(json)),
  ];
}

function headOfProblem(problem: string): string[] {
  return [
    'vary',
    'Accept',
    'cache-control',
    'no-store',
    'content-type',
    PROBLEM_JSON,
    'x-content-type-options',
    'nosniff',
    'content-length',
    String(Buffer.byteLength(problem)),
  ];
}
