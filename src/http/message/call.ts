import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Identity } from '../../auth/identity.ts';
import type { Mark } from '../../mark.ts';
import { setTraceId, traceIdOf } from '../../problem/trace-id.ts';
import type { HttpConnection } from '../transport/connection.ts';
import { announcesBody } from '../transport/framing.ts';
import { IncomingBody } from './body.ts';
import type { Found } from './routes.ts';

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
  readonly found: Found | undefined;
  /** Undefined when nobody records what the request needs. */
  mark: Mark | undefined = undefined;
  #identity: Identity | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: HttpConnection,
    found: Found | undefined,
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

  /** The one of the request, also where it is refused on its way (contract P5). */
  get traceId(): string {
    return traceIdOf(this.request);
  }

  set traceId(traceId: string) {
    setTraceId(this.request, traceId);
  }
}
