import { type NetConnectOpts, Socket } from 'node:net';
import { Client, DatabaseError, type QueryConfig, type QueryResultRow } from 'pg';
import type { Address, Host } from './address.ts';
import { cancel, type Key } from './cancel.ts';
import {
  CommitNotReplicated,
  ConnectionLost,
  isIdleTimeout,
  isProtocolViolation,
  messageOf,
} from './error.ts';

/** Milliseconds between two looks of the server, while it works on a statement, whether its client is still there. */
const CLIENT_CHECK_INTERVAL_MS = 2_000;

/** Milliseconds without traffic after which the kernel asks whether the other side still lives. */
const KEEP_ALIVE_DELAY_MS = 10_000;

/** Milliseconds for a server to let go of a connection before it is asked to cancel what it does, again and again. */
const FAREWELL_MS = 1_000;

/** The function of the server that warns of a wait that was cancelled. Its name is in no language. */
const REPLICATION_WAIT = 'SyncRepWaitForLSN';

const LOOK = `SELECT pg_backend_pid() AS pid, quote_ident(current_user) AS role, pg_is_in_recovery() AS standby,
  current_setting('transaction_read_only') = 'on' AS "readOnly", current_setting('client_min_messages') AS messages,
  current_setting('idle_session_timeout') = '0' AS "staysIdle",
  current_setting('transaction_timeout', true) IS NOT NULL AS "endsTransactions",
  (extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::int AS statement,
  (extract(epoch FROM current_setting('client_connection_check_interval')::interval) * 1000)::int AS check`;

interface Look {
  readonly pid: number;
  readonly role: string;
  readonly standby: boolean;
  readonly readOnly: boolean;
  readonly messages: string;
  readonly staysIdle: boolean;
  readonly endsTransactions: boolean;
  readonly statement: number;
  readonly check: number;
}

/** Why a server, or what stands before it, will not do. */
export class ServerUnfit extends Error {
  override readonly name = 'ServerUnfit';
  /** It may take writes later: it is a standby, or read-only for now. */
  readonly readOnly: boolean;
  constructor(message: string, readOnly: boolean) {
    super(message);
    this.readOnly = readOnly;
  }
}

/** How a connection is to be. */
export interface Wanted {
  /** Milliseconds after which the server gives up a statement. */
  readonly statementMs: number;
  /** Whether the server must keep that limit for every statement, a pooler between or not. */
  readonly strict: boolean;
  /** Milliseconds to connect, log in and look. */
  readonly withinMs: number;
}

/** Called before a connection is opened: false when it must not be. */
export type Hold = (connection: Connection) => boolean;

/**
 * Opens one connection, and looks whether its server takes writes and keeps the settings.
 *
 * @param bare Without settings in the startup packet, which a pooler may refuse.
 * @throws {ServerUnfit} when it does not; what the driver says when there is no connection.
 */
export async function openConnection(
  address: Address,
  host: Host,
  wanted: Wanted,
  hold: Hold,
  bare: boolean,
): Promise<Connection> {
  const { config } = address;
  const client = new Client({
    ...config,
    ...host,
    options: `${config.options ?? ''}${bare ? '' : settingsOf(wanted)}`.trim(),
    connectionTimeoutMillis: wanted.withinMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
  });
  const connection = new Connection(client, host, config);
  if (!hold(connection)) throw new Error('it has not let go of earlier connections');
  try {
    await client.connect();
    await connection.look(wanted);
    return connection;
  } catch (error) {
    const left = connection.leave();
    if (bare || !isPoolerRefusal(error)) throw error;
    await left;
    return openConnection(address, host, wanted, hold, true);
  }
}

/** See https://www.pgbouncer.org/config.html#ignore_startup_parameters. */
function isPoolerRefusal(error: unknown): boolean {
  return isProtocolViolation(error) && messageOf(error).includes('startup parameter');
}

function settingsOf({ statementMs }: Wanted): string {
  const check = `client_connection_check_interval=${CLIENT_CHECK_INTERVAL_MS}`;
  return ` -c statement_timeout=${statementMs} -c ${check} -c idle_session_timeout=0 -c client_min_messages=warning`;
}

interface Wait {
  readonly withinMs: number;
  readonly parts?: boolean;
}

type Settled<Row> = (error: unknown, rows: readonly Row[]) => void;

