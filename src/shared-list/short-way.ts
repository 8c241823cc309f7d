import type { IncomingMessage, RequestListener } from 'node:http';
import type { Authenticate } from '../auth/authenticate.ts';
import { announcesBody } from '../http/message/body.ts';
import { JSON_UTF_8 } from '../http/message/json-reply.ts';
import { parseId } from '../http/message/match.ts';
import type { WriteRequestLine } from '../observe/request-line.ts';
import { admitsProblem } from '../problem/negotiation.ts';
import { PROBLEM_JSON, problemBody } from '../problem/problem.ts';
import { newTraceId } from '../problem/trace-id.ts';
import { isUnconditional, PRIVATE } from './conditional.ts';
import type { TodoRepresentation } from './representation.ts';
import type { TodoStore } from './store.ts';

const TODOS = '/todos/';

/** What a short way looks at. */
export interface ShortWayParts {
  readonly authenticate: Authenticate;
  readonly store: TodoStore;
  readonly listeners: { readonly draining: boolean };
  /** Writes the line of a request, where there is one. */
  readonly writeLine: WriteRequestLine | undefined;
}

/**
 * Answers `GET /todos/{id}` before `walk` when everything for it is at hand: no body, no precondition, a
 * remembered token, a known todo, and a service that is not draining. Any other request goes on to `walk`.
 *
 * The walk in `app.ts` is the rule and this its abbreviation: each answer is byte for byte what `walk` would
 * give, to which `test/operations/short-way.test.ts` holds it. What decides are the walk's own functions; only
 * the writing is done anew, and the line of a request. No hook runs, so it is not for a service that is observed.
 */
export function shortWay(
  { authenticate, store, listeners, writeLine }: ShortWayParts,
  walk: RequestListener,
): RequestListener {
  if (authenticate.recall === undefined || store.atHand === undefined) return walk;
  const route = `${TODOS}:id`;
  return (request, response) => {
    const from = writeLine === undefined ? 0 : performance.now();
    const todo = listeners.draining ? undefined : todoAtHand(request, authenticate, store);
    const { accept, traceparent } = request.headers;
    if (todo === undefined || (todo === 'missing' && !admitsProblem(accept))) {
      walk(request, response);
      return;
    }
    const traceId = todo === 'missing' || writeLine !== undefined ? newTraceId(traceparent) : '';
    const status = todo === 'missing' ? 404 : 200;
    if (todo === 'missing') {
      const problem = problemBody({ status }, traceId);
      response.writeHead(status, headOfProblem(problem)).end(problem);
    } else {
      response.writeHead(status, headOf(todo)).end(todo.json);
    }
    writeLine?.({ method: 'GET', route, status, milliseconds: performance.now() - from, traceId });
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
  return recall?.(headers.authorization) === undefined ? undefined : store.atHand?.(id);
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
