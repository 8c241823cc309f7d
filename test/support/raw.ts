import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type Agent, type IncomingMessage, type RequestOptions, request } from 'node:http';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { header, parseReplies, type Reply } from '../../packages/conformance/src/http.ts';
import { assertProblem } from '../../packages/conformance/src/problem.ts';

/** Milliseconds of silence after which a test gives up on an answer: longer than any limit of the service on a busy machine. */
const PATIENCE_MS = 100_000;

/** Writes the pieces on a new connection and gives the answers that came until the service closed it. */
export async function converse(url: string, ...pieces: readonly (string | Buffer)[]): Promise<Reply[]> {
  await using connection = await Connection.open(url);
  for (const piece of pieces) connection.socket.write(piece);
  await connection.closed();
  return connection.answers();
}

export function statusesOf(answers: readonly Pick<Reply, 'status'>[]): number[] {
  return answers.map(({ status }) => status);
}

/** Sees to it that there is one answer, a problem that closes the connection, and gives it. */
export function assertRefused([reply, ...more]: readonly Reply[], status: number) {
  assert.deepEqual(statusesOf(more), []);
  assert.ok(reply, 'no answer');
  return assertProblem(reply, status, { detail: 'optional', headers: { connection: 'close' } });
}

/**
 * Writes requests that end their connections to a service in this process, one on each, so that one turn of the event loop
 * finds them all, in their order.
 */
export async function together(url: string, requests: readonly (string | Buffer)[]): Promise<void> {
  const connections = await Promise.all(requests.map(() => Connection.open(url)));
  // So that each is accepted.
  for (const connection of connections) {
    connection.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await connection.until('"traceId"');
  }
  for (const [index, { socket }] of connections.entries()) socket.write(requests[index] ?? '');
  await Promise.all(connections.map((connection) => connection.closed()));
}

const acceptedSockets = new WeakMap<Server, Set<Socket>>();

/** The open sockets that a server has accepted since the first call. One listener for each server. */
function acceptedBy(server: Server): ReadonlySet<Socket> {
  const known = acceptedSockets.get(server);
  if (known !== undefined) return known;
  const sockets = new Set<Socket>();
  acceptedSockets.set(server, sockets);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  return sockets;
}

/** A connection that a test writes to byte by byte. Nothing is retried, decoded or followed. */
export class Connection implements AsyncDisposable {
  readonly socket: Socket;
  #received = '';
  readonly #closed: Promise<void>;

  private constructor(socket: Socket) {
    this.socket = socket;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#closed = promise;
    socket.setEncoding('latin1').setTimeout(PATIENCE_MS, () => {
      reject(new Error(`still open after ${PATIENCE_MS} ms of silence: ${this.#received}`));
      socket.destroy();
    });
    socket.on('data', (text: string) => {
      this.#received += text;
    });
    socket.on('error', () => {});
    socket.once('close', () => resolve());
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Connection(socket);
  }

  /** A connection to a server of this process, with the server's end of it. */
  static async to(server: Server): Promise<Connection & { readonly peer: Socket }> {
    const accepted = acceptedBy(server);
    const { port } = server.address() as AddressInfo;
    const connection = await Connection.open(`http://127.0.0.1:${port}`);
    for (;;) {
      const peer = accepted.values().find(({ remotePort }) => remotePort === connection.socket.localPort);
      if (peer !== undefined) return Object.assign(connection, { peer });
      await turn();
    }
  }

  /** Waits until the service has closed the connection; rejects when it does not and is silent for 100 s. */
  closed(): Promise<void> {
    return this.#closed;
  }

  /** Waits until what was received holds `text`; rejects when the connection ends without it. */
  async until(text: string): Promise<void> {
    while (!this.#received.includes(text)) {
      if (this.socket.destroyed) throw new Error(`closed without ${JSON.stringify(text)}: ${this.#received}`);
      await Promise.race([once(this.socket, 'data'), this.#closed]);
    }
  }

  /** What has been received so far, latin1. */
  received(): string {
    return this.#received;
  }

  /** Of the complete answers so far. */
  statuses(): number[] {
    return statusesOf(this.answers());
  }

  /** Status and `Connection` of the complete answers so far: `200 close`. */
  ends(): string[] {
    return this.answers().map((answer) => `${answer.status} ${header(answer, 'connection')}`);
  }

  /** The complete answers so far, interim ones among them. Throws when bytes are left over. */
  answers(): Reply[] {
    const replies = parseReplies(Buffer.from(this.#received, 'latin1'));
    for (const reply of replies) {
      // It would take what comes behind it for its body.
      const isFramed = header(reply, 'content-length') ?? header(reply, 'transfer-encoding');
      assert.ok(isFramed || reply.body.length === 0, `a ${reply.status} does not say where its body ends`);
    }
    return replies;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.socket.destroyed) return;
    this.socket.destroy();
    await this.#closed;
  }
}

/** One request on a connection of the agent, and its answer as it came. Rejects without a complete one. */
export async function askBy(
  agent: Agent,
  options: RequestOptions,
  body?: string | Buffer | Readable,
): Promise<Reply> {
  const sent = request({ ...options, agent });
  // A connection may break after its answer, too.
  sent.on('error', () => {});
  if (body instanceof Readable) body.pipe(sent);
  else sent.end(body);
  const [response]: [IncomingMessage] = (await once(sent, 'response')) as [IncomingMessage];
  const headers = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value) => [name, value] as const),
  );
  return { status: response.statusCode ?? 0, headers, body: Buffer.concat(await response.toArray()) };
}
