import type { IncomingMessage } from 'node:http';
import type { Admit } from './auth/admit.ts';
import type { Tell } from './events.ts';
import type { Answer } from './http/message/answer.ts';
import type { BodyEnd } from './http/message/body.ts';
import { Call } from './http/message/call.ts';
import type { Cors } from './http/message/cors.ts';
import { readJson } from './http/message/read-json.ts';
import { matchRoutes, type Route } from './http/message/routes.ts';
import { type Fail, toProblem } from './http/message/to-problem.ts';
import { write } from './http/message/write.ts';
import type { Listeners } from './http/transport/listeners.ts';
import { refuse } from './http/transport/refuse.ts';
import type { Receive } from './http/transport/server.ts';
import { andThen } from './promises.ts';

/** What differs between listeners. */
export interface PipelineParts {
  readonly routes: readonly Route[];
  readonly admit: Admit;
  readonly fail: Fail;
  readonly tell: Tell;
  /** Whose requests these are. */
  readonly listeners: Pick<Listeners, 'draining'>;
  /** Undefined when no origin is allowed. */
  readonly cors?: Cors | undefined;
  /** Begins the record of a request; nobody wants one by default. */
  readonly record?: ((call: Call) => void) | undefined;
}

/**
 * The one way of a request, on every listener: it is matched, checked in the order of the contract (2 to 5), and what
 * comes out of that, thrown or not, becomes a problem where it is an error, gets its CORS headers and is written, in one
 * place each.
 */
export function openPipeline(parts: PipelineParts): Receive {
  const { routes, admit, fail, tell, listeners, cors, record } = parts;
  const match = matchRoutes(routes);
  return (request, response, connection) => {
    const { method = '', url = '' } = request;
    try {
      const call = new Call(request, response, connection, match(method, url));
      record?.(call);
      respond(call);
    } catch (err) {
      abandon(request, err);
    }
  };

  /** Nothing is answered before the body has come to its end: `rest` names the two exceptions. */
  function respond(call: Call): void {
    const finished = andThen(attempt(call), (answer) =>
      andThen(call.body?.rest() ?? 'complete', (end) => send(call, answer, end)),
    );
    if (finished instanceof Promise)
      finished.catch((err: unknown) => abandon(call.request, err, call.traceId));
  }

  function attempt(call: Call): Answer | Promise<Answer> {
    try {
      const answer = check(call);
      return answer instanceof Promise ? answer.catch((error: unknown) => fail(error, call)) : answer;
    } catch (error) {
      return fail(error, call);
    }
  }

  /** The order of checks of the contract, 2 to 5, written once. What throws or rejects on the way is not caught here. */
  function check(call: Call): Answer | Promise<Answer> {
    if (call.found === undefined) return { status: 404 };
    const { route, allow } = call.found;
    if (route === undefined) return cors?.preflight(call, allow) ?? { status: 405, headers: { allow } };
    return andThen(admit(call, route.access), (refusal) => refusal ?? handled(call, route));
  }

  function handled(call: Call, route: Route): Answer | Promise<Answer> {
    if (route.parse !== undefined) {
      return andThen(readJson(call.headers, call.body, route.parse), (read) =>
        'problem' in read ? read.problem : route.handle(call, read.value),
      );
    }
    if (call.body === undefined) return route.handle(call, undefined);
    return call.body
      .end()
      .then((end) => (end === 'complete' ? route.handle(call, undefined) : { status: end }));
  }

  function send(call: Call, answer: Answer, end: BodyEnd | 'awaits-100'): void {
    const { request, response, connection } = call;
    // Refused meanwhile: what followed of too large a body was not HTTP.
    if (response.headersSent) return;
    try {
      if (end === 431) {
        refuse(response, connection, { status: end });
        return;
      }
      const complete = toProblem(answer, call);
      const readable = cors === undefined ? complete : cors.apply(complete, call);
      write(call, readable, listeners.draining || end !== 'complete');
    } catch (err) {
      abandon(request, err, call.traceId);
    }
  }

  /** The last catch: nothing is left to say to the client. */
  function abandon({ socket }: IncomingMessage, err: unknown, traceId?: string): void {
    tell({ event: 'answer-not-written', traceId, err });
    socket.destroy();
  }
}
