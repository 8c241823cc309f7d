import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer } from '../lib/node-http.ts';
import { ClientConnection } from './client-connection.ts';
import type { Fault, FaultAnswer, FaultAnswers } from './fault.ts';
import { MAX_FIELD_LINES } from './framing.ts';
import type { Limits } from './limits.ts';
import { faultOf, NOT_HTTP, WRONG_ESCAPES } from './validation.ts';

/** Milliseconds between two checks for clients that read nothing of an answer or linger. */
const PATIENCE_INTERVAL_MS = 1_000;

/** Handles a request that has passed request validation. Must not throw. */
export type Receive = (
  request: IncomingMessage,
  response: ServerResponse,
  connection: ClientConnection,
) => void;

export interface HttpServer {
  readonly server: Server;
  readonly connections: ReadonlyMap<Duplex, ClientConnection>;
}

/**
 * A `node:http` server that validates each request before `receive` gets it (contract Order 1). Requests that Node.js
 * would answer itself, or not at all, are answered with a problem. A request that expects a 100 comes without it:
 * `writeContinue` is called when the body is wanted.
 *
 * @param refused called for each request that is answered before `receive` would see it.
 */
export function createHttpServer(
  receive: Receive,
  limits: Limits,
  answers: FaultAnswers,
  refused: (answer: FaultAnswer) => void,
): HttpServer {
  const connections = new Map<Duplex, ClientConnection>();
  /** Connections of which one side has ended. New connections take their places (contract B5; D10). */
  const halfClosed = new Set<Duplex>();
  let onUnixSocket = false;

  const begin = (request: IncomingMessage, response: ServerResponse, known?: Fault) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    const isHttp = connection.received(response);
    const fault = isHttp ? (known ?? faultOf(request, onUnixSocket)) : NOT_HTTP;
    const isPermitted = fault === WRONG_ESCAPES && answers.permits(request);
    if (fault === undefined || isPermitted) receive(request, response, connection);
    else {
      const answer = answers.make(fault, request);
      refuse(response, connection, answer);
      refused(answer);
    }
  };

  /** Malformed bytes of a request under way are its body: the problem is its one answer, and not `refused` as well. */
  const refuseBytes = (socket: Duplex, fault: Fault) => {
    const connection = connections.get(socket);
    const latest = connection?.latest;
    if (connection === undefined || latest === undefined || latest.req.complete) {
      const answer = answers.make(fault, undefined);
      writeOnSocket(socket, answer);
      refused(answer);
    } else if (!latest.headersSent) refuse(latest, connection, answers.make(fault, latest.req));
  };

  const giveUp = (socket: Duplex, fault: Fault | undefined) => {
    connections.get(socket)?.stop();
    if (fault === undefined || !socket.writable) socket.destroy();
    else refuseBytes(socket, fault);
  };

  /**
   * After a stall Node.js fires its timeouts before it reads the bytes that have arrived meanwhile: check again before a
   * 408. A body that is on its way gets a new time limit, and so does a body that was not parsed.
   */
  const callSlow = (socket: Duplex) => {
    const connection = connections.get(socket);
    if (connection === undefined || !socket.writable) return;
    let seen = progressOf(connection);
    const checkAgain = () => {
      // A connection that was given up meanwhile lingers.
      if (!socket.writable) return;
      const now = progressOf(connection);
      const progressed = now.latest !== seen.latest || now.complete !== seen.complete;
      if (progressed && now.complete) return;
      if (progressed || connection.stoodStillSince(performance.now() - limits.requestTimeout)) {
        seen = now;
        setTimeout(checkAgain, limits.requestTimeout).unref();
      } else giveUp(socket, { status: 408 });
    };
    setImmediate(checkAgain);
  };

  const server = createServer({ ...limits, requireHostHeader: false, optimizeEmptyRequests: true });
  server.maxConnections = limits.maxConnections;
  // One field line beyond the limit is kept, so that the excess is seen: Node.js before 26.5.1 drops further lines without
  // an error.
  server.maxHeadersCount = MAX_FIELD_LINES + 1;
  server.once('listening', () => {
    const bound = server.address();
    // It is null for a Unix socket that was given.
    onUnixSocket = bound === null || typeof bound === 'string';
  });
  server.on('connection', (socket: Socket) => {
    connections.set(socket, new ClientConnection(socket));
    for (const event of ['end', 'finish']) socket.once(event, () => halfClosed.add(socket));
    socket.once('close', () => {
      connections.delete(socket);
      halfClosed.delete(socket);
    });
  });
  server.on('drop', () => {
    for (const socket of halfClosed) socket.destroy();
  });
  server.on('request', begin);
  server.on('checkContinue', begin);
  server.on('checkExpectation', (request, response) => begin(request, response, { status: 417 }));
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // Node.js does not watch this socket any more: an error without a listener would end the process.
    socket.on('error', () => {});
    connections.get(socket)?.stop();
    refuseBytes(socket, { status: 400, detail: 'The method CONNECT is for proxies.' });
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') callSlow(socket);
    else giveUp(socket, parserFault(error));
  });
  const check = () => {
    const now = performance.now();
    for (const connection of connections.values()) connection.cutOff(now, limits);
  };
  // After a stall, bytes that have arrived are read first.
  const checking = setInterval(() => setImmediate(check), PATIENCE_INTERVAL_MS).unref();
  server.once('close', () => clearInterval(checking));
  return { server, connections };
}

function progressOf({ latest }: ClientConnection) {
  return { latest, complete: latest?.req.complete };
}

/** Node.js refuses a method that it does not know at the first wrong byte: no path is known by then, for a 405. */
const UNKNOWN_METHOD =
  'The request must begin with a method that this service knows, such as GET, in capitals; not with TLS or the PROXY ' +
  'protocol.';

/** The fault in an error of Node.js's parser; undefined when no client is there to read of it. */
function parserFault(error: NodeJS.ErrnoException): Fault | undefined {
  if (error.code === 'HPE_HEADER_OVERFLOW') return { status: 431 };
  if (error.code === 'HPE_INVALID_EOF_STATE') return undefined;
  if (error.code === 'HPE_INVALID_METHOD') {
    return { status: 400, detail: UNKNOWN_METHOD };
  }
  if (error.code?.startsWith('HPE_')) return { status: 400, detail: 'The request is not valid HTTP/1.1.' };
  return undefined;
}

function headersOf({ headers, body }: FaultAnswer) {
  return { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
}

/** Answers a request whose head was parsed, and ends its connection. */
export function refuse(response: ServerResponse, connection: ClientConnection, answer: FaultAnswer): void {
  const { status, phrase, body } = answer;
  response.writeHead(status, phrase, headersOf(answer));
  // The rest of a request that is too slow is not read.
  if (status === 408) response.end(body);
  else connection.endLast(response, body);
}

/** Answers on the bare socket when Node.js could not parse a request. */
function writeOnSocket(socket: Duplex, answer: FaultAnswer): void {
  const { status, phrase = '', body } = answer;
  const lines = Object.entries({ ...headersOf(answer), date: new Date().toUTCString() });
  const head = [`HTTP/1.1 ${status} ${phrase}`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => {
    if (status === 408) socket.destroy();
  });
}
