import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Problem } from '../../problem/problem.ts';
import { faultOf } from './look.ts';
import { createServer } from './node-http.ts';
import { refuse, refuseOnSocket } from './transport-answer.ts';
import type { Turns } from './turn.ts';

/** How long and how many: what keeps slow, silent and numerous clients from holding the service. */
export interface Limits {
  /** Milliseconds until a head must be there, a silent socket's too; then 408. */
  readonly headersTimeout: number;
  /** Milliseconds until head and body must be there; then 408. */
  readonly requestTimeout: number;
  /** Milliseconds between two looks at the clocks above: what may be added to them. */
  readonly connectionsCheckingInterval: number;
  /** Milliseconds. Longer than the usual load balancer's 60 s, which must be the one that closes. */
  readonly keepAliveTimeout: number;
  /** Milliseconds without a byte in either direction, after which a client that does not read is cut off. */
  readonly timeout: number;
  /** Sockets at a time; one more is closed at once. */
  readonly maxConnections: number;
}

/** A slow head ends within 6 s, a slow body within 11 s. */
export const LIMITS: Limits = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 500,
  keepAliveTimeout: 75_000,
  timeout: 120_000,
  maxConnections: 10_000,
};

/** After an answer on the bare socket the client has so long to read it, in milliseconds. */
const CLOSING_MS = 1_000;

/** What a strict server tells and asks its owner. */
export interface StrictServerParts {
  readonly limits: Limits;
  readonly turns: Turns;
  /** Called for each problem that is answered before `route` saw the request. */
  readonly refused?: (status: number) => void;
}

/**
 * A `node:http` server that takes a strict look at each request before `route` sees it (contract, Order of
 * checks 1) and answers what Node.js would answer itself, or not at all, with a problem. A request that
 * expects a 100 goes to `route` without it: whoever wants the body calls `writeContinue`.
 */
export function createStrictServer(route: RequestListener, parts: StrictServerParts): Server {
  const { limits, turns, refused = () => {} } = parts;
  const givenUp = new WeakSet<Duplex>();

  const receive: RequestListener = (request, response) => {
    turns.begin(request.socket, response);
    // Node.js ignores the upgrade, and with it what came in one packet behind it: a request would be lost.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    const fault = faultOf(request);
    if (fault === undefined) route(request, response);
    else {
      refused(400);
      refuse(request, response, { status: 400, detail: fault });
    }
  };

  /**
   * Answers after the answers that are due before it. When the latest request is still without its end, the
   * malformed bytes are its body, and the problem is its one answer.
   */
  const answerInTurn = (socket: Duplex, problem: Problem) => {
    const latest = turns.latest(socket);
    const isBody = latest !== undefined && !latest.closed && !latest.req.complete;
    // Refused already for what its head said, and the connection is closing.
    if (isBody && latest.headersSent) return;
    refused(problem.status);
    if (isBody) refuse(latest.req, latest, problem);
    else if (latest === undefined || latest.closed) closeWith(socket, problem);
    else latest.once('close', () => closeWith(socket, problem));
  };

  const giveUp = (socket: Duplex, problem: Problem | undefined) => {
    if (givenUp.has(socket)) return;
    givenUp.add(socket);
    if (problem === undefined || !socket.writable) socket.destroy();
    else answerInTurn(socket, problem);
  };

  /**
   * A process that stood still finds that the clocks have run out before it finds what its clients have sent
   * meanwhile, so it looks once more before it calls anybody slow. A body that is on its way gets its time anew.
   */
  const callSlow = (socket: Duplex) => {
    const before = turns.latest(socket);
    const wasComplete = before?.req.complete;
    setImmediate(() => {
      const latest = turns.latest(socket);
      const arrived = latest !== before || latest?.req.complete !== wasComplete;
      if (!arrived || latest === undefined) giveUp(socket, { status: 408 });
      else if (!latest.req.complete) setTimeout(recheck, limits.requestTimeout, socket, latest).unref();
    });
  };
  const recheck = (socket: Duplex, { req }: ServerResponse) => {
    if (!req.complete) giveUp(socket, { status: 408 });
  };

  const { maxConnections, timeout, ...timeouts } = limits;
  const server = createServer({ ...timeouts, requireHostHeader: false }, receive);
  server.maxConnections = maxConnections;
  server.timeout = timeout;
  // Node.js would drop the lines after the 2000th without a word; the size of a head is limited anyway.
  server.maxHeadersCount = 0;
  server.on('checkContinue', receive);
  server.on('checkExpectation', (request, response) => {
    turns.begin(request.socket, response);
    refused(417);
    refuse(request, response, { status: 417 });
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // Node.js has taken its hands off this socket: an error without a listener would end the process.
    socket.on('error', () => socket.destroy());
    socket.resume();
    answerInTurn(socket, { status: 400, detail: 'The method CONNECT is for proxies.' });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') callSlow(socket);
    else giveUp(socket, problemOf(error));
  });
  return server;
}

/** The problem for an error of Node.js's parser; undefined when nobody is there to read it. */
function problemOf(error: NodeJS.ErrnoException): Problem | undefined {
  if (error.code === 'HPE_HEADER_OVERFLOW') return { status: 431 };
  if (error.code === 'HPE_INVALID_EOF_STATE') return undefined;
  if (error.code === 'HPE_INVALID_METHOD') {
    return { status: 400, detail: 'The request must begin with a method of HTTP, such as GET, in capitals.' };
  }
  if (error.code?.startsWith('HPE_')) return { status: 400, detail: 'The request is not valid HTTP/1.1.' };
  return undefined;
}

function closeWith(socket: Duplex, problem: Problem): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  refuseOnSocket(socket, problem);
  setTimeout(() => socket.destroy(), CLOSING_MS).unref();
}
