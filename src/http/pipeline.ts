import type { IncomingMessage } from 'node:http';
import type { LogEvent } from '../events.ts';
import { type Receive, refuse } from '../wire/http-server.ts';
import type { Listener } from '../wire/listener.ts';
import { type Answer, reasonPhrase, write } from './answer.ts';
import type { BodyEnd } from './body.ts';
import { Call } from './call.ts';
import type { Cors } from './cors.ts';
import { makeFaultAnswer } from './fault-answers.ts';
import { toProblem } from './problem.ts';
import { type Access, type Found, matchRoutes, type Route } from './route.ts';
import { traceIdOf } from './trace-id.ts';

/**
 * Identifies a caller, else 401 or 503, and checks that the route is open to the caller, else 403 (contract Order 3).
 * Undefined when the request may go on: `call.identity` is the caller then.
 */
export type Admit = (call: Call, access: Access) => Answer | undefined | Promise<Answer | undefined>;

export interface PipelineParts {
  readonly routes: readonly Route[];
  /** Identification of callers. Without it every route has to be open. */
  readonly admit?: Admit | undefined;
  /** The answer to an exception that is no bug; undefined for every other exception. */
  readonly answerFault?: ((error: unknown, call: Call) => Answer | undefined) | undefined;
  readonly logEvent: LogEvent;
  /** The listener. While it drains, each answer is the last of its connection. */
  readonly listener: Pick<Listener, 'draining'>;
  /** Other origins whose pages are let in (contract R6); none by default. */
  readonly cors?: Cors | undefined;
  /** Begins the record of a request; no records by default. */
  readonly record?: ((call: Call) => void) | undefined;
}

/**
 * The pipeline of every listener. A request is matched and checked in order (contract Order 2 to Order 5). The answer, or
 * an exception, becomes a problem where it is an error, gets its CORS headers and is written, each in one place. The test
 * of the order: `packages/conformance/src/chapters/order-of-checks.ts`.
 *
 * @throws Error when a route needs a caller, and no `admit` identifies one.
 */
export function openPipeline(parts: PipelineParts): Receive {
  const { routes, admit, answerFault, logEvent, listener, cors, record } = parts;
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

  /** The order of checks, written once (contract Order 2 to Order 5). Exceptions pass through. */
  function check(call: Call, found: Found | undefined): Answer | Promise<Answer> {
    const permitted = cors?.preflight(call.request);
    if (permitted !== undefined) return permitted;
    if (found === undefined) return { status: 404 };
    const { route, allow } = found;
    if (route === undefined) return { status: 405, headers: { allow } };
    const admitted = admit?.(call, route.access);
    if (admitted instanceof Promise) return admitted.then((refusal) => refusal ?? run(call, route));
    return admitted ?? run(call, route);
  }

  function run(call: Call, route: Route): Answer | Promise<Answer> {
    if (call.body === undefined || route.readsBody) return route.handle(call);
    return call.body.end().then((end) => (end === 'complete' ? route.handle(call) : { status: end }));
  }

  /**
   * The answer to an exception. An exception that `answerFault` does not know is a bug: a 500. The log has it once, with
   * the `traceId`; the answer has no part of it, in any environment (contract Errors 3).
   */
  function failed(err: unknown, call: Call): Answer {
    const answer = answerFault?.(err, call);
    if (answer !== undefined) return answer;
    const { method, found, traceId } = call;
    logEvent({ event: 'crash', traceId, method, route: found?.path, err });
    return {
      status: 500,
      headers: { 'cache-control': 'no-cache,no-store', pragma: 'no-cache', expires: '-1' },
    };
  }

  /**
   * Sends an answer when the body has come to its end; `IncomingBody` names the two exceptions. With an answer at hand,
   * the body is wanted at once, without an `await`: a body that stands still meanwhile would get a new time limit.
   */
  async function sendLater(call: Call, pending: Answer | Promise<Answer>): Promise<void> {
    const answer = pending instanceof Promise ? await pending : pending;
    send(call, answer, (await call.body?.rest()) ?? 'complete');
  }

  function send(call: Call, answer: Answer, end: BodyEnd | 'awaits-100'): void {
    const { response, connection } = call;
    // The transport has refused the request meanwhile: the bytes behind too large a body were not HTTP.
    if (response.headersSent) return;
    if (end === 431) {
      sayRefused(call, { status: end });
      refuse(response, connection, makeFaultAnswer({ status: end }, call.request));
      return;
    }
    sayRefused(call, answer);
    const complete = toProblem(answer, call);
    const readable = cors === undefined ? complete : cors.apply(complete, call.request);
    write(call, readable, listener.draining || end !== 'complete');
  }

  /** A line for a 4xx. Admission says a 401 and a 403 itself, with the reason that the answer lacks. */
  function sayRefused({ method, found, traceId }: Call, { status, title }: Answer): void {
    if (status < 400 || status > 499 || status === 401 || status === 403) return;
    const reason = title ?? reasonPhrase(status);
    logEvent({ event: 'request-refused', status, reason, method, route: found?.path, traceId });
  }

  /** The last catch. Nothing can be sent to the client any more. */
  function abandon(request: IncomingMessage, err: unknown): void {
    logEvent({ event: 'answer-not-written', traceId: traceIdOf(request), err });
    request.socket.destroy();
  }
}
