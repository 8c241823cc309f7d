import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  newTraceId,
  PROBLEM_JSON,
  type Problem,
  problemBody,
  reasonPhrase,
  traceIdOf,
} from '../../problem/problem.ts';
import type { HttpConnection } from './connection.ts';

/** Headers of an answer given before routing: always JSON (contract N5), and the connection closes. */
function headersOf(body: string) {
  return {
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept',
    'Cache-Control': 'no-store',
    'Content-Type': PROBLEM_JSON,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
}

/**
 * Answers a request whose head was parsed but is refused before routing.
 *
 * @returns the `traceId` of the answer.
 */
export function refuse(response: ServerResponse, connection: HttpConnection, problem: Problem): string {
  const traceId = traceIdOf(response.req);
  const body = problemBody(problem, traceId);
  response.writeHead(problem.status, reasonPhrase(problem.status), headersOf(body));
  // A client that is too slow is not read on.
  if (problem.status === 408) response.end(body);
  else endLast(response, connection, body);
  return traceId;
}

/**
 * Ends the answer that is the last on its connection. What the client is still sending is read on for a while and
 * thrown away, so that the answer arrives (RFC 9112 §9.6; contract B5).
 */
export function endLast(
  response: ServerResponse,
  connection: HttpConnection,
  body: string | Buffer | undefined,
): void {
  if (!connection.expectsMore) {
    response.end(body);
    return;
  }
  if (body === undefined) response.flushHeaders();
  else response.write(body);
  connection.linger().then(() => response.end());
}

/**
 * Answers on the bare socket, for what Node.js could not parse into a request.
 *
 * @returns the `traceId` of the answer.
 */
export function refuseOnSocket(socket: Duplex, problem: Problem): string {
  const traceId = newTraceId(undefined);
  const body = problemBody(problem, traceId);
  const lines = Object.entries({ ...headersOf(body), Date: new Date().toUTCString() });
  const head = [
    `HTTP/1.1 ${problem.status} ${reasonPhrase(problem.status) ?? ''}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  return traceId;
}
