import type { RequestListener, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { createStrictServer, LIMITS, type Limits } from './server.ts';
import { keepTurns } from './turn.ts';

/** Idle connections stay open for so long after the listeners have closed, in milliseconds. */
const IDLE_MILLISECONDS = 2_000;

/** Between two looks for idle connections from then on, in milliseconds. */
const IDLE_INTERVAL = 100;

/** The public listeners of one service, from the first connection to the last. */
export interface Listeners {
  /** A strict server for `route` that will be drained with the others. */
  create(route: RequestListener): Server;
  /** True from the first call of `drain`. */
  readonly draining: boolean;
  /** Whether no request has come in behind the one that this answers. */
  isLatest(response: ServerResponse): boolean;
  /**
   * Accepts no new connection and answers every request that has been received. Idle connections close after
   * 2 s, or when no client is still reading its answer, all others at the latest after `deadline` milliseconds. Never
   * rejects; a second call waits for the first.
   */
  drain(deadline: number): Promise<void>;
}

export interface ListenersOptions {
  readonly limits?: Partial<Limits>;
  /** Called for each problem that is answered before routing. */
  readonly refused?: (status: number) => void;
}

export function openListeners({ limits, refused }: ListenersOptions = {}): Listeners {
  const turns = keepTurns();
  const parts = { limits: { ...LIMITS, ...limits }, turns, ...(refused === undefined ? {} : { refused }) };
  const open: Listener[] = [];
  let drained: Promise<void> | undefined;

  return {
    create(route) {
      const server = createStrictServer(route, parts);
      const sockets = new Set<Socket>();
      server.on('connection', (socket: Socket) => {
        sockets.add(socket);
        socket.once('close', () => sockets.delete(socket));
      });
      open.push({ server, sockets });
      return server;
    },
    get draining() {
      return drained !== undefined;
    },
    isLatest: (response) => turns.latest(response.req.socket) === response,
    drain(deadline) {
      drained ??= Promise.all(open.map((listener) => empty(listener, deadline))).then(() => {});
      return drained;
    },
  };
}

interface Listener {
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
}

async function empty({ server, sockets }: Listener, deadline: number): Promise<void> {
  if (!server.listening) return;
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  // The close of node:http would drop connections that only look idle, and stop the clocks of slow requests.
  NetServer.prototype.close.call(server, () => resolve());
  let looking = setTimeout(look, Math.min(IDLE_MILLISECONDS, deadline));
  const cutting = setTimeout(() => server.closeAllConnections(), deadline);
  await closed;
  clearTimeout(looking);
  clearTimeout(cutting);
  server.close();

  function look(): void {
    closeIdle(server, sockets);
    looking = setTimeout(look, IDLE_INTERVAL);
  }
}

/**
 * Node.js counts a connection that has never said anything as busy, and one that has still to send most of an answer
 * as idle. It closes all that it counts as idle or none, so while there is one of these, it closes none.
 */
function closeIdle(server: Server, sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  if (!sockets.values().some(({ writableLength }) => writableLength > 0)) server.closeIdleConnections();
}
