import type { LogEvent } from '../../events.ts';
import { messageOf } from '../../lib/errors.ts';
import { timeLimit } from '../../lib/promises.ts';
import type { PoolCounts, StoreUnavailable } from '../../shared-list/store.ts';
import type { Host } from './address.ts';
import type { Cluster, ConnectionRequirements } from './cluster.ts';
import { noConnection } from './error.ts';
import type { PostgresConnection } from './postgres-connection.ts';

/** The number of connections, their purpose, and limits of time in milliseconds. */
export interface Limits extends Pick<ConnectionRequirements, 'writes'> {
  /** Connections that a server has from this pool, at most, including those that it has not released yet. */
  readonly connections: number;
  /** To wait for a connection: a free one, or a new one. */
  readonly connectionMs: number;
  /** Until the server gives up a statement; then it is certain that nothing was changed. */
  readonly statementMs: number;
  /** To wait for an answer; in a transaction, for its next part. */
  readonly answerMs: number;
  /** Longest life of a connection, of which each has 80 to 100 %: a name may lead to another server by then. */
  readonly lifetimeMs: number;
  /** After which an idle connection is closed. */
  readonly idleMs: number;
}

/** Milliseconds to connect, log in and inspect, unless a caller waits longer. A caller may give up before. */
const OPEN_MS = 3_000;

/** Milliseconds between two rounds that close idle connections which are lost or expired. */
const SWEEP_MS = 1_000;

/** Milliseconds between two tries to connect, one at a time, while no server is fit. */
const RETRY_MS = 100;

/** Milliseconds for the server to release the connections, at the end. */
const END_MS = 2_000;

/** Why nobody gets a connection any more. */
const CLOSED = 'it is closed';

export type OnConnection = (failure: StoreUnavailable | undefined, connection?: PostgresConnection) => void;

/**
 * A bounded pool of connections to the server that takes writes, with a bounded wait for one. A place is free when the
 * server has released its connection: `test/storage/postgres-connections.test.ts`.
 */
export class ConnectionPool implements AsyncDisposable {
  readonly #cluster: Cluster;
  readonly #limits: Limits;
  readonly #logEvent: LogEvent;
  /** Connections in use or idle, with the time at which they expire. */
  readonly #connections = new Map<PostgresConnection, number>();
  /** Idle connections; the one that was used last is used first. */
  #idle: PostgresConnection[] = [];
  /** Waiting callers, in the order of their calls. */
  readonly #waiting = new Set<OnConnection>();
  /** Connections that a server has not released: also before they are open, and after `leave`. */
  readonly #held = new Set<PostgresConnection>();
  readonly #sweeper = setInterval(() => this.#sweep(), SWEEP_MS).unref();
  #opening = 0;
  /** The failure of the last try to open a connection; until one succeeds, there is one try at a time. */
  #failure: StoreUnavailable | undefined;
  #pause: NodeJS.Timeout | undefined;
  #ending = false;

  constructor(cluster: Cluster, limits: Limits, logEvent: LogEvent) {
    this.#cluster = cluster;
    this.#limits = limits;
    this.#logEvent = logEvent;
  }

