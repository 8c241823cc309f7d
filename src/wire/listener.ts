import { Server as NetServer } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { LogEvent } from '../events.ts';
import { within } from '../lib/promises.ts';
import { type Address, type Bound, listenOn } from './address.ts';
import type { FaultAnswer, FaultAnswers } from './fault.ts';
import { createHttpServer, type HttpServer, type Receive } from './http-server.ts';
import { LIMITS, type Limits } from './limits.ts';

/** Milliseconds between two looks for idle connections, once the listener has closed. */
const IDLE_INTERVAL_MS = 100;

/** Milliseconds without a connection beyond the limit, after which an episode of refusals is over (contract D13). */
const EPISODE_MS = 60_000;

export interface ListenerOptions {
  /** The name in log and metrics. */
  readonly name: 'public' | 'admin';
  /** Log of requests that the transport refuses, and of connections beyond the limit. */
  readonly logEvent: LogEvent;
  readonly limits: Pick<Limits, 'keepAliveTimeout' | 'maxConnections'> & Partial<Limits>;
  readonly answers: FaultAnswers;
}

/** A listener, from its first connection to its last. */
export type Listener = ReturnType<typeof openListener>;

export function openListener(options: ListenerOptions) {
  const { name, logEvent, answers } = options;
  const limits = { ...LIMITS, ...options.limits };
  let opened: (HttpServer & Bound) | undefined;
  // From the start: a rate misses the first count of a series that begins with it.
  const refused = new Map([400, 408, 417, 431].map((status) => [status, 0]));
  let dropped = 0;
  /** Connections that were dropped in the episode under way. */
  let droppedNow = 0;
  let ending: NodeJS.Timeout | undefined;
  /** Undefined before a stop. */
  let closing: Promise<void> | undefined;
  let drained: Promise<void> | undefined;

  const make: FaultAnswers['make'] = (fault, request) => {
    const answer = answers.make(fault, request);
    const { status, phrase, detail = phrase, traceId } = answer;
    logEvent({ event: 'request-refused', status, reason: detail, traceId });
    return answer;
  };

  function count({ status }: FaultAnswer): void {
    refused.set(status, (refused.get(status) ?? 0) + 1);
  }

  function drop(): void {
    if (droppedNow === 0) logEvent({ event: 'connections-full', listener: name });
    dropped += 1;
    droppedNow += 1;
    clearTimeout(ending);
    ending = setTimeout(endEpisode, EPISODE_MS).unref();
  }

  function endEpisode(message?: string): void {
    if (droppedNow > 0)
      logEvent({ event: 'connections-free', listener: name, refused: droppedNow }, { message });
    droppedNow = 0;
  }

  const listener = {
    name,
    /** True from the moment `drain` has closed the server: each answer is the last of its connection. */
    draining: false,

    /** Opens the server for `receive`, once. @throws as `listenOn`. */
    async listen(receive: Receive, address: Address, stop?: AbortSignal) {
      const receiveOnceAccepted: Receive = (...request) => {
        if (closing === undefined) receive(...request);
        else closing.then(() => receive(...request));
      };
      const { server, connections } = createHttpServer(
        receiveOnceAccepted,
        limits,
        { ...answers, make },
        count,
      );
      server.on('drop', drop);
      opened = { server, connections, ...(await listenOn(server, address, stop)) };
      return opened;
    },

    /** Lowers the limit of connections from now on. */
    reduceTo(maxConnections: number): void {
      if (opened !== undefined) opened.server.maxConnections = maxConnections;
    },

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
     * Accepts no new connection and answers every request that has been received. Connections that have been idle for
     * a while close at once, all others at the latest after `deadlineMs`. Never rejects; a second call waits for the
     * first.
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
    opened.withdraw();
    closing = acceptCompleted(opened);
    await closing;
    listener.draining = true;
    await closeAndEmpty(opened, deadlineMs);
    endEpisode('the listener has closed');
  }
}

/** Closes the listener before it returns. */
async function closeAndEmpty({ server, connections }: HttpServer, deadlineMs: number): Promise<void> {
  const { promise: isOpen, resolve } = Promise.withResolvers<false>();
  // `close` of node:http would drop connections that only look idle, and stop the clocks of slow requests.
  NetServer.prototype.close.call(server, () => resolve(false));
  const cutting = setTimeout(() => server.closeAllConnections(), deadlineMs);
  for (let waitMs = 0; await within(waitMs, isOpen, true); waitMs = IDLE_INTERVAL_MS) {
    const now = performance.now();
    for (const connection of connections.values()) connection.closeIdle(now);
  }
  clearTimeout(cutting);
  server.close();
}

/**
 * Accepts the connections that are complete for their clients, which may have sent a request: the end of the listener
 * would reset them. libuv accepts one connection in a turn of the event loop. A connection that the kernel completes
 * between the last check and that end, some microseconds, is reset: TCP has no other answer.
 */
async function acceptCompleted({ server, backlog }: HttpServer & Bound): Promise<void> {
  let accepted = true;
  server.on('connection', () => {
    accepted = true;
  });
  for (let turn = 0; accepted && turn < backlog; turn += 1) {
    accepted = false;
    await setImmediate();
    // The first ends the turn under way, the second the next one.
    await setImmediate();
  }
}
