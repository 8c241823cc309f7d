import type { IncomingMessage } from 'node:http';
import type { Tell } from '../events.ts';
import { andThen } from '../lib/promises.ts';
import { type Answer, toProblem, write } from './answer.ts';
import type { BodyEnd } from './body.ts';
import { Call } from './call.ts';
import type { Access } from './caller.ts';
import type { Cors } from './cors.ts';
import { type Found, matchRoutes, type Route } from './route.ts';
import { traceIdOf } from './trace-id.ts';
import type { Listener } from './transport/listener.ts';
import { type Receive, refuse } from './transport/server.ts';

/**
 * Lets a caller in, who is then `call.identity`: identified, else 401 or 503; allowed, else 403
 * (contract Order 3). Undefined when the request may go on.
 */
export type Admit = (call: Call, access: Access) => Answer | undefined | Promise<Answer | undefined>;

/** What differs between listeners. */
export interface PipelineParts {
  readonly routes: readonly Route[];
  /** Without it every route has to be open. */
  readonly admit?: Admit | undefined;
  /** The answer to what was thrown and is no bug; undefined for all else. */
  readonly answerFault?: ((error: unknown, call: Call) => Answer | undefined) | undefined;
  readonly tell: Tell;
  /** Asked with each answer: while they drain, it is the last of its connection. */
  readonly listener: Pick<Listener, 'draining'>;
  /** No origin is allowed by default. */
  readonly cors?: Cors | undefined;
  /** Begins the record of a request; nobody wants one by default. */
  readonly record?: ((call: Call) => void) | undefined;
}

/**
 * The one way of a request, on every listener: it is matched, checked in order (contract Order 2 to Order 5), and what
 * comes out of that, thrown or not, becomes a problem where it is an error, gets its CORS headers and is written, in one
 * place each. The order is held by `packages/conformance/src/chapters/order-of-checks.ts`.
 *
 * @throws Error when a route asks who is calling, and nobody can tell.
 */
export function openPipeline(parts: PipelineParts): Receive {
  const { routes, admit, answerFault, tell, listener, cors, record } = parts;
  if (admit === undefined && routes.some(({ access }) => access !== 'open'))
    throw new Error('Cannot start: a route asks who is calling, and there is no authentication');
  const match = matchRoutes(routes);
  return (request, response, connection) => {
    const { method = '', url = '' } = request;
    try {
      const found = match(method, url);
      const call = new Call(request, response, connection, found);
      record?.(call);
      const answer = attempt(call, found);
      if (call.body === undefined && !(answer instanceof Promise)) send(call, answer, 'complete');
      else sendLater(call, answer).catch((err: unknown) => abandon(request, err));
    } catch (err) {
      abandon(request, err);
    }
  };

  function attempt(call: Call, found: Found | undefined): Answer | Promise<Answer> {
    try {
      const answer = check(call, found);
      return answer instanceof Promise ? answer.catch((error: unknown) => failed(error, call)) : answer;
    } catch (error) {
      return failed(error, call);
    }
  }

  /** The order of checks, written once (contract Order 2 to Order 5). What throws or rejects is not caught here. */
  function check(call: Call, found: Found | undefined): Answer | Promise<Answer> {
    const permitted = cors?.preflight(call);
    if (permitted !== undefined) return permitted;
    if (found === undefined) return { status: 404 };
    const { route, allow } = found;
    if (route === undefined) return { status: 405, headers: { allow } };
    return andThen(admit?.(call, route.access), (refusal) => {
      if (refusal !== undefined) return refusal;
      if (call.body === undefined || route.readsBody) return route.handle(call);
      return call.body.end().then((end) => (end === 'complete' ? route.handle(call) : { status: end }));
    });
  }

  /**
   * What `answerFault` does not know is a bug, and a 500. The log has it once, with the `traceId`; the answer never has any
   * part of it, in any environment (contract Errors 3).
   */
  function failed(err: unknown, call: Call): Answer {
    const answer = answerFault?.(err, call);
    if (answer !== undefined) return answer;
    const { method, found, traceId } = call;
    tell({ event: 'crash', traceId, method, route: found?.path, err });
    return {
      status: 500,
      headers: { 'cache-control': 'no-cache,no-store', pragma: 'no-cache', expires: '-1' },
    };
  }

  /**
   * Nothing is answered before the body has come to its end: `IncomingBody` names the two exceptions. With an answer at hand
   * the body is wanted at once: one that has stood still meanwhile would get its time anew.
   */
  async function sendLater(call: Call, pending: Answer | Promise<Answer>): Promise<void> {
    const answer = pending instanceof Promise ? await pending : pending;
    send(call, answer, (await call.body?.rest()) ?? 'complete');
  }

  function send(call: Call, answer: Answer, end: BodyEnd | 'awaits-100'): void {
    const { response, connection } = call;
    // Refused meanwhile: what followed of too large a body was not HTTP.
    if (response.headersSent) return;
    if (end === 431) {
      refuse(response, connection, { status: end });
      return;
    }
    const complete = toProblem(answer, call);
    const readable = cors === undefined ? complete : cors.apply(complete, call);
    write(call, readable, listener.draining || end !== 'complete');
  }

  /** The last catch: nothing is left to say to the client. */
  function abandon(request: IncomingMessage, err: unknown): void {
    tell({ event: 'answer-not-written', traceId: traceIdOf(request), err });
    request.socket.destroy();
  }
}