/** A connection to one server. It works on one statement at a time. */
export class Connection {
  readonly host: Host;
  /** Something between answers for several servers' processes: what is made for a session may be lost. */
  pooled = false;
  /** The server knows `transaction_timeout`, as PostgreSQL does since 17. */
  #endsTransactions = false;
  /** The server keeps a statement with a name, and its plan. */
  prepares = false;
  readonly openedAt = performance.now();
  /** When the server said last that it is ready for a statement. */
  readyAt = this.openedAt;
  readonly #client: Client;
  readonly #config: Address['config'];
  #key: Key | undefined;
  /** Where the connection itself leads: a name may lead elsewhere by now. */
  #target: NetConnectOpts | undefined;
  /** A statement was sent, and the server has not said that it is ready for another. */
  #working = false;
  /** Hears what follows a refusal: that the server is ready for another statement, or the end. */
  #refused: ((ready: boolean) => void) | undefined;
  #replicated = true;
  #lost: Error | undefined;
  #leaving: Promise<void> | undefined;
  readonly #left = Promise.withResolvers<void>();
  #ended = false;
  #given = false;
  #changed = (): void => {};
  /** Resolves when there is no connection any more. */
  readonly closed: Promise<void>;
  /** Resolves after `leave`, when the server has let go of the connection, or cannot be reached. */
  readonly left = this.#left.promise;

