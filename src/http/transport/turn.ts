import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Knows whose turn it is on each connection: answers go out in the order of their requests (RFC 9112 §9.3.2). */
export interface Turns {
  /** Notes that a request has been received on its connection. */
  begin(socket: Duplex, response: ServerResponse): void;
  /** The answer to the latest request on a connection, due or given. */
  latest(socket: Duplex): ServerResponse | undefined;
}

export function keepTurns(): Turns {
  const latest = new WeakMap<Duplex, ServerResponse>();
  return {
    begin: (socket, response) => latest.set(socket, response),
    latest: (socket) => latest.get(socket),
  };
}