  counts(): PoolCounts {
    const idle = this.#idle.length;
    return { used: this.#connections.size - idle, idle, waiting: this.#waiting.size };
  }

  /** Waits for the running statements, and for the server to release the connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending = true;
    clearInterval(this.#sweeper);
    clearTimeout(this.#pause);
    this.#rejectAll(noConnection(CLOSED));
    for (const connection of this.#idle) this.drop(connection);
    const timer = setTimeout(() => {
      for (const connection of this.#held) connection.destroy();
    }, END_MS);
    while (this.#held.size > 0) await Promise.all(this.#held.values().map(({ left }) => left));
    clearTimeout(timer);
  }

  /** Calls back with a connection, or with the reason why there is none within so many milliseconds. */
  take(onConnection: OnConnection, withinMs = this.#limits.connectionMs): void {
    const idle = this.#idle.at(-1);
    if (this.#ending) {
      onConnection(noConnection(CLOSED));
    } else if (idle === undefined) {
      this.#wait(onConnection, withinMs);
    } else if (this.#isUsable(idle)) {
      this.#idle.pop();
      onConnection(undefined, idle);
    } else {
      this.#discard(idle);
      this.take(onConnection, withinMs);
    }
  }

  #wait(onConnection: OnConnection, withinMs: number): void {
    const waiting: OnConnection = (failure, connection) => {
      limit.clear();
      this.#waiting.delete(waiting);
      onConnection(failure, connection);
    };
    const limit = timeLimit(withinMs, () => {
      waiting(this.#failure ?? noConnection(`none was free in ${withinMs} ms`));
    });
    this.#waiting.add(waiting);
    this.#grow();
  }

  /** Takes a connection back, for the next caller that waits for one. */
  put(connection: PostgresConnection): void {
    const [next] = this.#waiting;
    if (!this.#isUsable(connection) || connection.inTransaction) this.drop(connection);
    else if (next === undefined) this.#idle.push(connection);
    else next(undefined, connection);
  }

  #isUsable(connection: PostgresConnection): boolean {
    return (
      connection.lost === undefined &&
      !this.#cluster.isRetired(connection) &&
      performance.now() < (this.#connections.get(connection) ?? 0) &&
      !this.#ending
    );
  }

  /** Takes a connection out of use; its place is free when the server has released it. */
  drop(connection: PostgresConnection): void {
    this.#connections.delete(connection);
    this.#idle = this.#idle.filter((idle) => idle !== connection);
    void connection.leave();
    this.#grow();
  }

  /** Opens connections for waiting callers, as far as there is room. */
  #grow(): void {
    const { connections } = this.#limits;
    while (this.#waiting.size > this.#opening && this.#connections.size + this.#opening < connections) {
      const probing = this.#failure !== undefined && this.#opening > 0;
      if (this.#pause !== undefined || probing) return;
      if (!this.#cluster.address.hosts.some((host) => this.#hasRoom(host))) return;
      void this.#open();
    }
  }

  async #open(): Promise<void> {
    this.#opening += 1;
    const { statementMs, connectionMs, writes = false } = this.#limits;
    const requirements = { statementMs, strict: true, writes, withinMs: Math.max(OPEN_MS, connectionMs) };
    try {
      const connection = await this.#cluster.open(requirements, (opening) => this.#hold(opening));
      this.#opening -= 1;
      this.#failure = undefined;
      const life = this.#limits.lifetimeMs * (0.8 + 0.2 * Math.random());
      this.#connections.set(connection, performance.now() + life);
      this.put(connection);
    } catch (error) {
      this.#opening -= 1;
      this.#failure = noConnection(messageOf(error), error);
      this.#pause ??= setTimeout(() => {
        this.#pause = undefined;
        this.#grow();
      }, RETRY_MS);
      if (this.#connections.size + this.#opening === 0) this.#rejectAll(this.#failure);
    }
  }

  #rejectAll(reason: StoreUnavailable): void {
    for (const waiting of [...this.#waiting]) waiting(reason);
  }

  #hasRoom(host: Host): boolean {
    const held = this.#held.values().filter((connection) => connection.host === host);
    return held.toArray().length < this.#limits.connections;
  }

  #hold(connection: PostgresConnection): void {
    if (!this.#hasRoom(connection.host)) throw new Error('it has not let go of earlier connections');
    this.#held.add(connection);
    void connection.left.then(() => {
      this.#held.delete(connection);
      this.#grow();
    });
  }

  /** Drops an idle connection, and says why when it was lost. */
  #discard(idle: PostgresConnection): void {
    this.drop(idle);
    if (idle.lost !== undefined) this.#logEvent({ event: 'connection-lost', reason: idle.lost.message });
  }

  #sweep(): void {
    const longAgo = performance.now() - this.#limits.idleMs;
    for (const idle of this.#idle) {
      if (idle.readyAt < longAgo || !this.#isUsable(idle)) this.#discard(idle);
    }
  }
}
