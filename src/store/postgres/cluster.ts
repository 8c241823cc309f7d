import { DatabaseError } from 'pg';
import { type Address, type Host, nameOf } from './address.ts';
import { type Connection, type Hold, openConnection, ServerUnfit, type Wanted } from './connection.ts';
import { messageOf } from './error.ts';

/** Milliseconds that a server has before the next of a list is tried as well. */
const NEXT_HOST_MS = 250;

/** It is starting or stopping, or has no connection left. */
const LATER = ['57P03', '53300'];

/** The servers that a connection string names, of which one at a time takes writes. */
export class Cluster {
  readonly address: Address;
  readonly #prepare: boolean;
  /** Tried first: the last one that would do. */
  #first: Host | undefined;
  #pooled = false;
  #retiredAt = 0;

  /** @param prepare False: no statement is prepared by name. */
  constructor(address: Address, prepare = true) {
    this.address = address;
    this.#prepare = prepare;
  }

  /** Every connection that is open now serves no longer: its server may have lost its role. */
  retire(): void {
    this.#retiredAt = performance.now();
  }

  isRetired(connection: Connection): boolean {
    return connection.openedAt <= this.#retiredAt;
  }

  /**
   * A connection to a server that takes writes. A server that does not answer soon does not keep the others waiting.
   *
   * @throws {NoServer} when none will do.
   */
  open(wanted: Wanted, hold: Hold): Promise<Connection> {
    const first = this.#first;
    const hosts = this.address.hosts.toSorted((a, b) => Number(b === first) - Number(a === first));
    const failures: Failure[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    let trying = 0;
    let found = false;
    const next = (): void => {
      const host = hosts.shift();
      if (host === undefined || found) {
        if (trying === 0 && !found) reject(new NoServer(failures));
        return;
      }
      trying += 1;
      const timer = setTimeout(next, NEXT_HOST_MS);
      openConnection(this.address, host, wanted, hold, this.#pooled).then(
        (connection) => {
          clearTimeout(timer);
          trying -= 1;
          if (found) return void connection.leave();
          found = true;
          this.#first = host;
          this.#pooled = connection.pooled;
          connection.prepares = this.#prepare && !connection.pooled;
          resolve(connection);
        },
        (error: unknown) => {
          clearTimeout(timer);
          trying -= 1;
          this.#pooled = false;
          failures.push({ host, error });
          next();
        },
      );
    };
    next();
    return promise;
  }
}

interface Failure {
  readonly host: Host;
  readonly error: unknown;
}

/** No server of a cluster will do. The message says why, of each by its name where there are several. */
export class NoServer extends Error {
  override readonly name = 'NoServer';
  readonly #failures: readonly Failure[];

  constructor(failures: readonly Failure[]) {
    const of = (host: Host): string => (failures.length === 1 ? '' : `${nameOf(host)}: `);
    super(failures.map(({ host, error }) => `${of(host)}${messageOf(error)}`).join('; '));
    this.#failures = failures;
  }

  /** A server was there, and takes no writes for now. */
  get readOnly(): boolean {
    return this.#failures.some(({ error }) => error instanceof ServerUnfit && error.readOnly);
  }

  /** Waiting does not help: each server has refused for good. */
  get final(): boolean {
    return this.#failures.every(({ error }) =>
      error instanceof DatabaseError
        ? !LATER.includes(error.code ?? '')
        : error instanceof ServerUnfit && !error.readOnly,
    );
  }
}
