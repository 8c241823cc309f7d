import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Tell } from '../../events.ts';
import { Cannot } from '../../lib/cannot.ts';
import { within } from '../../lib/promises.ts';
import type { Problem } from '../problem.ts';
import {
  createHttpServer,
  type HttpServer,
  LIMITS,
  type Limits,
  type Pages,
  type Receive,
} from './server.ts';

/** Milliseconds that idle connections stay open after the listeners have closed. */
const IDLE_MS = 2_000;

/** Milliseconds between two checks for idle connections after that. */
const IDLE_INTERVAL_MS = 100;

/** Connections that the kernel may have completed and the server has not accepted: the number that Node.js asks for. */
const BACKLOG = 511;

/** Milliseconds without a connection beyond the limit, after which an episode of refusals is over (contract D13). */
const EPISODE_MS = 60_000;

/** An address to listen on. */
export interface Address {
  readonly host: string;
  /** 0 to 65535; 0 picks a free port. */
  readonly port: number;
}

export interface ListenerOptions {
  /** The name in log and metrics; `public` by default. */
  readonly name?: 'public' | 'admin';
  /** Log of requests that are refused before routing, and of connections beyond the limit; none by default. */
  readonly tell?: Tell;
  readonly limits?: Partial<Limits>;
  /** Pages of other origins that are let in; none by default. */
  readonly pages?: Pages;
}

/** A listener, from its first connection to its last. */
export type Listener = ReturnType<typeof openListener>;

export function openListener(options: ListenerOptions = {}) {
  const { name = 'public', tell = () => {} } = options;
  const limits = { ...LIMITS, ...options.limits };
  let opened: HttpServer | undefined;
  const refused = new Map<number, number>();
  let dropped = 0;
  /** Connections that were dropped in the episode under way. */
  let droppedNow = 0;
  let ending: NodeJS.Timeout | undefined;
  /** Undefined before a stop, and when the server listens no more. */
  let closing: Promise<void> | undefined;
  let drained: Promise<void> | undefined;

  function refuse({ status }: Problem, traceId: string): void {
    refused.set(status, (refused.get(status) ?? 0) + 1);
    tell({ event: 'request-refused', status, traceId });
  }

  function drop(): void {
    if (droppedNow === 0) tell({ event: 'connections-full', listener: name });
    dropped += 1;
    droppedNow += 1;
    clearTimeout(ending);
    ending = setTimeout(endEpisode, EPISODE_MS).unref();
  }

  function endEpisode(message?: string): void {
    clearTimeout(ending);
    if (droppedNow > 0) tell({ event: 'connections-free', listener: name, refused: droppedNow }, { message });
    droppedNow = 0;
  }

  const listener = {
    name,
    /** True from the moment `drain` has closed the server: each answer is the last of its connection. */
    draining: false,

    /**
     * Opens the server for `receive`, once. A host with several addresses gets one of them (contract D13).
     *
     * @throws the error of `listen` or of the look-up of the host.
     */
    async listen(receive: Receive, { host, port }: Address): Promise<Server> {
      const found = (await lookup(host, { all: true })).map(({ address }) => address);
      const address = found.includes('127.0.0.1') ? '127.0.0.1' : (found[0] ?? host);
      const receiveInTime: Receive = (...request) => {
        if (closing === undefined) receive(...request);
        else closing.then(() => receive(...request));
      };
      const { server, connections } = createHttpServer(receiveInTime, limits, refuse, options.pages);
      server.on('drop', drop).listen(port, address);
      await once(server, 'listening');
      opened = { server, connections };
      return server;
    },

    /** Lowers the limit of connections from now on. */
    reduceTo(maxConnections: number): void {
      if (opened !== undefined) opened.server.maxConnections = maxConnections;
    },

    /** Counts since the start. */
    get figures() {
      return {
        open: opened?.connections.size ?? 0,
        limit: opened?.server.maxConnections ?? 0,
        /** Connections that were closed at once, because the limit was reached (contract D13). */
        dropped,
        /** Requests that were answered with a problem before they were routed, by its status. */
        refused,
      };
    },

    /**
     * Accepts no new connection and answers every request that has been received. Idle connections close after
     * 2 s, or when no client is still reading its answer, all others at the latest after `deadlineMs`. Never
     * rejects; a second call waits for the first.
     */
    drain(deadlineMs: number): Promise<void> {
      drained ??= empty(deadlineMs);
      return drained;
    },
  };
  return listener;

  async function empty(deadlineMs: number): Promise<void> {
    if (opened === undefined) return;
    // Requests wait meanwhile. A client that got its answer might open a connection for its next request, and be reset.
    closing = acceptCompleted(opened.server);
    await closing;
    listener.draining = true;
    const emptied = closeAndEmpty(opened, deadlineMs);
    closing = undefined;
    await emptied;
    endEpisode('the listener has closed');
  }
}

/**
 * Makes a listener listen. The result is its URL.
 *
 * @param setting The settings that decide the port, for people.
 * @throws {Cannot} `unavailable` when another program has the port, or the host has no address; `configuration` when the
 * process has no right to the port.
 */
export async function listenAt(
  listener: Listener,
  receive: Receive,
  { host, port }: Address,
  setting: string,
): Promise<string> {
  const server = await listener.listen(receive, { host, port }).catch((cause: NodeJS.ErrnoException) => {
    const taken = `another program has that port: choose another one with ${setting}`;
    const noRight =
      `the process has no right to that port: choose one above 1023 with ${setting}, behind a proxy, or give it ` +
      'the right (of systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE)';
    const reason = cause.code === 'EADDRINUSE' ? taken : cause.code === 'EACCES' ? noRight : cause.message;
    const kind = cause.code === 'EACCES' ? 'configuration' : 'unavailable';
    throw new Cannot(kind, `cannot listen on ${host} port ${port}: ${reason}`, { cause });
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('Cannot name the URL: the server has no port');
  return `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`;
}

/** Closes the listener before it returns. */
async function closeAndEmpty({ server, connections }: HttpServer, deadlineMs: number): Promise<void> {
  const { promise: isOpen, resolve } = Promise.withResolvers<false>();
  // `close` of node:http would drop connections that only look idle, and stop the clocks of slow requests.
  NetServer.prototype.close.call(server, () => resolve(false));
  const cutting = setTimeout(() => server.closeAllConnections(), deadlineMs);
  let waitMs = Math.min(IDLE_MS, deadlineMs);
  while (await within(waitMs, isOpen, true)) {
    for (const connection of connections.values()) connection.closeIdle();
    waitMs = IDLE_INTERVAL_MS;
  }
  clearTimeout(cutting);
  server.close();
}

/**
 * Accepts the connections that are complete for their clients, which may have sent a request: the end of the listener
 * would reset them. libuv accepts one connection in a turn of the event loop. A connection that the kernel completes
 * between the last check and that end, some microseconds, is reset: TCP has no other answer.
 */
async function acceptCompleted(server: Server): Promise<void> {
  let accepted = true;
  const note = (): void => {
    accepted = true;
  };
  server.on('connection', note);
  for (let turn = 0; accepted && turn < BACKLOG; turn += 1) {
    accepted = false;
    await setImmediate();
    // The first turn was the one under way.
    await setImmediate();
  }
  server.off('connection', note);
}
