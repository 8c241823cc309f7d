import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Mark, Step } from '../events.ts';
import { IncomingBody } from './body.ts';
import type { Identity } from './caller.ts';
import { traceIdOf } from './trace-id.ts';
import type { HttpConnection } from './transport/connection.ts';
import { announcesBody } from './transport/framing.ts';

/** Where a request leads. */
export interface Target {
  /** The pattern of the path, such as `/todos/:id`. */
  readonly path: string;
  /** What stands for `:id`. */
  readonly id: number | undefined;
}

/** A request on its way to its answer. */
export class Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: HttpConnection;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Undefined when the request announces none. */
  readonly body: IncomingBody | undefined;
  /** Undefined when no route has the path. */
  readonly found: Target | undefined;
  /** Undefined when nobody records what the request needs. */
  mark: Mark | undefined = undefined;
  #identity: Identity | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: HttpConnection,
    found: Target | undefined,
  ) {
    this.request = request;
    this.response = response;
    this.connection = connection;
    this.method = request.method ?? '';
    this.headers = request.headers;
    this.body = announcesBody(request) ? new IncomingBody(request, response) : undefined;
    this.found = found;
  }

  /** The id in the path of a route that has one. */
  get id(): number {
    if (this.found?.id === undefined) throw new Error('Cannot name the id: the route has none');
    return this.found.id;
  }

  /** The caller of a route that is not open, once admitted. */
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

  /**
   * Runs a step, and marks its end.
   *
   * @param codeOf what came of it, in a word.
   */
  step<T>(
    name: Exclude<Step['name'], 'commit'>,
    run: () => T | Promise<T>,
    codeOf?: (result: T) => string,
  ): T | Promise<T> {
    const { mark } = this;
    if (mark === undefined) return run();
    const from = performance.now();
    const failed = (error: unknown) => mark({ name, from, until: performance.now(), error });
    const done = (result: T) => mark({ name, from, until: performance.now(), code: codeOf?.(result) });
    try {
      const result = run();
      if (result instanceof Promise) result.then(done, failed);
      else done(result);
      return result;
    } catch (error) {
      failed(error);
      throw error;
    }
  }
}
