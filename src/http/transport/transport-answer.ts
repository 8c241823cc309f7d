import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { reasonPhrase } from '../../problem/catalogue.ts';
import { PROBLEM_JSON, type Problem, problemBody } from '../../problem/problem.ts';
import { newTraceId } from '../../problem/trace-id.ts';
import { announcesBody, lingerOn } from '../message/body.ts';

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
 * Answers a request whose head was parsed but is refused before routing, in its turn among pipelined ones. What
 * is still coming of its body is read on for a while, so that the answer arrives; not when it comes too slowly.
 */
export function refuse(request: IncomingMessage, response: ServerResponse, problem: Problem): void {
  const body = problemBody(problem, newTraceId(request.headers.traceparent));
  response.writeHead(problem.status, reasonPhrase(problem.status), headersOf(body));
  if (problem.status === 408 || request.complete || !announcesBody(request)) {
    response.end(body);
    return;
  }
  response.write(body);
  lingerOn(request).then(() => response.end());
}

/** Answers on the bare socket, for what Node.js could not parse into a request. */
export function refuseOnSocket(socket: Duplex, problem: Problem): void {
  const body = problemBody(problem, newTraceId(undefined));
  const lines = Object.entries({ ...headersOf(body), Date: new Date().toUTCString() });
  const head = [
    `HTTP/1.1 ${problem.status} ${reasonPhrase(problem.status) ?? ''}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