  constructor(client: Client, host: Host, config: Address['config']) {
    this.#client = client;
    this.host = host;
    this.#config = config;
    const { connection } = client;
    connection.once('connect', () => {
      const { stream } = connection;
      if (host.host.startsWith('/')) this.#target = { path: `${host.host}/.s.PGSQL.${host.port}` };
      else if (stream instanceof Socket && stream.remoteAddress !== undefined) {
        this.#target = { host: stream.remoteAddress, port: host.port };
      }
    });
    connection.once('backendKeyData', (key: Key) => {
      this.#key = key;
    });
    // Before the driver's own listener, which may send the next statement at once.
    connection.prependListener('readyForQuery', () => {
      this.readyAt = performance.now();
      this.#rest(true);
    });
    client.on('notice', ({ routine }) => {
      if (routine === REPLICATION_WAIT) this.#replicated = false;
    });
    // Without a listener, a connection that is lost between two statements would end the process.
    client.on('error', (error) => {
      this.#lost ??= error;
    });
    this.closed = new Promise((resolve) => {
      connection.once('end', () => {
        this.#ended = true;
        if (this.#refused === undefined) this.#changed();
        else this.#rest(false);
        resolve();
      });
    });
  }

  /** Why it can be used no more, or undefined. */
  get lost(): Error | undefined {
    return this.#lost;
  }

  /** Whether a transaction is open. */
  get inTransaction(): boolean {
    return this.#client.getTransactionStatus() !== 'I';
  }

  /**
   * Sends a statement. An error other than the server's refusal means that nobody knows what the server does: the
   * connection is of no more use than to `leave`.
   *
   * @param withinMs Until the answer is there; with `parts`, until the next part of it is.
   */
  ask<Row extends QueryResultRow>(
    query: QueryConfig,
    { withinMs, parts = false }: Wait,
    onSettled: Settled<Row>,
  ): void {
    const { stream } = this.#client.connection;
    let heard = false;
    const settle = (error: unknown, rows: readonly Row[] = []): void => {
      if (heard) return;
      heard = true;
      clearTimeout(timer);
      if (parts) stream.off('data', refresh);
      onSettled(error, rows);
    };
    const lose = (why: string, cause?: unknown): void => {
      this.#lost ??= new ConnectionLost(why, { cause });
      settle(this.#lost);
    };
    const timer = setTimeout(() => lose(`no answer in ${withinMs} ms`), withinMs);
    const refresh = (): void => {
      timer.refresh();
    };
    if (parts) stream.on('data', refresh);
    this.#working = true;
    this.#replicated = true;
    this.#client.query<Row>(this.prepares ? query : { ...query, name: undefined }, (error, result) => {
      // An ERROR leaves a connection that is ready again, and a FATAL none: its name is in the server's language.
      if (error instanceof DatabaseError) {
        this.#refused = (ready) =>
          ready || isIdleTimeout(error) ? settle(error) : lose(error.message, error);
      } else if (error) lose(error.message, error);
      // For several statements in one text, the driver gives a list of results.
      else settle(this.#replicated ? undefined : new CommitNotReplicated(), result.rows ?? []);
    });
  }

  /**
   * The statements that begin a transaction with limits of its own, whatever those of the role are; behind a pooler too.
   * None of them takes the transaction's snapshot.
   *
   * @param statementMs For each statement, its wait for a lock included, and between two.
   */
  beginOf(statementMs: number, mode: string): string {
    return [
      `BEGIN ${mode}`,
      `SET LOCAL statement_timeout = ${statementMs}`,
      `SET LOCAL idle_in_transaction_session_timeout = ${statementMs}`,
      'SET LOCAL lock_timeout = 0',
      // To an older server it is an error. Only 0 changes a limit that runs already.
      ...(this.#endsTransactions ? ['SET LOCAL transaction_timeout = 0'] : []),
    ].join('; ');
  }

  /** As `ask`, for what is not asked often. */
  run<Row extends QueryResultRow>(query: QueryConfig, wait: Wait): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      this.ask<Row>(query, wait, (error, rows) => (error ? reject(error) : resolve(rows)));
    });
  }

  /**
   * Looks whether the server takes writes, and whether the settings of the session hold.
   *
   * @throws {ServerUnfit} when not.
   */
  async look({ statementMs, strict, withinMs }: Wanted): Promise<void> {
    const [look] = await this.run<Look>({ text: LOOK }, { withinMs });
    if (look === undefined) throw new Error('The server said nothing of itself');
    this.#endsTransactions = look.endsTransactions;
    this.pooled = look.pid !== this.#key?.processID;
    if (look.standby) throw new ServerUnfit('it is a standby, which takes no writes', true);
    if (look.readOnly) throw new ServerUnfit('it is read-only', true);
    const missing = [
      ...(isWithin(look.statement, statementMs) ? [] : [`statement_timeout = '${statementMs}ms'`]),
      ...(isWithin(look.check, CLIENT_CHECK_INTERVAL_MS)
        ? []
        : [`client_connection_check_interval = '${CLIENT_CHECK_INTERVAL_MS}ms'`]),
      ...(look.staysIdle ? [] : ['idle_session_timeout = 0']),
      ...(look.messages === 'error' ? ['client_min_messages = warning'] : []),
    ];
    if (!strict || missing.length === 0) return;
    const alter = missing.map((setting) => `ALTER ROLE ${look.role} SET ${setting}`).join('; ');
    throw new ServerUnfit(
      `settings cannot be made through the pooler, so its role must bring them: ${alter}`,
      false,
    );
  }

  /**
   * Ends the connection: politely, or with a request to cancel what the server works on. A server that is slow to let
   * go is asked again and again. Resolves as `left` does.
   */
  leave(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  async #leave(): Promise<void> {
    const isOver = () => this.#given || (this.#ended && !this.#working);
    for (let farewell = false; !isOver(); ) {
      if (this.#working || farewell) {
        const outcome = await this.#cancel();
        if (outcome === 'unreachable' || (this.#ended && outcome === 'delivered')) break;
      }
      if (!this.#working && !farewell) {
        farewell = true;
        void this.#client.end();
      }
      if (!isOver()) await this.#change();
    }
    this.destroy();
    this.#left.resolve();
  }

  /** Ends the connection on this side, whatever the server does. */
  destroy(): void {
    this.#given = true;
    this.#client.connection.stream.destroy();
    this.#changed();
  }

  /** Resolves when something has happened, and after a while. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, FAREWELL_MS).unref();
      this.#changed = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** The server works on nothing any more. */
  #rest(ready: boolean): void {
    this.#working = false;
    const refused = this.#refused;
    this.#refused = undefined;
    refused?.(ready);
    this.#changed();
  }

  async #cancel(): Promise<Awaited<ReturnType<typeof cancel>>> {
    if (this.#target === undefined || this.#key === undefined) return 'unreachable';
    const { ssl, sslnegotiation } = this.#config;
    const { host } = this.host;
    return cancel({ ...this.#key, target: this.#target, host, tls: ssl, negotiation: sslnegotiation });
  }
}

function isWithin(value: number, limit: number): boolean {
  return value > 0 && value <= limit;
}
