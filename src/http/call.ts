import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
// The global is looked up by a getter: 20 ns more for each reading of the clock.
import { performance } from 'node:perf_hooks';
import type { Identity } from '../caller.ts';
import type { Commit, OnStep, Step } from '../events.ts';
import type { ClientConnection } from '../wire/client-connection.ts';
import { IncomingBody } from './body.ts';
import { traceIdOf } from './trace-id.ts';

export interface Target {
  /** The pattern of the path, such as `/todos/:id`. */
  readonly path: string;
  /** The integer in the place of `:id`. */
  readonly id: number | undefined;
}

/** Steps of one request; a commit is shared by many. */
type StepName = Exclude<Step['name'], 'commit'>;

/** A request on its way to its answer. */
export class Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: ClientConnection;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Undefined when the request has none. */
  readonly body: IncomingBody | undefined;
  /** Undefined when no route has the path. */
  readonly found: Target | undefined;
  /** Undefined when no record of the request is wanted. */
  onStep: OnStep | undefined = undefined;
  #identity: Identity | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: ClientConnection,
    found: Target | undefined,
  ) {
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.method = request.method ?? '';
    this.headers = request.headers;
    this.body = connection.hasBody ? new IncomingBody(request, response) : undefined;
    this.found = found;
  }

  /** Reports the commit of a write, which other writes may share, as a step. */
  get onCommitted(): ((commit: Commit) => void) | undefined {
    const { onStep } = this;
    return onStep && ((commit) => onStep({ name: 'commit', ...commit }));
  }

  /** The id in the path of a route that has one. */
  get id(): number {
    if (this.found?.id === undefined) throw new Error('Cannot name the id: the route has none');
    return this.found.id;
  }

  /** The identity of the caller, once admitted; a request to an open route has none. */
  get identity(): Identity {
    if (this.#identity === undefined) throw new Error('Cannot name the caller: nobody was admitted');
    return this.#identity;
  }

  set identity(identity: Identity) {
    this.#identity = identity;
  }

  /** The same for the whole request, also when the transport refuses it on its way (contract P5). */
  get traceId(): string {
    return traceIdOf(this.request);
  }

  /** Runs a step, and reports its end. @param codeOf The result in a word. */
  step<T>(name: StepName, run: () => T | Promise<T>, codeOf?: (result: T) => string): T | Promise<T> {
    const { onStep } = this;
    if (onStep === undefined) return run();
    const from = performance.now();
    let result: T | Promise<T>;
    try {
      result = run();
    } catch (error) {
      onStep({ name, from, until: performance.now(), error });
      throw error;
    }
    if (result instanceof Promise) reportLater(onStep, name, from, result, codeOf);
    else onStep({ name, from, until: performance.now(), code: codeOf?.(result) });
    return result;
  }
}

/** A function of its own, so that `step` makes no closures for a result that is there at once. */
function reportLater<T>(
  onStep: OnStep,
  name: StepName,
  from: number,
  result: Promise<T>,
  codeOf: ((result: T) => string) | undefined,
): void {
  result.then(
    (found) => onStep({ name, from, until: performance.now(), code: codeOf?.(found) }),
    (error: unknown) => onStep({ name, from, until: performance.now(), error }),
  );
}
