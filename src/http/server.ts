import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import type { Problem } from '../problem/problem.ts';
import { faultOf } from './look.ts';
import { refuse, refuseOnSocket } from './transport-answer.ts';

/** Milliseconds. Slow heads and bodies end in 408; keep-alive outlasts the usual load balancer's 60 s. */
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 500,
  keepAliveTimeout: 75_000,
};

/** After an answer on the bare socket the client has so long to read it, in milliseconds. */
const CLOSING_MILLISECONDS = 1_000;

/**
 * A `node:http` server that takes a strict look at each request before `route` sees it (contract, Order of
 * checks 1) and answers what Node.js would answer itself, or not at all, with a problem.
 */
export function createStrictServer(route: RequestListener): Server {
  const latest = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();

  const receive = (request: IncomingMessage, response: ServerResponse) => {
    latest.set(request.socket, response);
    const fault = faultOf(request);
    if (fault === undefined) route(request, response);
    else refuse(request, response, { status: 400, detail: fault });
  };

  const server = createServer({ ...LIMITS, requireHostHeader: false }, receive);
  server.on('checkExpectation', (request, response) => {
    latest.set(request.socket, response);
    refuse(request, response, { status: 417 });
  });
  server.on('connect', (_request, socket) => {
    refuseOnSocket(socket, { status: 400, detail: 'The method CONNECT is for proxies.' });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    const problem = problemOf(error);
    if (problem === undefined || !socket.writable) socket.destroy();
    else answerInTurn(socket, latest.get(socket), problem);
  });
  return server;
}

/** The problem for an error of Node.js's parser or its timers; undefined when nobody is there to read it. */
function problemOf(error: NodeJS.ErrnoException): Problem | undefined {
  if (error.code === 'HPE_HEADER_OVERFLOW') return { status: 431 };
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408 };
  if (error.code === 'HPE_INVALID_EOF_STATE') return undefined;
  if (error.code?.startsWith('HPE_')) return { status: 400, detail: 'The request is not valid HTTP/1.1.' };
  return undefined;
}

/**
 * Answers after the answers that are due before it. When the latest request is still without its end, the
 * malformed bytes are its body, and the problem is its one answer.
 */
function answerInTurn(socket: Duplex, latest: ServerResponse | undefined, problem: Problem): void {
  if (latest === undefined || latest.closed) closeWith(socket, problem);
  else if (latest.req.complete) latest.once('close', () => closeWith(socket, problem));
  else if (latest.headersSent) socket.destroy();
  else refuse(latest.req, latest, problem);
}

function closeWith(socket: Duplex, problem: Problem): void {
  if (!socket.writable) return;
  refuseOnSocket(socket, problem);
  setTimeout(() => socket.destroy(), CLOSING_MILLISECONDS).unref();
}
