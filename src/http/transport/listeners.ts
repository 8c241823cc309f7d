import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import {
  createStrictServer,
  LIMITS,
  type Limits,
  type Receive,
  type Refused,
  type StrictServer,
} from './server.ts';

/** Milliseconds. Idle connections stay open for so long after the listeners have closed. */
const IDLE_MS = 2_000;

/** Milliseconds between two checks for idle connections from then on. */
const IDLE_INTERVAL_MS = 100;

/** Connections that the kernel may have completed and nobody has accepted: what Node.js asks for when it listens. */
const BACKLOG = 511;

/** Where to listen. */
export interface Address {
  readonly host: string;
  /** 0 to 65535; 0 picks a free port. */
  readonly port: number;
}

/** Sockets of all addresses together. */
export interface SocketFigures {
  readonly open: number;
  readonly limit: number;
  /** So many have been closed at once since the start, because the limit was reached (contract D13). */
  readonly dropped: number;
}

/** The listeners of one port, from the first connection to the last. */
export interface Listeners {
  /**
   * Opens strict servers for `receive`: one, or one for each address of `localhost`. The result is the first.
   *
   * @throws the error of `listen` or of the look-up of the host.
   */
  listen(receive: Receive, address: Address): Promise<Server>;
  readonly figures: SocketFigures;
  /** True from the first call of `drain`. */
  readonly draining: boolean;
  /**
   * Accepts no new connection and answers every request that has been received. Idle connections close after
   * 2 s, or when no client is still reading its answer, all others at the latest after `deadlineMs`. Never
   * rejects; a second call waits for the first.
   */
  drain(deadlineMs: number): Promise<void>;
}

export interface ListenersOptions {
  readonly limits?: Partial<Limits>;
  readonly refused?: Refused;
  /** Called for each connection beyond `maxConnections`: it was closed at once (contract D13). */
  readonly dropped?: () => void;
}

export function openListeners({ limits, refused, dropped }: ListenersOptions = {}): Listeners {
  const open: StrictServer[] = [];
  let droppedCount = 0;
  const parts = {
    limits: { ...LIMITS, ...limits },
    ...(refused === undefined ? {} : { refused }),
    dropped() {
      droppedCount += 1;
      dropped?.();
    },
  };
  let drained: Promise<void> | undefined;

  async function listenOn(receive: Receive, host: string, port: number): Promise<Server> {
    const opened = createStrictServer(receive, parts);
    opened.server.listen(port, host);
    await once(opened.server, 'listening');
    open.push(opened);
    return opened.server;
  }

  return {
    async listen(receive, { host, port }) {
      if (host !== 'localhost') return listenOn(receive, host, port);
      const [first, ...others] = await lookup(host, { all: true });
      const server = await listenOn(receive, first?.address ?? host, port);
      const { port: chosen } = server.address() as AddressInfo;
      // A second address, of IPv6 for one, that this machine does not let us have is not needed.
      await Promise.allSettled(others.map(({ address }) => listenOn(receive, address, chosen)));
      return server;
    },
    get figures() {
      return {
        open: open.reduce((sum, { connections }) => sum + connections.size, 0),
        limit: open.length * parts.limits.maxConnections,
        dropped: droppedCount,
      };
    },
    get draining() {
      return drained !== undefined;
    },
    drain(deadlineMs) {
      drained ??= Promise.all(open.map((opened) => empty(opened, deadlineMs))).then(() => {});
      return drained;
    },
  };
}

async function empty({ server, connections }: StrictServer, deadlineMs: number): Promise<void> {
  await acceptCompleted(server);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  // The close of node:http would drop connections that only look idle, and stop the clocks of slow requests.
  NetServer.prototype.close.call(server, () => resolve());
  let checking = setTimeout(closeIdle, Math.min(IDLE_MS, deadlineMs));
  const cutting = setTimeout(() => server.closeAllConnections(), deadlineMs);
  await closed;
  clearTimeout(checking);
  clearTimeout(cutting);
  server.close();

  function closeIdle(): void {
    for (const connection of connections.values()) connection.closeIdle();
    checking = setTimeout(closeIdle, IDLE_INTERVAL_MS);
  }
}

/**
 * Accepts the connections that are complete for their clients, who may have sent a request: the end of the listener
 * would reset them. libuv accepts one a turn of the event loop.
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
    // The first time, that was still the turn under way.
    await setImmediate();
  }
  server.off('connection', note);
}
